"""Rate limits by key and by address, and quotas of a site, in one process and over all."""

from datetime import timedelta

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import requests
from faqsvc_embed.service.http.requests import RateLimiter, client_network
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, key_of_another_site, publication, publish
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.clock import Clock

PRICING = f"{PATH}/pricing"


def burst(limiter: RateLimiter, client: str = "me") -> int:
    """Return how many requests are allowed at this moment."""
    count = 0
    while limiter.hit(client) == 0:
        count += 1
    return count


@pytest.mark.parametrize("per_minute", [1, 7, 601])
def test_the_requests_of_a_minute_may_come_in_one_burst(per_minute: int, clock: Clock) -> None:
    assert burst(RateLimiter(per_minute, clock=clock.now)) == per_minute


def test_the_allowance_is_refilled_evenly(clock: Clock) -> None:
    limiter = RateLimiter(60, clock=clock.now)
    burst(limiter)
    clock.advance(10)

    assert burst(limiter) == 10
    clock.advance(3600)
    assert burst(limiter) == 60


def test_a_refused_request_gets_the_time_to_wait_and_costs_nothing(clock: Clock) -> None:
    limiter = RateLimiter(6, clock=clock.now)
    burst(limiter)
    clock.advance(4)

    assert [limiter.hit("me"), limiter.hit("me")] == pytest.approx([6, 6])
    clock.advance(6)
    assert limiter.hit("me") == 0


def test_the_number_of_remembered_clients_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_CLIENTS", 100)
    limiter = RateLimiter(2, clock=clock.now)
    burst(limiter, "another")
    for number in range(1000):
        limiter.hit(str(number))
        limiter.hit("me")

    assert limiter.hit("another") == 0
    assert limiter.hit("me") > 0  # an active client is not forgotten


@pytest.mark.parametrize("limit", [0, 1.5, "60", True])
def test_an_invalid_limit_is_a_configuration_error(storage: Storage, limit: object) -> None:
    with pytest.raises(ConfigurationError, match="writes_per_minute"):
        create_app(storage, writes_per_minute=limit)  # type: ignore[arg-type]


def test_limits_can_be_switched_off(storage: Storage, key: str) -> None:
    with TestClient(create_app(storage, writes_per_minute=None, reads_per_minute=None)) as client:
        for _ in range(2):
            assert client.get(PRICING).status_code == 404
            assert publish(client, key, publication()).status_code == 201


def test_sixty_writes_a_minute_are_allowed_by_default(client: TestClient, key: str) -> None:
    assert {publish(client, key, publication()).status_code for _ in range(60)} == {201}


def test_reads_are_limited_by_address(storage: Storage) -> None:
    app = create_app(storage, reads_per_minute=2)
    with TestClient(app, client=("192.0.2.1", 1)) as client:
        statuses = [client.get(PRICING).status_code for _ in range(2)]
        refused = client.get(PRICING)
    with TestClient(app, client=("192.0.2.2", 1)) as client:
        other = client.get(PRICING)

    assert (statuses, other.status_code) == ([404, 404], 404)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert refused.headers["access-control-allow-origin"] == "*"
    assert refused.headers["cache-control"] == "no-store"


def test_cached_responses_do_not_count_against_the_limit(storage: Storage) -> None:
    put(storage, FAQ.from_dict(samples.pricing()))
    with TestClient(create_app(storage, reads_per_minute=1)) as client:
        cached = {client.get(PRICING).status_code for _ in range(5)}
        uncached = client.get(f"{PATH}/other").status_code

    assert (cached, uncached) == ({200}, 429)


def test_requests_are_counted_before_their_keys_are_looked_up(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(storage.keys, "verify", looked_up.append)
    with TestClient(create_app(storage, reads_per_minute=3)) as client:
        statuses = [
            client.post(PATH, headers={"X-Plugin-Key": f"fs_live_{n}"}, json={}).status_code for n in range(5)
        ]

    assert statuses == [403, 403, 403, 429, 429]
    assert len(looked_up) == 3


def test_health_checks_are_not_limited(storage: Storage) -> None:
    with TestClient(create_app(storage, reads_per_minute=2)) as client:
        for _ in range(3):
            client.get(PRICING)

        assert [client.get("/readyz").status_code for _ in range(3)] == [200, 200, 200]


def test_a_preflight_is_never_limited(storage: Storage) -> None:
    with TestClient(create_app(storage, reads_per_minute=1)) as client:
        assert {client.options(PRICING).status_code for _ in range(3)} == {204}
        assert [client.get(PRICING).status_code for _ in range(2)] == [404, 429]


@pytest.mark.parametrize(
    ("first", "second", "are_one_client"),
    [
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),  # a proxy that listens on [::] as well
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2", False),  # behind NAT64
        ("64:ff9b::192.0.2.1", "192.0.2.1", True),
        ("x" * 60_000, "not an address either", True),  # from a proxy that is trusted too much
    ],
)
def test_a_client_is_an_ipv4_address_or_an_ipv6_network(
    first: str, second: str, are_one_client: bool
) -> None:
    networks = [client_network(Request({"type": "http", "client": (host, 1)})) for host in (first, second)]

    assert (networks[0] == networks[1]) is are_one_client


def test_a_client_without_a_host_came_over_a_unix_socket() -> None:
    assert client_network(Request({"type": "http", "client": ("", 0)})) is None


def test_writes_are_counted_over_all_processes(storage: Storage, key: str) -> None:
    other_key = key_of_another_site(storage)
    apps = [create_app(storage, writes_per_minute=2) for _ in range(2)]
    with TestClient(apps[0]) as one, TestClient(apps[1]) as two:
        allowed = [publish(client, key, publication()).status_code for client in (one, two)]
        refused = [publish(client, key, publication()) for client in (one, two)]
        other = publish(two, other_key, publication())

    assert (allowed, other.status_code) == ([201, 201], 201)
    for response in refused:
        assert is_problem(response, 429)
        assert 1 <= int(response.headers["retry-after"]) <= 60


def test_what_changes_nothing_counts_as_no_write(storage: Storage, key: str) -> None:
    with TestClient(create_app(storage, writes_per_minute=1)) as client:
        headers = {"X-Plugin-Key": key}
        statuses = [
            client.put(f"{PATH}/tea", json=publication(), headers=headers).status_code for _ in range(3)
        ]

    assert statuses == [201, 200, 200]


def test_a_clock_that_was_ahead_stops_no_later_write(storage: Storage, key: str, clock: Clock) -> None:
    with TestClient(create_app(storage, writes_per_minute=1)) as client:
        now = clock.wall()
        clock.set_wall(now + timedelta(hours=1))
        first = publish(client, key, publication()).status_code
        clock.set_wall(now)
        second = publish(client, key, publication()).status_code

    assert (first, second) == (201, 201)
