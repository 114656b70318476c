"""The pytest plugin: `pytest_plugins = ["faqsvc_embed.testing.plugin"]` in a `conftest.py` registers it."""

from collections.abc import Iterator

import pytest

from faqsvc_embed.testing.chaos import Chaos
from faqsvc_embed.testing.faults import FAULTS
from faqsvc_embed.testing.server import FaultyServer


@pytest.fixture(params=FAULTS, ids=str)
def faq_chaos(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chaos]:
    """Each fault of the FAQ service in turn: `faq_chaos.check(app, "/")` holds a page to the promise."""
    with Chaos(request.param) as chaos:
        for name, value in chaos.settings.items():
            monkeypatch.setenv(f"FAQSVC_{name.upper()}", str(value))
        yield chaos


@pytest.fixture
def faq_service() -> Iterator[FaultyServer]:
    """A FAQ service that answers well for every slug until `behave` tells it otherwise."""
    with FaultyServer(answers_all=True) as service:
        yield service
