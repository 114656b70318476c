"""Faults of a connection: refused, cut, hanging or dripping at every stage, and sending too much."""

import gzip
import zlib
from functools import lru_cache
from typing import Final

from faqsvc_embed.testing.behaviours import raw, record_of, rewritten
from faqsvc_embed.testing.exchange import Behaviour, Exchange, as_json
from faqsvc_embed.testing.fault import Fault, holding
from faqsvc_embed.testing.server import refuse

BOMB_BYTES: Final = 512 * 1024 * 1024
"""What the gzip bomb unpacks to."""


def reset(exchange: Exchange) -> None:
    """Close the connection without a word."""
    exchange.cut()


def hang(exchange: Exchange) -> None:
    """Read the request, and never answer."""
    exchange.hang()


def hang_after_head(exchange: Exchange) -> None:
    """Promise a body, and never send it."""
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": "5000"})
    exchange.hang()


def hang_in_body(exchange: Exchange) -> None:
    """Send half of the body, and then nothing."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
    exchange.send(body[: len(body) // 2])
    exchange.hang()


def drip(interval: float) -> Behaviour:
    """Send the good body one byte an interval: no single read is ever slow (rule D1)."""

    def behaviour(exchange: Exchange) -> None:
        body = exchange.record_body()
        exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        for index in range(len(body)):
            exchange.pause(interval)
            exchange.send(body[index : index + 1])

    return behaviour


def drip_head(interval: float) -> Behaviour:
    """Send the head one byte an interval."""

    def behaviour(exchange: Exchange) -> None:
        body = exchange.record_body()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        for byte in head.encode():
            exchange.pause(interval)
            exchange.send(bytes([byte]))
        exchange.send(body)

    return behaviour


def truncated(exchange: Exchange) -> None:
    """Close the connection before as many bytes came as were promised."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body) + 10)})
    exchange.send(body)
    exchange.cut()


def truncated_chunks(exchange: Exchange) -> None:
    """Close the connection before the last chunk."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    exchange.send(b"%x\r\n%b\r\n" % (len(body), body))
    exchange.cut()


def too_long(exchange: Exchange) -> None:
    """Send more bytes than were promised: a stray second response on a kept connection."""
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": "2"})
    exchange.send(b"{}" + exchange.record_body())


def header_flood(exchange: Exchange) -> None:
    """Send headers without end; 16 MiB at most."""
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    for index in range(16):
        exchange.send((b"X-Flood-%d: " % index + b"a" * 1000 + b"\r\n") * 1000)
    exchange.cut()


def aborted(sent: bytes = b"") -> Behaviour:
    """Send something, and break the connection off (RST), as a process that is killed does."""

    def behaviour(exchange: Exchange) -> None:
        exchange.send(sent)
        exchange.abort()

    return behaviour


def drip_of(data: bytes, interval: float) -> Behaviour:
    """Send the same bytes again and again, one portion an interval, behind a good head."""

    def behaviour(exchange: Exchange) -> None:
        exchange.head(200, {"Content-Type": "application/json", "Connection": "close"})
        while True:
            exchange.pause(interval)
            exchange.send(data)

    return behaviour


def drip_interim(exchange: Exchange) -> None:
    """Say again and again that the answer is on its way."""
    while True:
        exchange.pause(0.05)
        exchange.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")


def drip_chunks(exchange: Exchange) -> None:
    """Send the good body in chunks of one byte, slowly."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    for byte in exchange.record_body():
        exchange.pause(0.05)
        exchange.send(b"1\r\n%c\r\n" % byte)


def oversize(exchange: Exchange) -> None:
    """Answer with a valid record of 4 MiB, whose size the head tells."""
    good = as_json({**record_of(exchange), "more": ""})[:-2]
    size = len(good) + 64 * 0x10000 + 2
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(size)})
    for part in (good, *[b"a" * 0x10000] * 64, b'"}'):
        exchange.send(part)
    exchange.cut()


