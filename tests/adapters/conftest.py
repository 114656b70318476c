"""Embeds without the change feed."""

import pytest


@pytest.fixture(autouse=True)
def _without_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the change feed out: these tests count requests, and its own arrives at any time."""
    monkeypatch.setenv("FAQSVC_PUSH", "false")
