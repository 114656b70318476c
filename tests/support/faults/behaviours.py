"""Ways in which the faulty service responds: good responses, broken connections, and building blocks.

A behaviour is a function of one `Exchange`. `FaultyServer.behave()` and `then()` take it.
"""

import gzip
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, Literal

from tests.support.faults.exchange import Behaviour, Exchange, as_json

_OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

# Good responses


def healthy(exchange: Exchange) -> None:
    """Respond with the record, with 304 if the client has it already, or with 404 if there is none."""
    record = exchange.record()
    if record is None:
        exchange.respond(404, as_json({"title": "Not Found", "status": 404}), {"Cache-Control": "no-store"})
        return
    content = as_json(record)
    headers = {"ETag": f'"{sha256(content).hexdigest()[:16]}"', **exchange.records.headers}
    headers = {name: value for name, value in headers.items() if value}
    if "ETag" in headers and exchange.request.headers.get("if-none-match") == headers["ETag"]:
        exchange.respond(304, b"", headers)
    else:
        exchange.respond(200, content, headers)


def slow_head(seconds: float) -> Behaviour:
    """Respond well after some seconds."""

    def behaviour(exchange: Exchange) -> None:
        exchange.pause(seconds)
        healthy(exchange)

    return behaviour


def held_until(release: threading.Event) -> Behaviour:
    """Respond well once `release` is set: a slow service under the control of a test."""

    def behaviour(exchange: Exchange) -> None:
        exchange.wait_for(release)
        healthy(exchange)

    return behaviour


# Building blocks


def body(content: bytes, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Behaviour:
    """Respond with exactly this body."""

    def behaviour(exchange: Exchange) -> None:
        exchange.respond(status, content, headers)

    return behaviour


def status(code: int, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Respond with this status and a problem document (RFC 9457)."""
    problem = as_json({"status": code, "title": "The faulty service says so."})
    return body(problem, {"Content-Type": "application/problem+json", **(headers or {})}, status=code)


def redirect(location: str, code: int = 302) -> Behaviour:
    """Redirect to this location."""
    return body(b"", {"Location": location}, status=code)


def altered(**changes: object) -> Behaviour:
    """Respond with the good record, with some fields replaced; `...` removes one."""

    def behaviour(exchange: Exchange) -> None:
        record = {**exchange.good_record(), **changes}
        exchange.respond(200, as_json({name: value for name, value in record.items() if value is not ...}))

    return behaviour


def rewritten(rewrite: Callable[[bytes], bytes], headers: Mapping[str, str] | None = None) -> Behaviour:
    """Respond with the result of `rewrite` for the good body."""

    def behaviour(exchange: Exchange) -> None:
        exchange.respond(200, rewrite(exchange.good_body()), headers)

    return behaviour


def raw(data: bytes, *, then: Literal["close", "hang", "reset"] = "close") -> Behaviour:
    """Write these bytes as they are, then close the connection, hang, or reset it (TCP RST).

    `%BODY%` stands for the good body, `%LENGTH%` for its length in bytes, and `%HALF%` for its first half.
    """

    def behaviour(exchange: Exchange) -> None:
        content = exchange.good_body()
        half = content[: len(content) // 2]
        filled = data.replace(b"%LENGTH%", b"%d" % len(content)).replace(b"%HALF%", half)
        exchange.send(filled.replace(b"%BODY%", content))
        if then == "hang":
            exchange.hang()
        elif then == "reset":
            exchange.abort()
        exchange.cut()

    return behaviour


# Broken connections


def refuse(exchange: Exchange) -> None:
    """Close the port if passed to `behave()`, or the connection if passed to `then()`."""
    exchange.cut()


reset: Behaviour = raw(b"", then="reset")
"""Reset the connection without a response (TCP RST)."""

hang: Behaviour = raw(b"", then="hang")
"""Read the request and never respond."""

truncated: Behaviour = raw(_OK + b"Content-Length: %LENGTH%\r\n\r\n%HALF%")
"""Close the connection in the middle of the body."""

garbage: Behaviour = raw(b"\x00\xff\x16\x03\x01 this is not the protocol \r\n\r\n" * 4)
"""Send bytes that are not HTTP."""


def drip(interval: float) -> Behaviour:
    """Send the good body, one byte after each interval, so that no single read is slow."""

    def behaviour(exchange: Exchange) -> None:
        content = exchange.good_body()
        exchange.send(_OK + b"Content-Length: %d\r\n\r\n" % len(content))
        send_slowly(exchange, content, interval)

    return behaviour


def send_slowly(exchange: Exchange, data: bytes, interval: float) -> None:
    """Send bytes, one after each interval."""
    for byte in data:
        exchange.pause(interval)
        exchange.send(bytes([byte]))


# Correct but unusual, and more broken ones


def gzipped(exchange: Exchange) -> None:
    """Respond well, in gzip."""
    exchange.respond(200, gzip.compress(exchange.good_body()), {"Content-Encoding": "gzip"})


def chunked(exchange: Exchange) -> None:
    """Respond well, in chunks of seven bytes with a trailer."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    content = exchange.good_body()
    chunks = (content[start : start + 7] for start in range(0, len(content), 7))
    exchange.send(b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks))
    exchange.send(b"0\r\nX-Trailer: yes\r\n\r\n")


def redirect_same_origin(exchange: Exchange) -> None:
    """Redirect to another address of this origin, and respond well there."""
    if exchange.request.target.endswith("moved=1"):
        healthy(exchange)
    else:
        joined = f"{exchange.request.target}{'&' if '?' in exchange.request.target else '?'}moved=1"
        exchange.respond(307, b"", {"Location": joined})


def raw_head(*lines: str, first: str = "HTTP/1.1 200 OK") -> Behaviour:
    """Respond with exactly this status line and these header lines, and the good body."""
    return raw("\r\n".join([first, *lines, "", "%BODY%"]).encode("latin-1"))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Use these behaviours in rotation, one for each request."""
    count = 0

    def behaviour(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        behaviours[(count - 1) % len(behaviours)](exchange)

    return behaviour


def drip_head(interval: float) -> Behaviour:
    """Send the head, one byte after each interval."""

    def behaviour(exchange: Exchange) -> None:
        content = exchange.good_body()
        send_slowly(exchange, _OK + b"Content-Length: %d\r\n\r\n" % len(content), interval)
        exchange.send(content)

    return behaviour


def drip_forever(data: bytes, interval: float, *, head: bytes = b"") -> Behaviour:
    """Send `head`, then the same data after each interval, without end."""

    def behaviour(exchange: Exchange) -> None:
        exchange.send(head)
        while True:
            exchange.pause(interval)
            exchange.send(data)

    return behaviour


until_closed: Behaviour = raw(_OK + b"Connection: close\r\n\r\n%BODY%")
"""Respond well, with the end of the connection as the end of the body."""

hang_up: Behaviour = raw(b"")
"""Close the connection without a response."""

hang_after_head: Behaviour = raw(_OK + b"Content-Length: 5000\r\n\r\n", then="hang")
"""Announce a body and never send it."""

hang_in_body: Behaviour = raw(_OK + b"Content-Length: %LENGTH%\r\n\r\n%HALF%", then="hang")
"""Send half of the body, then nothing."""

truncated_chunks: Behaviour = raw(_OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
"""Close the connection before the last chunk."""

no_gzip: Behaviour = body(b'{"coding": "identity"}', {"Content-Encoding": "gzip"})
"""Label a plain body as gzip."""

unknown_coding: Behaviour = body(b"\x0b\x02\x80{}\x03", {"Content-Encoding": "br"})
"""Respond in a content coding that was not requested."""
