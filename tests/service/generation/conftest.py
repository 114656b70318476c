"""The service with its route of generation, over somebody's website on a local socket."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from faqsvc_embed.service.generation import generate_route
from faqsvc_embed.service.keyed import KeyCheck
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.support.faulty import FaultyServer

Ask = Callable[..., httpx2.Response]


@pytest.fixture
def ask(storage: Storage, key: str, faulty: FaultyServer) -> Iterator[Ask]:
    """Ask for a generation from `faulty`, or from another `websiteUrl`, of a service with an environment."""
    with ExitStack() as stack:

        def ask(environ: dict[str, str] | None = None, **fields: Any) -> httpx2.Response:
            allow = {"FAQSVC_GENERATE_ALLOW": f"127.0.0.1:{faulty.port}"}
            app = Starlette(
                routes=[generate_route(KeyCheck(storage.keys), environ={**allow, **(environ or {})})]
            )
            address = stack.enter_context(running(app))
            body = {"websiteUrl": f"http://127.0.0.1:{faulty.port}/", **fields}
            return httpx2.post(
                f"{address}/api/v1/faq/generate",
                json=body,
                headers={"X-Plugin-Key": key},
                timeout=30,
                trust_env=False,
            )

        yield ask