def oversize_chunked(exchange: Exchange) -> None:
    """Answer with chunks that never end; 64 MiB at most."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for _ in range(1024):
        exchange.send(chunk)
    exchange.cut()


def gzip_bomb(exchange: Exchange) -> None:
    """Answer with a small body that unpacks to `BOMB_BYTES` (rule D2)."""
    exchange.reply(200, bomb(), {"Content-Encoding": "gzip"})


@lru_cache(maxsize=1)
def bomb() -> bytes:
    """Return half a megabyte of gzip that unpacks to `BOMB_BYTES` of a JSON string."""
    unit = b"a" * 1024 * 1024
    start = b'{"slug":"pricing","items":[],"title":"'
    end = b'"}'
    count = BOMB_BYTES // len(unit)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    # After a full flush a block refers to nothing before it, so that one packed megabyte can be repeated.
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


def oversize_error(exchange: Exchange) -> None:
    """Answer 500 with a page of 4 MiB."""
    exchange.head(500, {"Content-Type": "text/html", "Content-Length": str(64 * 0x10000)})
    for _ in range(64):
        exchange.send(b"a" * 0x10000)
    exchange.cut()


def oversize_string(exchange: Exchange) -> None:
    """Answer with a record whose one answer has 1.5 MiB, in gzip of a few kilobytes."""
    item = {"position": 0, "question": "Long?", "answer": "a" * 1536 * 1024}
    packed = gzip.compress(as_json({**record_of(exchange), "items": [item]}))
    exchange.reply(200, packed, {"Content-Encoding": "gzip"})


CONNECTIONS: Final = [
    Fault("refuse", refuse),
    Fault("reset", reset),
    Fault("abort without a word", aborted()),
    Fault("abort in the head", aborted(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    Fault("abort in the body", aborted(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"slug"')),
    Fault("close in the status line", raw(b"HTTP/1.1 2")),
    Fault("close in the head", raw(b"HTTP/1.1 200 OK\r\nContent-Type: appl")),
    Fault("truncated body", truncated),
    Fault("truncated chunks", truncated_chunks),
    Fault(
        "half of a body that ends with the connection", raw(b'HTTP/1.0 200 OK\r\n\r\n{"slug": "pricing", ')
    ),
    holding("hang before the head", hang),
    holding("hang in the status line", raw(b"HTTP/1.1 2", hangs=True)),
    holding("hang in the head", raw(b"HTTP/1.1 200 OK\r\nContent-Type: appl", hangs=True)),
    holding("hang after the head", hang_after_head),
    holding("hang in the body", hang_in_body),
    holding(
        "hang in a chunk size", raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff", hangs=True)
    ),
    holding(
        "hang before the last chunk",
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", hangs=True),
    ),
    holding("hang after 100 Continue", raw(b"HTTP/1.1 100 Continue\r\n\r\n", hangs=True)),
    holding(
        "hang in the body of an error", raw(b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nx", hangs=True)
    ),
    holding("hang in the body of a 404", raw(b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nx", hangs=True)),
    holding("hang in a redirect", raw(b"HTTP/1.1 302 Found\r\nLocation: /", hangs=True)),
    holding("the whole body, and no end", raw(b"HTTP/1.1 200 OK\r\n\r\n%BODY%", hangs=True)),
    holding("drip the body", drip(0.05)),
    holding("drip the head", drip_head(0.05)),
    holding("drip chunks", drip_chunks),
    holding("drip spaces", drip_of(b" ", 0.05)),
    holding("drip interim answers", drip_interim),
]
"""A connection that fails, at every stage of an exchange."""

SIZES: Final = [
    Fault("header flood", header_flood, big=True),
    Fault("a header of a megabyte", raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2**20 + b"\r\n\r\n%BODY%")),
    Fault("interim flood", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20_000, hangs=True), holds=True),
    Fault("oversize body", oversize, big=True),
    Fault("oversize in one string", oversize_string, big=True),
    Fault("oversize error", oversize_error, big=True),
    Fault("chunks without end", oversize_chunked, big=True),
    Fault("spaces before the record", rewritten(lambda body: b" " * 2**21 + body), big=True),
    Fault("a gigabyte promised", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n%BODY%")),
    Fault("gzip bomb", gzip_bomb, big=True),
    Fault("longer than promised", too_long, stray=True),
]
"""More than anybody asked for."""
