"""Requests pages from a WSGI or ASGI application in this process; runs the lifespan of ASGI."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol
from wsgiref.util import setup_testing_defaults

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.testing.chaos.embed_access import ENVIRON_NAME, SCOPE_NAME

Message = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class PageResponse:
    """The response to a request for a page."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    seconds: float
    """How long the application took to the last byte."""

    @property
    def text(self) -> str:
        """The body, decoded as UTF-8."""
        return self.body.decode("utf-8", "replace")


class Client(Protocol):
    """Requests pages from one application."""

    embed: FAQEmbed | None
    """The embed behind the application's last page; None if the adapter does not expose it."""

    def get(self, path: str) -> PageResponse:
        """Request a page, and read all of it."""


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
        self.embed: FAQEmbed | None = getattr(app, "extensions", {}).get(SCOPE_NAME)

    def get(self, path: str) -> PageResponse:
        """Request a page, and read all of it."""
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {"PATH_INFO": path, "QUERY_STRING": query, "REMOTE_ADDR": "127.0.0.1"}
        setup_testing_defaults(environ)
        started: list[tuple[str, list[tuple[str, str]]]] = []
        written: list[bytes] = []

        def start_response(
            status: str, headers: list[tuple[str, str]], exc_info: object = None
        ) -> Callable[[bytes], None]:
            started.append((status, headers))
            return written.append

        start = time.perf_counter()
        parts = self._app(environ, start_response)
        try:
            written.extend(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        seconds = time.perf_counter() - start
        self.embed = environ.get(ENVIRON_NAME, self.embed)
        status, headers = started[-1]
        return PageResponse(int(status.split()[0]), tuple(headers), b"".join(written), seconds)


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

    def get(self, path: str) -> PageResponse:
        """Request a page, and read all of it.

        Raises:
            AssertionError: the application left a task running.
        """
        return self._runner.run(self._get(path))

    async def _get(self, path: str) -> PageResponse:
        scope = self._scope(path)
        sent: list[Message] = []
        is_received = asyncio.Event()

        async def receive() -> Message:
            if is_received.is_set():
                await asyncio.Event().wait()  # the client stays connected until the end
            is_received.set()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        tasks = asyncio.all_tasks()
        start = time.perf_counter()
        await self._app(scope, receive, send)
        seconds = time.perf_counter() - start
        running = [task for task in asyncio.all_tasks() - tasks if not task.done()]
        if running:
            raise AssertionError(f"the application left tasks running: {running}")
        self.embed = scope.get(SCOPE_NAME, self.embed)
        head = next(message for message in sent if message["type"] == "http.response.start")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head["headers"])
        body = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
        return PageResponse(head["status"], headers, body, seconds)

    def _scope(self, path: str) -> dict[str, Any]:
        path, _, query = path.partition("?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": self._state.copy(),
        }

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
