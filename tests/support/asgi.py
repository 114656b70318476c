"""Asks ASGI applications in process, and keeps every message with the moment at which it came."""

import asyncio
import time
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Answer:
    """What an application sent."""

    messages: list[Message] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    scope: MutableMapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> Message:
        (start,) = (m for m in self.messages if m["type"] == "http.response.start")
        return start

    @property
    def status(self) -> int:
        status: int = self.start["status"]
        return status

    @property
    def headers(self) -> list[tuple[str, str]]:
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.start["headers"]]

    def all(self, name: str) -> list[str]:
        """The values of a header, in order."""
        return [value for field, value in self.headers if field == name]

    @property
    def chunks(self) -> list[bytes]:
        return [m.get("body", b"") for m in self.messages if m["type"] == "http.response.body"]

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def text(self) -> str:
        return self.body.decode()


async def ask(
    app: ASGIApp,
    path: str = "/",
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
    on_send: Callable[[Message], None] = lambda message: None,
    **scope: Any,
) -> Answer:
    """Send one request and return the answer; `scope` adds to the scope, `on_send` sees each message."""
    path, _, query = path.partition("?")
    asked: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (b"host", b"host.test"),
            *((name.lower().encode(), value.encode("latin-1")) for name, value in headers),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("host.test", 80),
        "state": {},
        **scope,
    }
    answer = Answer(scope=asked)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        on_send(message)
        answer.messages.append(message)
        answer.times.append(time.perf_counter())

    await app(asked, receive, send)
    return answer


def get(app: ASGIApp, path: str = "/", **options: Any) -> Answer:
    """Do what `ask` does in an event loop of its own."""
    return asyncio.run(ask(app, path, **options))
