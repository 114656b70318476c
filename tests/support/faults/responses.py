"""Responses with another status, redirects, and unusual ones that are valid all the same."""

import gzip
import zlib
from collections.abc import Iterator
from typing import Final

from tests.support.faults.behaviours import (
    altered,
    body,
    chunked,
    gzipped,
    raw,
    raw_head,
    redirect,
    redirect_same_origin,
    rewritten,
    slow_head,
    status,
    until_closed,
)
from tests.support.faults.exchange import Behaviour, Exchange
from tests.support.faults.kinds import Fault

_AS_HTML: Final = {"Content-Type": "text/html"}
_RECORD: Final = b"Content-Type: application/json\r\nContent-Length: %LENGTH%\r\n\r\n%BODY%"

_PLAIN: Final = (
    202,
    204,
    206,
    299,
    400,
    401,
    403,
    405,
    407,
    408,
    425,
    429,
    451,
    501,
    502,
    504,
    530,
    600,
    999,
)


def _not_found() -> Iterator[Fault]:
    """Yield 404 and 410; only a 404 in JSON comes from the service, any other from a proxy in front of it."""
    yield Fault("404 in HTML", body(b"<!doctype html><h1>404 Not Found</h1>", _AS_HTML, status=404))
    yield Fault("404 without a body", raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
    yield Fault("404 with the record", raw(b"HTTP/1.1 404 Not Found\r\n" + _RECORD), "missing")
    yield Fault("404 as a problem document", status(404), "missing")
    yield Fault("410 in HTML", body(b"<!doctype html><h1>410 Gone</h1>", _AS_HTML, status=410), "gone")


def _retry_after() -> Iterator[Fault]:
    dates = ("Sat, 21 Nov 2126 08:00:00 GMT", "Sat, 99 Xxx")
    for value in ("0", "-5", "soon", "9" * 400, *dates):
        yield Fault(f"503, Retry-After: {value[:20]}", status(503, {"Retry-After": value}))


STATUSES: Final = [
    *(Fault(str(code), status(code)) for code in _PLAIN),
    *_retry_after(),
    Fault("206 with the record", raw(b"HTTP/1.1 206 Partial Content\r\n" + _RECORD)),
    Fault("304", status(304)),  # invalid at first; later it confirms the cached record
    Fault("401 with a challenge", status(401, {"WWW-Authenticate": "Basic realm=x"})),
    Fault("500 with the record", raw(b"HTTP/1.1 500 Internal Server Error\r\n" + _RECORD)),
    Fault("500 in broken gzip", body(b"no gzip", {"Content-Encoding": "gzip"}, status=500)),
    Fault("502 in HTML", body(b"<h1>Bad gateway</h1>", _AS_HTML, status=502)),
    *_not_found(),
]
"""Responses with a status other than 200, without redirects."""


_CODES: Final = (300, 301, 302, 303, 305, 306, 307, 308, 399)


def redirect_to_login(exchange: Exchange) -> None:
    """Redirect to a login page of this origin."""
    if exchange.request.target == "/login":
        exchange.respond(200, b"<!doctype html><h1>Sign in</h1>", {"Content-Type": "text/html"})
    else:
        exchange.respond(302, b"", {"Location": "/login"})


def redirect_to_hang(exchange: Exchange) -> None:
    """Redirect to a path of this origin that never responds."""
    if exchange.request.target == "/silence":
        exchange.hang()
    exchange.respond(307, b"", {"Location": "/silence"})


def _targets() -> Iterator[Fault]:
    targets = {
        "a file": "file:///etc/passwd",
        "https": "https://127.0.0.1/",
        "another host": "//localhost/",
        "a URL with credentials": "http://user:secret@127.0.0.1/",
        "a broken IPv6 address": "http://[::1/",
        "an invalid port": "http://127.0.0.1:99999/",
        "a URL of 100,000 characters": "/" + "a" * 100_000,
        "an invalid host": "http://\x7f",
        "an empty URL": "",
    }
    for name, target in targets.items():
        yield Fault(f"redirect to {name}", redirect(target))


REDIRECTS: Final = [
    *_targets(),
    *(Fault(f"{code} without Location", body(b"", status=code)) for code in _CODES),
    Fault("redirect on the same origin", redirect_same_origin),
    Fault("redirect to a login page", redirect_to_login),
    Fault("redirect to a path that hangs", redirect_to_hang),
    Fault("redirect in HTML", body(b'<meta http-equiv="refresh" content="0;url=/">')),
]
"""Redirects that a reader must not follow, or that lead to no record."""


_LENGTH: Final = "Content-Length: %LENGTH%"
ODDITIES: Final[dict[str, Behaviour]] = {
    "gzip": gzipped,
    "gzip without its checksum": rewritten(
        lambda body: gzip.compress(body)[:-8], {"Content-Encoding": "gzip"}
    ),
    "deflate": rewritten(zlib.compress, {"Content-Encoding": "deflate"}),
    "chunks and a trailer": chunked,
    "body until the connection closes": until_closed,
    "byte order mark": rewritten(lambda record: b"\xef\xbb\xbf" + record),
    "slow head": slow_head(0.05),
    "unknown fields": altered(unknown={"a": [1]}, cta={"label": "Buy", "url": "/buy"}),
    "title and language null": altered(title=None, lang=None, websiteName=None),
    "interim response first": raw_head("", "HTTP/1.1 200 OK", first="HTTP/1.1 100 Continue"),
    "no reason phrase": raw_head(_LENGTH, first="HTTP/1.1 200 "),
    "HTTP/1.0": raw_head(_LENGTH, first="HTTP/1.0 200 OK"),
    "another content type": raw_head("Content-Type: text/plain", _LENGTH),
    "malformed caching headers": raw_head("Cache-Control: =, ;, perhaps", "Age: soon"),
}
"""Unusual responses whose record a reader uses."""
