"""Sends requests to ASGI applications in process, and keeps every message of the response."""

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Sent:
    """What an application sent in response to a request."""

    messages: list[Message] = field(default_factory=list)
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
        headers = self.start.get("headers", ())
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]

    def all(self, name: str) -> list[str]:
        """Return the values of a header, in order."""
        return [value for field, value in self.headers if field.lower() == name]

    @property
    def chunks(self) -> list[bytes]:
        return [m.get("body", b"") for m in self.messages if m["type"] == "http.response.body"]

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def text(self) -> str:
        return self.body.decode()


async def aget(
    app: ASGIApp,
    path: str = "/",
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
    on_send: Callable[[Message], None] = lambda message: None,
    **scope: Any,
) -> Sent:
    """Send one request and return the response; `scope` adds to the scope, `on_send` sees each message."""
    path, _, query = path.partition("?")
    connection: dict[str, Any] = {
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
    sent = Sent(scope=connection)

    is_received, is_sent = asyncio.Event(), asyncio.Event()

    async def receive() -> Message:
        if is_received.is_set():
            await is_sent.wait()  # the client stays connected until the end
            return {"type": "http.disconnect"}
        is_received.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        on_send(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            is_sent.set()
        sent.messages.append(message)

    await app(connection, receive, send)
    return sent


def get(app: ASGIApp, path: str = "/", **options: Any) -> Sent:
    """Do what `aget` does in an event loop of its own."""
    return asyncio.run(aget(app, path, **options))
