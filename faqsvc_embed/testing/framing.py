"""Faults of the protocol: what came is no HTTP, or HTTP that contradicts itself."""

from collections.abc import Iterator
from typing import Final

from faqsvc_embed.testing.behaviours import head_of, raw
from faqsvc_embed.testing.exchange import Behaviour
from faqsvc_embed.testing.fault import Fault, holding

LENGTH: Final = "Content-Length: %LENGTH%"
JSON: Final = "Content-Type: application/json"


def chunks(data: bytes, *, hangs: bool = False) -> Behaviour:
    """Send this as a chunked body."""
    return raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data, hangs=hangs)


def _not_http() -> Iterator[Fault]:
    words = {
        "garbage": b"\x00\xff\x16\x03\x01 this is not the protocol \r\n\r\n" * 4,
        "a TLS alert": b"\x15\x03\x01\x00\x02\x02\x28",
        "an HTTP/2 settings frame": b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        "an SSH banner": b"SSH-2.0-OpenSSH_9.9\r\n",
        "a mail server's banner": b"220 mail.example ESMTP ready\r\n",
        "a Redis error": b"-ERR unknown command 'GET'\r\n",
        "a request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "a bare page": b"<!doctype html><h1>It works</h1>",
        "the bare record": b"%BODY%",
        "a line break": b"\r\n",
        "zeros": b"\x00" * 10_000,
    }
    for name, word in words.items():
        yield Fault(f"{name} instead of HTTP", raw(word))


def _status_lines() -> Iterator[Fault]:
    lines = {
        "another protocol": "ICY 200 OK",
        "HTTP/3": "HTTP/3 200 OK",
        "no status": "HTTP/1.1",
        "a status in words": "HTTP/1.1 OK OK",
        "a status of two digits": "HTTP/1.1 20 OK",
        "a status of four digits": "HTTP/1.1 2000 OK",
        "a negative status": "HTTP/1.1 -200 OK",
        "a control character in the reason": "HTTP/1.1 200 \x00OK",
    }
    for name, line in lines.items():
        yield Fault(f"status line: {name}", head_of(JSON, LENGTH, first=line))


def _heads() -> Iterator[Fault]:
    lines = {
        "a line without colon": ["no colon here", LENGTH],
        "a name with a space": ["X Y: z", LENGTH],
        "an empty name": [": z", LENGTH],
        "a zero byte": ["X-Zero: a\x00b", LENGTH],
        "a length of less than nothing": ["Content-Length: -5"],
        "a length in words": ["Content-Length: many"],
        "a length in hexadecimal": ["Content-Length: 0x10"],
        "a length with a sign": ["Content-Length: +10"],
        "a length of 30 digits": ["Content-Length: 1" + "0" * 30],
        "a length of 5,000 digits": ["Content-Length: " + "9" * 5000],
        "two lengths": [LENGTH, "Content-Length: 3"],
        "no length and an unknown transfer coding": ["Transfer-Encoding: zeppelin"],
        "gzip as a transfer coding": ["Transfer-Encoding: gzip, chunked"],
        "chunked that is not": ["Transfer-Encoding: chunked"],
    }
    for name, fields in lines.items():
        yield Fault(f"head: {name}", head_of(JSON, *fields))


def _chunks() -> Iterator[Fault]:
    bodies = {
        "a size that is none": b"xyz\r\n{}\r\n0\r\n\r\n",
        "a size of less than nothing": b"-2\r\n{}\r\n0\r\n\r\n",
        "a size of 17 digits": b"FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        "a size of 100,000 digits": b"0" * 100_000 + b"2\r\n{}\r\n0\r\n\r\n",
        "no end of the chunk": b"2\r\n{}0\r\n\r\n",
        "a chunk longer than its size": b"2\r\n{}}}}}}\r\n0\r\n\r\n",
        "no chunk at all": b"0\r\n\r\n",
        "broken trailers": b"2\r\n{}\r\n0\r\nno colon\r\n\r\n",
        "an endless extension": b"2;" + b"a" * 200_000 + b"\r\n{}\r\n0\r\n\r\n",
    }
    for name, data in bodies.items():
        yield Fault(f"chunks: {name}", chunks(data))


FRAMING: Final = [
    *_not_http(),
    *_status_lines(),
    *_heads(),
    *_chunks(),
    Fault("switching protocols", raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")),
    Fault("switching protocols, and silence", raw(b"HTTP/1.1 101 No\r\nUpgrade: h2c\r\n\r\n", hangs=True)),
    holding("a first chunk that is promised", chunks(b"FFFF\r\n", hangs=True)),
    Fault(
        "an answer behind 204",
        raw(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n%BODY%"),
        stray=True,
    ),
]
"""What came is no HTTP, or contradicts itself."""
