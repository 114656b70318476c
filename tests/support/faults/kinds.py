"""The faults of an FAQ service: one of each kind, for the tests of pages."""

import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

from tests.support.faults.behaviours import (
    altered,
    body,
    drip,
    garbage,
    hang,
    healthy,
    refuse,
    reset,
    rewritten,
    status,
    truncated,
)
from tests.support.faults.exchange import Behaviour, Exchange

Meaning = Literal["failed", "missing", "gone"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A behaviour of the service, and the meaning of its response to a reader."""

    name: str
    behaviour: Behaviour = field(repr=False)
    means: Meaning = "failed"
    """How a reader treats the response, without a cached record and with one:

    | means     | nothing cached               | a record is cached                                   |
    | --------- | ---------------------------- | ---------------------------------------------------- |
    | `failed`  | backs off                    | keeps the record, however often, and backs off       |
    | `missing` | negative caching (RFC 2308)  | keeps the record until a second such response,       |
    |           |                              | `not_found_for` seconds after the first or later     |
    | `gone`    | negative caching             | drops the record at once (410, RFC 9110 15.5.11)     |
    """

    def __str__(self) -> str:
        return self.name


def gzip_bomb(exchange: Exchange) -> None:
    """Respond with a small body that decompresses to 64 MiB."""
    exchange.respond(200, bomb(), {"Content-Encoding": "gzip"})


@cache
def bomb() -> bytes:
    """Return 64 kB of gzip that decompress to a JSON object with a string of 64 MiB."""
    compressor = zlib.compressobj(wbits=31)  # gzip
    parts = (b'{"slug":"pricing","items":[],"title":"', *[b"a" * 2**20] * 64, b'"}')
    return b"".join([*map(compressor.compress, parts), compressor.flush()])


def redirect_other_origin(exchange: Exchange) -> None:
    """Redirect to another host name, where a client that follows gets a good response."""
    host, _, port = exchange.request.headers.get("host", "").partition(":")
    if host == "localhost":
        healthy(exchange)
    else:
        exchange.respond(302, b"", {"Location": f"http://localhost:{port}{exchange.request.target}"})


def redirect_loop(exchange: Exchange) -> None:
    """Redirect to the requested address every time."""
    exchange.respond(302, b"", {"Location": exchange.request.target})


FAULTS: Final = [
    Fault("connection refused", refuse),
    Fault("connection reset", reset),
    Fault("hang before the head", hang),
    Fault("drip the body", drip(0.05)),
    Fault("truncated body", truncated),
    Fault("garbage instead of HTTP", garbage),
    Fault("gzip bomb", gzip_bomb),
    Fault("body too large", rewritten(lambda record: b" " * 2**22 + record)),
    Fault("deep nesting", body(b'{"cta":' + b"[" * 50_000 + b"]" * 50_000 + b"}")),
    Fault("Latin-1", rewritten(lambda record: record.replace(b'"title": "', b'"title": "caf\xe9'))),
    Fault("login page with 200", body(b"<!doctype html><h1>Sign in</h1>", {"Content-Type": "text/html"})),
    Fault("slug of another FAQ", altered(slug="another")),
    Fault("404 in plain text", body(b"404 page not found\n", {"Content-Type": "text/plain"}, status=404)),
    Fault("404 in JSON", body(b'{"detail": "Not Found"}', status=404), "missing"),
    Fault("410", status(410), "gone"),
    Fault("429, Retry-After: 7", status(429, {"Retry-After": "7"})),
    Fault("500", status(500)),
    Fault("503, Retry-After: 120", status(503, {"Retry-After": "120"})),
    Fault("redirect to another origin", redirect_other_origin),
    Fault("redirect loop", redirect_loop),
]
"""One fault of each kind. None may make a page blank, broken or late."""
