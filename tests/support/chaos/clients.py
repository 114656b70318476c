"""Requests pages from a WSGI or ASGI application in this process; runs the lifespan of ASGI."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

import httpx2

from faqsvc_embed.embed import FAQEmbed
from tests.support.chaos.embed_access import ENVIRON_NAME, SCOPE_NAME

Message = MutableMapping[str, Any]

_BASE_URL: Final = "http://127.0.0.1"


class Client(Protocol):
    """Requests pages from one application."""

    embed: FAQEmbed | None
    """The embed behind the application's last page; None if the adapter does not expose it."""

    def get(self, path: str) -> httpx2.Response:
        """Request a page, and read all of it; `elapsed` of the response is the time that it took."""


@contextmanager
def open_client(app: Any) -> Iterator[Client]:
    """Start an application, and return a client for it."""
    call = app if inspect.isfunction(app) else getattr(app, "__call__", app)  # noqa: B004
    if inspect.iscoroutinefunction(call):
        with asyncio.Runner() as runner:
            client = ASGIClient(app, runner)
            client.start()
            try:
                yield client
            finally:
                client.stop()
    else:
        yield WSGIClient(app)


class WSGIClient:
    """A client for a WSGI application (PEP 3333)."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app
        self._environ: dict[str, Any] = {}
        self.embed: FAQEmbed | None = getattr(app, "extensions", {}).get(SCOPE_NAME)

    def get(self, path: str) -> httpx2.Response:
        """Request a page, and read all of it."""
        with httpx2.Client(transport=httpx2.WSGITransport(self._call), base_url=_BASE_URL) as client:
            response = client.get(path)
        self.embed = self._environ.get(ENVIRON_NAME, self.embed)
        return response

    def _call(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self._environ = environ
        return self._app(environ, start_response)


class ASGIClient:
    """A client for an ASGI 3 application, on an event loop that runs only during a request."""

    def __init__(self, app: Callable[..., Any], runner: asyncio.Runner) -> None:
        self._app = app
        self._runner = runner
        self._state: dict[str, Any] = {}
        self._lifespan: asyncio.Task[None] | None = None
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        self.embed: FAQEmbed | None = None

    def get(self, path: str) -> httpx2.Response:
        """Request a page, and read all of it.

        Raises:
            AssertionError: the application left a task running.
        """
        return self._runner.run(self._get(path))

    async def _get(self, path: str) -> httpx2.Response:
        tasks = asyncio.all_tasks()
        transport = httpx2.ASGITransport(self._call)
        async with httpx2.AsyncClient(transport=transport, base_url=_BASE_URL) as client:
            response = await client.get(path)
        if running := [task for task in asyncio.all_tasks() - tasks if not task.done()]:
            raise AssertionError(f"the application left tasks running: {running}")
        return response

    async def _call(self, scope: Message, receive: Any, send: Any) -> None:
        scope["state"] = self._state.copy()
        await self._app(scope, receive, send)
        self.embed = scope.get(SCOPE_NAME, self.embed)

    def start(self) -> None:
        """Run the application's startup, if it has one."""
        self._runner.run(self._start())

    async def _start(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self._state}

        async def run() -> None:
            # An application without a lifespan raises; a failed one sends a message.
            with suppress(Exception):
                await self._app(scope, self._to_app.get, self._from_app.put)

        self._lifespan = asyncio.create_task(run())
        await self._lifespan_event("lifespan.startup")

    def stop(self) -> None:
        """Run the application's shutdown, if it has one."""
        self._runner.run(self._lifespan_event("lifespan.shutdown"))

    async def _lifespan_event(self, event: str) -> None:
        if self._lifespan is None or self._lifespan.done():
            return
        await self._to_app.put({"type": event})
        reply = asyncio.create_task(self._from_app.get())
        await asyncio.wait([reply, self._lifespan], return_when=asyncio.FIRST_COMPLETED)
        if reply.done() and reply.result()["type"] == f"{event}.failed":
            raise AssertionError(f"{event} failed: {reply.result().get('message', '')}")
        reply.cancel()
