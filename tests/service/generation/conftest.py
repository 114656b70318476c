"""The service with its generation route, and a website on a local socket."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.support.faulty import FaultyServer

BUSY: Final = 20.0
"""Seconds that a busy machine may need for what has a deadline of one; less than the default deadline."""

Ask = Callable[..., httpx2.Response]


@pytest.fixture
def ask(storage: Storage, key: str, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Request a generation from `faulty`, or another `websiteUrl`, of a service with this environment."""
    with ExitStack() as stack:

        def ask(environ: dict[str, str] | None = None, **fields: Any) -> httpx2.Response:
            with monkeypatch.context() as patch:
                patch.setenv("FAQSVC_GENERATE_ALLOW", f"127.0.0.1:{faulty.port}")
                for name, value in (environ or {}).items():
                    patch.setenv(name, value)
                app = create_app(storage)
            client = stack.enter_context(TestClient(app))
            body = {"websiteUrl": f"http://127.0.0.1:{faulty.port}/", **fields}
            return client.post("/api/v1/faq/generate", json=body, headers={"X-Plugin-Key": key})

        yield ask
