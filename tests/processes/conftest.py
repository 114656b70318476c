"""A real Valkey for fleets of processes."""

import pytest

from tests.cache.conftest import valkey

__all__ = ["valkey"]


@pytest.fixture(autouse=True)
def _without_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the change feed out: these tests count requests."""
    monkeypatch.setenv("FAQSVC_PUSH", "false")
