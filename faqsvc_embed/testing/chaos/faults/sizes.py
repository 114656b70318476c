"""Responses that are too large: heads, bodies, and small bodies that decompress to large ones."""

import gzip
import zlib
from functools import lru_cache
from typing import Final

from faqsvc_embed.testing.chaos.behaviours import raw, rewritten
from faqsvc_embed.testing.chaos.exchange import Behaviour, Exchange, as_json
from faqsvc_embed.testing.chaos.faults.fault import Fault

BOMB_BYTES: Final = 512 * 1024 * 1024
"""The size to which the gzip bomb decompresses."""
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


def gzip_bomb(exchange: Exchange) -> None:
    """Respond with a small body that decompresses to `BOMB_BYTES`."""
    exchange.respond(200, bomb(), {"Content-Encoding": "gzip"})


@lru_cache(maxsize=1)
def bomb() -> bytes:
    """Return half a megabyte of gzip that decompresses to one JSON string of `BOMB_BYTES`."""
    unit = b"a" * 1024 * 1024
    start = b'{"slug":"pricing","items":[],"title":"'
    end = b'"}'
    count = BOMB_BYTES // len(unit)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    # After a full flush, a block does not refer to data before it, so one packed megabyte can be repeated.
    packed_start = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    packed_unit = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    packed_end = packer.compress(end) + packer.flush()
    check = zlib.crc32(start)
    for _ in range(count):
        check = zlib.crc32(unit, check)
    check = zlib.crc32(end, check)
    size = len(start) + count * len(unit) + len(end)
    trailer = check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + packed_start + packed_unit * count + packed_end + trailer


def _large(name: str, behaviour: Behaviour) -> Fault:
    return Fault(name, behaviour, large=True)


SIZES: Final = [
    _large("header flood", header_flood),
    Fault("header of a megabyte", raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2**20 + b"\r\n\r\n%BODY%")),
    Fault(
        "flood of interim responses",
        raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20_000, then="hang"),
        hangs=True,
    ),
    _large("body too large", oversize),
    _large("string too large, in gzip", oversize_string),
    _large("error page too large", oversize_error),
    _large("chunks without end", oversize_chunked),
    _large("megabytes of spaces before the record", rewritten(lambda record: b" " * 2**21 + record)),
    Fault(
        "Content-Length of a gigabyte", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n%BODY%")
    ),
    _large("gzip bomb", gzip_bomb),
]
"""Responses that are larger than a record may be."""
