"""Clients of a faulty server."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from faqsvc_embed import FAQClient
from tests.api.support import SECRET, Clients
from tests.support.faulty import FaultyServer


@pytest.fixture
def clients(faulty: FaultyServer) -> Iterator[Clients]:
    """Make clients of the faulty server, and close them at the end."""
    made = list[FAQClient]()
    before = set(threading.enumerate())

    def make(api_key: str | None = SECRET, **settings: Any) -> FAQClient:
        client = FAQClient(faulty.base_url, api_key, **settings)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
    assert [thread for thread in {*threading.enumerate()} - before if thread.name == "faqsvc-embed"] == []
