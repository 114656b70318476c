"""Clients of a faulty server."""

from collections.abc import Iterator
from typing import Any

import pytest

from faqsvc_embed import FAQClient
from tests.api.support import SECRET, Clients
from tests.support.embeds import own_threads
from tests.support.faulty import FaultyServer
from tests.support.waiting import wait_until


@pytest.fixture
def clients(faulty: FaultyServer) -> Iterator[Clients]:
    """Make clients of the faulty server, and close them at the end."""
    made = list[FAQClient]()

    def make(api_key: str | None = SECRET, **settings: Any) -> FAQClient:
        client = FAQClient(faulty.base_url, api_key, **settings)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
    wait_until(lambda: not own_threads())
