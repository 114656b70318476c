"""One request to the faulty service, and what a behaviour can do with it."""

import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from faqsvc_embed.testing.server import FaultyServer

LONGEST: Final = 60.0
"""Seconds after which any wait of the faulty service ends by itself."""
PREFIX: Final = "/api/v1/faq/"


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    """When its head was complete, on the clock of `time.monotonic`."""
    connection: int
    """Which connection of the server it came by, counted from 1."""

    @property
    def slug(self) -> str:
        return unquote(urlsplit(self.target).path.removeprefix("/moved").removeprefix(PREFIX))

    @property
    def lang(self) -> str | None:
        return parse_qs(urlsplit(self.target).query).get("lang", [None])[0]


class Gone(Exception):
    """The client closed the connection, or the server is stopping."""


class Exchange:
    """One request and the connection that it came by."""

    def __init__(self, server: "FaultyServer", connection: socket.socket, request: Received) -> None:
        self.server = server
        self.request = request
        self.keep_alive = request.headers.get("connection", "").lower() != "close"
        self._connection = connection

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        try:
            self._connection.sendall(data)
        except OSError:
            raise Gone from None

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Write a status line and these headers, and nothing else."""
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Write a whole, correct reply."""
        framing = {} if status in (204, 304) else {"Content-Length": str(len(body))}
        self.head(status, {"Content-Type": "application/json", **(headers or {}), **framing})
        if self.request.method != "HEAD" and status not in (204, 304):
            self.send(body)

    def pause(self, seconds: float) -> None:
        """Wait, but not when the server stops."""
        if self.server.stopping.wait(min(seconds, LONGEST)):
            raise Gone

    def hang(self) -> None:
        """Say nothing more until the client goes or the server stops."""
        try:
            while self._connection.recv(4096):
                pass
        except OSError:
            pass
        raise Gone

    def cut(self) -> None:
        """End the connection after this exchange."""
        self.keep_alive = False

    def abort(self) -> None:
        """Break the connection off (RST)."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.cut()

    def record(self) -> dict[str, Any] | None:
        """Return the record of this server that was asked for."""
        return self.server.find(self.request.slug, self.request.lang)

    def record_body(self) -> bytes:
        """Return that record as JSON; a server without it makes up a good one."""
        return as_json(self.record() or made_up(self.request.slug))


Behaviour = Callable[[Exchange], None]


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def made_up(slug: str) -> dict[str, Any]:
    item = {"position": 0, "question": "Made up?", "answer": "By a faulty server."}
    return {
        "slug": slug,
        "title": "Made up",
        "websiteName": "",
        "lang": "en",
        "items": [item],
        "cta": None,
    }
