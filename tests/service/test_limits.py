"""How often somebody may ask, and what they are told who ask more often."""

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import limits
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.limits import RateLimit
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import is_problem, publication, publish
from tests.support.clock import Clock

PRICING = "/api/v1/faq/pricing"


def limit_of(per_minute: int, clock: Clock) -> RateLimit:
    return RateLimit(per_minute, what="tries", clock=clock.now)


def how_many(limit: RateLimit, who: str = "me") -> int:
    """Return how many requests are let through at this moment."""
    count = 0
    while limit.wait(who) == 0 and count < 1_000_000:
        count += 1
    return count


@pytest.mark.parametrize("per_minute", [1, 7, 60, 601])
def test_a_minutes_worth_may_come_at_once_and_no_more(per_minute: int, clock: Clock) -> None:
    assert how_many(limit_of(per_minute, clock)) == per_minute


def test_what_was_spent_comes_back_evenly(clock: Clock) -> None:
    limit = limit_of(60, clock)
    how_many(limit)
    clock.advance(10)

    assert how_many(limit) == 10
    clock.advance(3600)
    assert how_many(limit) == 60


def test_who_is_early_is_told_how_long_to_wait_and_loses_nothing(clock: Clock) -> None:
    limit = limit_of(6, clock)
    how_many(limit)
    clock.advance(4)

    assert [limit.wait("me"), limit.wait("me")] == pytest.approx([6, 6])
    clock.advance(6)
    assert limit.wait("me") == 0


def test_nobody_spends_what_belongs_to_another(clock: Clock) -> None:
    limit = limit_of(3, clock)
    how_many(limit, "another")

    assert how_many(limit) == 3


def test_a_million_who_ask_leave_the_memory_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KNOWN", 1000)
    limit = limit_of(2, clock)
    for number in range(100_000):
        limit.wait(str(number))
        limit.wait("me")

    assert len(limit) == 1000
    assert limit.wait("me") > 0  # who keeps asking is not forgotten


@pytest.mark.parametrize("per_minute", [0, -1, 1.5, "60", True])
def test_a_limit_that_is_none_is_named(storage: Storage, per_minute: object) -> None:
    with pytest.raises(ConfigurationError, match=r"per minute is .*: a whole number from 1 is accepted"):
        create_app(storage, writes_per_minute=per_minute)  # type: ignore[arg-type]


def test_a_key_that_writes_too_often_is_told_when_to_come_back(
    storage: Storage, key: str, clock: Clock
) -> None:  # V3
    with TestClient(create_app(storage, writes_per_minute=2, clock=clock.now)) as client:
        statuses = [publish(client, key, publication()).status_code for _ in range(2)]
        refused = publish(client, key, publication())
        others = publish(client, storage.keys.create(), publication())
        clock.advance(int(refused.headers["retry-after"]))
        later = publish(client, key, publication())

    assert statuses == [201, 201]
    assert is_problem(refused, 429)
    assert refused.headers["retry-after"] == "30"
    assert refused.json()["detail"] == "more than 2 writes of this key in a minute: try again in 30 s"
    assert (others.status_code, later.status_code) == (201, 201)


def test_sixty_writes_a_minute_are_always_fine(client: TestClient, key: str) -> None:
    assert {publish(client, key, publication()).status_code for _ in range(60)} == {201}


def test_a_key_that_is_none_spends_nothing(storage: Storage, key: str) -> None:
    with TestClient(create_app(storage, writes_per_minute=1)) as client:
        for _ in range(3):
            publish(client, "fs_live_wrong", publication())

        assert publish(client, key, publication()).status_code == 201


def test_an_address_that_reads_too_often_is_told_when_to_come_back(
    storage: Storage, clock: Clock
) -> None:  # V3
    app = create_app(storage, reads_per_minute=2, clock=clock.now)
    with TestClient(app, client=("192.0.2.1", 1)) as client:
        statuses = [client.get(PRICING).status_code for _ in range(2)]
        refused = client.get(PRICING)
        health = client.get("/healthz")
    with TestClient(app, client=("192.0.2.2", 1)) as client:
        others = client.get(PRICING)

    assert statuses == [404, 404]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert refused.headers["access-control-allow-origin"] == "*"
    assert refused.headers["cache-control"] == "no-store"
    assert (others.status_code, health.status_code) == (404, 200)


def test_a_preflight_does_not_count(storage: Storage) -> None:
    headers = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET"}
    with TestClient(create_app(storage, reads_per_minute=1)) as client:
        preflights = [client.options(PRICING, headers=headers) for _ in range(3)]
        reads = [client.get(PRICING).status_code for _ in range(2)]
        after = client.options(PRICING, headers=headers)

    answers = {(answer.status_code, answer.headers["access-control-allow-origin"]) for answer in preflights}
    assert answers == {(204, "*")}
    assert reads == [404, 429]
    assert (after.status_code, after.headers["access-control-allow-origin"]) == (204, "*")


def test_a_network_of_ipv6_counts_as_one_address(storage: Storage, clock: Clock) -> None:
    app = create_app(storage, reads_per_minute=1, clock=clock.now)
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "fe80::1%eth0", "not:an:address"]
    statuses = [TestClient(app, client=(address, 1)).get(PRICING).status_code for address in addresses]

    assert statuses == [404, 429, 404, 404, 404]


def test_a_limit_can_be_switched_off(storage: Storage, key: str) -> None:
    with TestClient(create_app(storage, writes_per_minute=None, reads_per_minute=None)) as client:
        assert client.get(PRICING).status_code == 404
        assert publish(client, key, publication()).status_code == 201
