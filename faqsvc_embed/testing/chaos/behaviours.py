"""Ways in which the faulty service responds: good responses, broken connections, and building blocks.

A behaviour is a function of one `Exchange`. `FaultyServer.behave()` and `then()` take it.
"""

import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, Literal

from faqsvc_embed.testing.chaos.exchange import Behaviour, Exchange, as_json

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
