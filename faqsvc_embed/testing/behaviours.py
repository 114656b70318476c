"""Behaviours of the faulty service that answer well, and the blocks that bad ones are built of."""

import gzip
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from faqsvc_embed.testing.exchange import LONGEST, Behaviour, Exchange, Gone, as_json, made_up
from faqsvc_embed.testing.server import healthy

# Good ones


def slow_head(seconds: float) -> Behaviour:
    """Answer well, but only after a while."""

    def behaviour(exchange: Exchange) -> None:
        exchange.pause(seconds)
        healthy(exchange)

    return behaviour


def held_until(release: threading.Event) -> Behaviour:
    """Answer well once a test says so: a slow service without a clock."""

    def behaviour(exchange: Exchange) -> None:
        deadline = time.monotonic() + LONGEST
        while not release.wait(0.005):
            if exchange.server.stopping.is_set() or time.monotonic() > deadline:
                raise Gone
        healthy(exchange)

    return behaviour


def gzipped(exchange: Exchange) -> None:
    """Answer well, in gzip."""
    exchange.reply(200, gzip.compress(exchange.record_body()), {"Content-Encoding": "gzip"})


def chunked(exchange: Exchange) -> None:
    """Answer well, in chunks of seven bytes, with a trailer."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    body = exchange.record_body()
    chunks = (body[start : start + 7] for start in range(0, len(body), 7))
    exchange.send(b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks))
    exchange.send(b"0\r\nX-Trailer: yes\r\n\r\n")


def until_closed(exchange: Exchange) -> None:
    """Answer well, with the end of the connection as the end of the body (HTTP/1.0 style)."""
    exchange.head(200, {"Content-Type": "application/json", "Connection": "close"})
    exchange.send(exchange.record_body())
    exchange.cut()


def byte_order_mark(exchange: Exchange) -> None:
    """Answer well, behind a byte order mark."""
    exchange.reply(200, b"\xef\xbb\xbf" + exchange.record_body())


def redirect_same_origin(exchange: Exchange) -> None:
    """Send the client to another path of this origin, and answer well there."""
    if exchange.request.target.startswith("/moved/"):
        healthy(exchange)
    else:
        exchange.reply(307, b"", {"Location": f"/moved{exchange.request.target}"})


# Blocks


def body(content: bytes, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Behaviour:
    """Answer with exactly this body."""

    def behaviour(exchange: Exchange) -> None:
        exchange.reply(status, content, headers)

    return behaviour


def altered(**changes: object) -> Behaviour:
    """Answer with the good record, with some fields replaced."""

    def behaviour(exchange: Exchange) -> None:
        good = exchange.record() or made_up(exchange.request.slug)
        exchange.reply(200, as_json({**good, **changes}))

    return behaviour


def status(code: int, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with this status and a small problem document."""
    return body(
        as_json({"status": code, "title": "says the faulty server"}),
        {"Content-Type": "application/problem+json", **(headers or {})},
        status=code,
    )


def redirect(location: str, code: int = 302) -> Behaviour:
    """Send the client somewhere else."""
    return body(b"", {"Location": location}, status=code)


def record_of(exchange: Exchange) -> dict[str, Any]:
    """Return the good record; a server without it makes one up."""
    return exchange.record() or made_up(exchange.request.slug)


def rewritten(rewrite: Callable[[bytes], bytes], headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with what `rewrite` makes of the good body."""

    def behaviour(exchange: Exchange) -> None:
        exchange.reply(200, rewrite(exchange.record_body()), headers)

    return behaviour


def raw(data: bytes, *, hangs: bool = False) -> Behaviour:
    """Write exactly these bytes, and hang up or hang; `%BODY%` and `%LENGTH%` stand for the good body's."""

    def behaviour(exchange: Exchange) -> None:
        content = exchange.record_body()
        exchange.send(data.replace(b"%LENGTH%", b"%d" % len(content)).replace(b"%BODY%", content))
        if hangs:
            exchange.hang()
        exchange.cut()

    return behaviour


def head_of(*lines: str, first: str = "HTTP/1.1 200 OK") -> Behaviour:
    """Answer with the good body behind exactly these lines."""
    return raw("\r\n".join([first, *lines, "", "%BODY%"]).encode("latin-1"))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Behave in these ways by turns, one a request."""
    count = 0

    def behaviour(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        behaviours[(count - 1) % len(behaviours)](exchange)

    return behaviour
