"""Asks a host's application for pages, in process: a WSGI application, or an ASGI one with its lifespan."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol
from wsgiref.util import setup_testing_defaults

NAME: Final = "faqsvc"
"""Under which the extension and the middleware say which embed they use."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as a visitor gets it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    seconds: float

    @property
    def html(self) -> str:
        return self.body.decode("utf-8", "replace")


class Host(Protocol):
    """An application that can be asked for a page."""

    embed: Any
    """The embed that it used for the last page, if that can be seen from outside."""

    def get(self, path: str) -> Shown: ...


@contextmanager
def opened(app: Any) -> Iterator[Host]:
    """Start an application for as long as this lasts."""
    call = app if inspect.isfunction(app) else getattr(app, "__call__", app)  # noqa: B004
    if inspect.iscoroutinefunction(call):
        with asyncio.Runner() as runner:
            host = ASGIHost(app, runner)
            host.start()
            try:
                yield host
            finally:
                host.stop()
    else:
        yield WSGIHost(app)


class WSGIHost:
    """A WSGI application."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app
        self.embed: Any = getattr(app, "extensions", {}).get(NAME)

    def get(self, path: str) -> Shown:
        """Ask for a page, and read all of it."""
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

        began = time.perf_counter()
        parts = self._app(environ, start_response)
        try:
            written.extend(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        took = time.perf_counter() - began
        status, headers = started[-1]
        return Shown(int(status.split()[0]), tuple(headers), b"".join(written), took)


class ASGIHost:
    """An ASGI application, on an event loop that runs while a page is asked for."""

    def __init__(self, app: Callable[..., Any], runner: asyncio.Runner) -> None:
        self._app = app
        self._runner = runner
        self._state: dict[str, Any] = {}
        self._lifespan: asyncio.Task[None] | None = None
        self._to_app: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self._from_app: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.embed: Any = None

    def get(self, path: str) -> Shown:
        """Ask for a page, and read all of it; what the application leaves running is an error."""
        return self._runner.run(self._get(path))

    async def _get(self, path: str) -> Shown:
        plain, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": plain,
            "raw_path": plain.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": self._state.copy(),
        }
        sent: list[MutableMapping[str, Any]] = []
        came = asyncio.Event()

        async def receive() -> MutableMapping[str, Any]:
            if came.is_set():
                await asyncio.Event().wait()  # the visitor stays until the end
            came.set()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        before = asyncio.all_tasks()
        began = time.perf_counter()
        await self._app(scope, receive, send)
        took = time.perf_counter() - began
        left = [task for task in asyncio.all_tasks() - before if not task.done()]
        if left:
            raise AssertionError(f"tasks are left running: {left}")
        self.embed = scope.get(NAME, self.embed)
        start = next(message for message in sent if message["type"] == "http.response.start")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"])
        body = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
        return Shown(start["status"], headers, body, took)

    def start(self) -> None:
        """Run the application's startup, if it has one."""
        self._runner.run(self._start())

    async def _start(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self._state}

        async def run() -> None:
            with suppress(Exception):  # it has none, or says in a message what went wrong
                await self._app(scope, self._to_app.get, self._from_app.put)

        self._lifespan = asyncio.create_task(run())
        await self._say("lifespan.startup")

    def stop(self) -> None:
        """Run the application's shutdown, if it has one."""
        self._runner.run(self._say("lifespan.shutdown"))

    async def _say(self, kind: str) -> None:
        if self._lifespan is None or self._lifespan.done():
            return
        await self._to_app.put({"type": kind})
        answer = asyncio.create_task(self._from_app.get())
        await asyncio.wait([answer, self._lifespan], return_when=asyncio.FIRST_COMPLETED)
        if answer.done() and answer.result()["type"] == f"{kind}.failed":
            raise AssertionError(f"{kind} failed: {answer.result().get('message', '')}")
        answer.cancel()
