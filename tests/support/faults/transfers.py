"""Connections that fail, bodies with a wrong length, and faults of the change feed."""

import json
from collections.abc import Iterator
from typing import Final

from tests.support.faults.behaviours import (
    drip_forever,
    drip_head,
    hang_after_head,
    hang_in_body,
    hang_up,
    raw,
    raw_head,
    status,
    truncated_chunks,
)
from tests.support.faults.exchange import Exchange
from tests.support.faults.kinds import Fault

_HEAD: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_INTERVAL: Final = 0.05


def drip_chunks(exchange: Exchange) -> None:
    """Send the good body in chunks of one byte, one after each interval."""
    exchange.send(_CHUNKED)
    for byte in exchange.good_body():
        exchange.pause(_INTERVAL)
        exchange.send(b"1\r\n%c\r\n" % byte)


def _hanging(name: str, data: bytes) -> Fault:
    return Fault(name, raw(data, then="hang"))


CONNECTIONS: Final = [
    Fault("connection closed", hang_up),
    Fault("connection reset in the head", raw(_HEAD + b"Content-Ty", then="reset")),
    Fault("connection reset in the body", raw(_HEAD + b'Content-Length: 500\r\n\r\n{"slug"', then="reset")),
    Fault("closed in the head", raw(_HEAD + b"Content-Type: appl")),
    Fault("truncated chunks", truncated_chunks),
    Fault("truncated body without a length", raw(b'HTTP/1.0 200 OK\r\n\r\n{"slug": "pricing", ')),
    _hanging("hang in the head", _HEAD + b"Content-Type: appl"),
    Fault("hang after the head", hang_after_head),
    Fault("hang in the body", hang_in_body),
    _hanging("hang at the end of a body without a length", _HEAD + b"\r\n%BODY%"),
    _hanging("hang in a chunk", _CHUNKED + b"FFFF\r\n"),
    _hanging("hang before the last chunk", _CHUNKED + b"2\r\n{}\r\n"),
    _hanging("hang after 100 Continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
    _hanging("hang in the body of a 500", b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nx"),
    _hanging("hang in the head of a redirect", b"HTTP/1.1 302 Found\r\nLocation: /"),
    Fault("drip the head", drip_head(_INTERVAL)),
    Fault("drip chunks", drip_chunks),
    Fault("drip spaces", drip_forever(b" ", _INTERVAL, head=_HEAD + b"\r\n")),
    Fault("drip interim responses", drip_forever(b"HTTP/1.1 103 Early Hints\r\n\r\n", _INTERVAL)),
]
"""Connections that fail, at every stage of an exchange."""


_LENGTH: Final = "Content-Length: %LENGTH%"
_JSON: Final = "Content-Type: application/json"
_SWITCHING: Final = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"


def longer_than_its_length(exchange: Exchange) -> None:
    """Send more bytes than the Content-Length, and keep the connection open."""
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": "2"})
    exchange.send(b"{}" + exchange.good_body())


def _not_http() -> Iterator[Fault]:
    words = {
        "TLS alert": b"\x15\x03\x01\x00\x02\x02\x28",
        "SSH banner": b"SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "page without a head": b"<!doctype html><h1>It works</h1>",
        "zero bytes": b"\x00" * 10_000,
    }
    for name, word in words.items():
        yield Fault(f"{name} instead of HTTP", raw(word))


def _status_lines() -> Iterator[Fault]:
    lines = {
        "another protocol": "ICY 200 OK",
        "no status": "HTTP/1.1",
        "status in words": "HTTP/1.1 OK OK",
        "status of four digits": "HTTP/1.1 2000 OK",
        "control character in the reason": "HTTP/1.1 200 \x00OK",
    }
    for name, line in lines.items():
        yield Fault(f"status line: {name}", raw_head(_JSON, _LENGTH, first=line))


def _headers() -> Iterator[Fault]:
    lines = {
        "no colon": ["no colon here", _LENGTH],
        "space in a name": ["X Y: z", _LENGTH],
        "zero byte": ["X-Zero: a\x00b", _LENGTH],
        "negative length": ["Content-Length: -5"],
        "length in hexadecimal": ["Content-Length: 0x10"],
        "length of 5,000 digits": ["Content-Length: " + "9" * 5000],
        "two lengths": [_LENGTH, "Content-Length: 3"],
        "unknown transfer coding": ["Transfer-Encoding: zeppelin"],
        "gzip as a transfer coding": ["Transfer-Encoding: gzip, chunked"],
        "chunked with a plain body": ["Transfer-Encoding: chunked"],
    }
    for name, fields in lines.items():
        yield Fault(f"header: {name}", raw_head(_JSON, *fields))


def _chunks() -> Iterator[Fault]:
    bodies = {
        "size that is not a number": b"xyz\r\n{}\r\n0\r\n\r\n",
        "size of 17 digits": b"FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        "size of 100,000 digits": b"0" * 100_000 + b"2\r\n{}\r\n0\r\n\r\n",
        "no line break after a chunk": b"2\r\n{}0\r\n\r\n",
        "chunk longer than its size": b"2\r\n{}}}}}}\r\n0\r\n\r\n",
        "no chunk": b"0\r\n\r\n",
        "extension of 200,000 characters": b"2;" + b"a" * 200_000 + b"\r\n{}\r\n0\r\n\r\n",
    }
    for name, data in bodies.items():
        yield Fault(f"chunks: {name}", raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data))


FRAMING: Final = [
    *_not_http(),
    *_status_lines(),
    *_headers(),
    *_chunks(),
    Fault("101 Switching Protocols", raw(_SWITCHING)),
    Fault("101 Switching Protocols, connection kept", raw(_SWITCHING, then="hang")),
    Fault("200 behind a 204", raw(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n%BODY%")),
    Fault("body longer than its length", longer_than_its_length),
]
"""Responses that are not HTTP, or that contradict themselves."""


_FEED_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_LIES: Final[tuple[dict[str, object], ...]] = (
    {},
    {"lang": "en", "revision": 1_000_000, "state": "published"},
    {"lang": "xx", "revision": -1, "state": "published"},
    {"lang": None, "revision": None, "state": "unpublished"},
)
LIE_EVERY: Final = 0.02
"""Seconds between two false reports about each FAQ."""


def lie(exchange: Exchange) -> None:
    """Report changes and deletions that never happened, until the client disconnects."""
    exchange.cut()
    exchange.send(_FEED_HEAD)
    slugs = json.loads(exchange.request.body)["slugs"]
    number = 0
    while True:
        for slug in slugs:
            number += 1
            data = json.dumps({"slug": slug, **_LIES[number % len(_LIES)]})
            exchange.send(f"id: {number}\nevent: faq\ndata: {data}\n\nevent: faq\ndata: [\n\n".encode())
        exchange.pause(LIE_EVERY)


FEEDS: Final = [
    Fault("feed refused", status(503)),
    Fault("feed cut", raw(_FEED_HEAD)),
    Fault("feed silent", raw(_FEED_HEAD, then="hang")),
    Fault("feed that lies", lie),
    Fault("feed that floods", drip_forever(b": " + b"x" * 16_000 + b"\n\n", 0.001, head=_FEED_HEAD)),
]
"""Every way in which the feed fails."""
