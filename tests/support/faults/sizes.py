"""Responses that are too large: heads, bodies and strings."""

import gzip
from typing import Final

from tests.support.faults.behaviours import raw
from tests.support.faults.exchange import Exchange, as_json
from tests.support.faults.kinds import Fault

_BLOCK: Final = 0x10000


def header_flood(exchange: Exchange) -> None:
    """Send 16 MiB of headers."""
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    for index in range(16):
        exchange.send((b"X-Flood-%d: " % index + b"a" * 1000 + b"\r\n") * 1000)
    exchange.cut()


def oversize(exchange: Exchange) -> None:
    """Respond with a valid record of 4 MiB, with its Content-Length."""
    start = as_json({**exchange.good_record(), "more": ""})[:-2]
    size = len(start) + 64 * _BLOCK + 2
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(size)})
    for part in (start, *[b"a" * _BLOCK] * 64, b'"}'):
        exchange.send(part)
    exchange.cut()


def oversize_chunked(exchange: Exchange) -> None:
    """Respond with 64 MiB of chunks."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    chunk = b"%x\r\n%b\r\n" % (_BLOCK, b" " * _BLOCK)
    for _ in range(1024):
        exchange.send(chunk)
    exchange.cut()


def oversize_error(exchange: Exchange) -> None:
    """Respond 500 with a page of 4 MiB."""
    exchange.head(500, {"Content-Type": "text/html", "Content-Length": str(64 * _BLOCK)})
    for _ in range(64):
        exchange.send(b"a" * _BLOCK)
    exchange.cut()


def oversize_string(exchange: Exchange) -> None:
    """Respond with a record whose only answer has 1.5 MiB, in a few kilobytes of gzip."""
    item = {"position": 0, "question": "Long?", "answer": "a" * 1536 * 1024}
    packed = gzip.compress(as_json({**exchange.good_record(), "items": [item]}))
    exchange.respond(200, packed, {"Content-Encoding": "gzip"})


SIZES: Final = [
    Fault("header flood", header_flood),
    Fault("header of a megabyte", raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2**20 + b"\r\n\r\n%BODY%")),
    Fault("flood of interim responses", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20_000, then="hang")),
    Fault("record of 4 MiB", oversize),
    Fault("string too large, in gzip", oversize_string),
    Fault("error page too large", oversize_error),
    Fault("chunks without end", oversize_chunked),
    Fault(
        "Content-Length of a gigabyte", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n%BODY%")
    ),
]
"""Responses that are larger than a record may be."""
