"""The service with its route of generation, over somebody's website on a local socket."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from faqsvc_embed.service.generate import generate_route
from faqsvc_embed.service.keyed import KeyCheck
from faqsvc_embed.service.storage import Storage
from tests.support.faulty import FaultyServer

BUSY: Final = 20.0
"""Seconds that a busy machine may need for what has a deadline of one; less than the deadline by default."""

Ask = Callable[..., httpx2.Response]


@pytest.fixture
def database() -> str:
    """One kind of database: generation stores nothing."""
    return "sqlite"


@pytest.fixture
def ask(storage: Storage, key: str, faulty: FaultyServer) -> Iterator[Ask]:
    """Ask for a generation from `faulty`, or from another `websiteUrl`, of a service with an environment."""
    with ExitStack() as stack:

        def ask(environ: dict[str, str] | None = None, **fields: Any) -> httpx2.Response:
            allow = {"FAQSVC_GENERATE_ALLOW": f"127.0.0.1:{faulty.port}"}
            app = Starlette(
                routes=[generate_route(KeyCheck(storage.keys), environ={**allow, **(environ or {})})]
            )
            client = stack.enter_context(TestClient(app))
            body = {"websiteUrl": f"http://127.0.0.1:{faulty.port}/", **fields}
            return client.post("/api/v1/faq/generate", json=body, headers={"X-Plugin-Key": key})

        yield ask
