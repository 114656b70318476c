"""The change feed of the service: its request, and its server-sent events (HTML standard, 9.2)."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from faqsvc_embed.api.contract import FollowBody
from faqsvc_embed.api.requests import Request

FEED_PATH: Final = "/api/v1/events"
EVENT_STREAM: Final = "text/event-stream"
MAX_EVENT: Final = 16_384
"""Maximum bytes of one event; an FAQ service sends about 300."""
_TOO_LONG: Final = f"an event of the feed has more than {MAX_EVENT} bytes"


class ServerSentEvent(msgspec.Struct, frozen=True):
    """One event of a stream. Without data it only carries the position of the stream in `id`."""

    id: str
    type: str
    data: str


class Change(msgspec.Struct, frozen=True):
    """A published change of an FAQ, as the feed reports it."""

    slug: str
    lang: str | None = None
    revision: int | None = None
    state: str | None = None
    """`published` or `unpublished`; None if it is not known whether anything has changed."""


_changes: Final = msgspec.json.Decoder(Change)  # at import, as in `wire`


def feed_request(base_url: str, slugs: Iterable[str], last_id: str = "") -> Request:
    """Return the request for the changes of `slugs` after the event `last_id`."""
    headers = {
        "accept": EVENT_STREAM,
        "accept-encoding": "identity",
        "cache-control": "no-cache",
        "content-type": "application/json",
    }
    if last_id:
        headers["last-event-id"] = last_id
    body = msgspec.json.encode(FollowBody(list(slugs)))
    return Request(f"{base_url}{FEED_PATH}", headers, "POST", body)


def parse_change(event: ServerSentEvent) -> Change | None:
    """Return the change that an event reports; None if it reports none."""
    if event.type != "faq":
        return None
    try:
        return _changes.decode(event.data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


class EventStreamParser:
    """Splits the bytes of a stream into events; chunks may end anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._size = 0
        self._id = ""
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that end with this chunk.

        Raises:
            ValueError: an event, or a line of it, is longer than `MAX_EVENT`.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))
        if len(self._rest) + self._size > MAX_EVENT:
            raise ValueError(_TOO_LONG)

    def _line(self, line: bytes) -> Iterator[ServerSentEvent]:
        """Read one line, and yield the event that an empty line ends."""
        if not line:
            if self._data or self._id:
                yield ServerSentEvent(self._id, self._type or "message", "\n".join(self._data))
            self._type, self._data, self._size = "", [], 0
            return
        if line.startswith(b":"):  # a comment, which keeps the connection alive
            return
        self._size += len(line)
        if self._size > MAX_EVENT:
            raise ValueError(_TOO_LONG)
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value and value.isascii() and value.isprintable():
            self._id = value  # it is sent back in a header
