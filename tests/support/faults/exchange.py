"""One request to the faulty service, its records, and the ways to respond."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self
from urllib.parse import parse_qs, unquote, urlsplit

MAX_WAIT: Final = 60.0
"""Seconds after which every wait of the faulty service ends."""
_ROUTE: Final = "/api/v1/faq/"
_MAX_HEAD: Final = 65_536
_MAX_BODY: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it arrived; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    """When it was complete, on the clock of `time.monotonic`."""
    connection: int
    """The number of its connection, counted from 1."""

    @classmethod
    def read(cls, connection: socket.socket, number: int) -> Self | None:
        """Read the next request of a connection; None if the client closed it."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65_536)
            if not more or len(data) > _MAX_HEAD:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = min(int(headers.get("content-length", "0")), _MAX_BODY)
        while len(body) < length:
            more = connection.recv(65_536)
            if not more:
                return None
            body += more
        return cls(method, rest.rpartition(" ")[0], headers, body, time.monotonic(), number)

    @property
    def slug(self) -> str:
        """The slug in the path."""
        return unquote(urlsplit(self.target).path.removeprefix(_ROUTE))

    @property
    def lang(self) -> str | None:
        """The language in the query."""
        return parse_qs(urlsplit(self.target).query).get("lang", [None])[0]


class Records:
    """The records of the faulty service, by slug and language, and the headers of its good responses."""

    def __init__(self, *, any_slug: bool = False) -> None:
        self._any_slug = any_slug
        self._records: dict[tuple[str, str | None], dict[str, Any]] = {}
        self.headers: Mapping[str, str] = {"Cache-Control": "public, max-age=3600"}

    def put(self, record: Mapping[str, Any], lang: str | None = None) -> None:
        """Store a record for its slug, in one language or in any."""
        self._records[str(record["slug"]), lang] = dict(record)

    def find(self, slug: str, lang: str | None) -> dict[str, Any] | None:
        """Return the record in this language, else in any; with `any_slug`, a sample for an unknown slug."""
        found = self._records.get((slug, lang)) or self._records.get((slug, None))
        return found or (sample_record(slug) if self._any_slug else None)


class Exchange:
    """A request and the ways to respond to it.

    The methods raise `OSError` when the client has closed the connection or the service stops. Behaviours
    need not handle it.
    """

    def __init__(
        self, request: ReceivedRequest, connection: socket.socket, records: Records, stopping: threading.Event
    ) -> None:
        self.request = request
        self.records = records
        self.keep_alive: bool = request.headers.get("connection", "").lower() != "close"
        self._connection = connection
        self._stopping = stopping

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._connection.sendall(data)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Write a status line and exactly these headers."""
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def respond(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Write a complete, correct response; its type is JSON unless `headers` name another."""
        framing = {} if status in (204, 304) else {"Content-Length": str(len(body))}
        self.head(status, {"Content-Type": "application/json", **(headers or {}), **framing})
        if self.request.method != "HEAD" and status not in (204, 304):
            self.send(body)

    def pause(self, seconds: float) -> None:
        """Wait for some seconds, or until the service stops."""
        if self._stopping.wait(min(seconds, MAX_WAIT)):
            raise ConnectionAbortedError("the service stops")

    def wait_for(self, event: threading.Event) -> None:
        """Wait until `event` is set, for at most `MAX_WAIT` seconds."""
        deadline = time.monotonic() + MAX_WAIT
        while not event.is_set() and time.monotonic() < deadline:
            self.pause(0.005)

    def hang(self) -> None:
        """Send nothing more until the client closes the connection or the service stops."""
        while self._connection.recv(4096):
            pass
        raise ConnectionAbortedError("the client closed the connection")

    def cut(self) -> None:
        """Close the connection after this exchange."""
        self.keep_alive = False

    def abort(self) -> None:
        """Reset the connection after this exchange (TCP RST)."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.cut()

    def record(self) -> dict[str, Any] | None:
        """Return the requested record; None if the service does not have it."""
        return self.records.find(self.request.slug, self.request.lang)

    def good_record(self) -> dict[str, Any]:
        """Return the requested record, or a sample in its place."""
        return self.record() or sample_record(self.request.slug)

    def good_body(self) -> bytes:
        """Return `good_record()` as JSON."""
        return as_json(self.good_record())


Behaviour = Callable[[Exchange], None]
"""Responds to one request, well or badly."""


def as_json(value: object) -> bytes:
    """Return a value as JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False).encode()


def sample_record(slug: str) -> dict[str, Any]:
    """Return a small valid record."""
    item = {"position": 0, "question": "Is this a sample?", "answer": "Yes, from the faulty service."}
    return {"slug": slug, "title": "Sample", "websiteName": "", "lang": "en", "items": [item], "cta": None}
