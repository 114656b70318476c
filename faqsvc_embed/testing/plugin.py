"""The pytest plug-in: `pytest_plugins = ["faqsvc_embed.testing.plugin"]` in a `conftest.py` registers it."""

from collections.abc import Iterator

import pytest

from faqsvc_embed.testing.chaos import FAULTS, Chaos, FaultyServer


@pytest.fixture(params=FAULTS, ids=str)
def faq_chaos(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chaos]:
    """Yield one fault of the FAQ service for each test run; `faq_chaos.check(app, "/")` checks a page."""
    with Chaos(request.param) as chaos:
        for name, value in chaos.settings.items():
            monkeypatch.setenv(f"FAQSVC_{name.upper()}", str(value))
        yield chaos


@pytest.fixture
def faq_service() -> Iterator[FaultyServer]:
    """Yield an FAQ service with a sample record for every slug; `behave` makes it fail."""
    with FaultyServer(any_slug=True) as service:
        yield service
