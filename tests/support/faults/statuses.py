"""Responses with a status other than 200, without redirects."""

from collections.abc import Iterator
from typing import Final

from tests.support.faults.behaviours import body, raw, status
from tests.support.faults.kinds import Fault

_HTML: Final = {"Content-Type": "text/html"}
_RECORD: Final = b"Content-Type: application/json\r\nContent-Length: %LENGTH%\r\n\r\n%BODY%"

_SUCCESSES: Final = (202, 204, 205, 206, 207, 226, 299)
_CLIENT_ERRORS: Final = (
    *(400, 401, 402, 403, 405, 406, 407, 408, 409, 411, 412, 413, 414, 415, 416, 417, 418, 421),
    *(422, 423, 424, 425, 426, 428, 429, 431, 444, 451, 499),
)
_SERVER_ERRORS: Final = (
    *(501, 502, 503, 504, 505, 506, 507, 508, 510, 511),
    *(520, 521, 522, 523, 524, 525, 526, 530),
)
_OUT_OF_RANGE: Final = (599, 600, 700, 799, 999)


def _plain() -> Iterator[Fault]:
    for code in (*_SUCCESSES, *_CLIENT_ERRORS, *_SERVER_ERRORS, *_OUT_OF_RANGE):
        yield Fault(str(code), status(code))


def _not_found() -> Iterator[Fault]:
    """Yield 404 and 410; only a 404 in JSON comes from the service, any other from a proxy in front of it."""
    yield Fault("404 in HTML", body(b"<!doctype html><h1>404 Not Found</h1>", _HTML, status=404))
    yield Fault("404 without a body", raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
    yield Fault("404 with the record", raw(b"HTTP/1.1 404 Not Found\r\n" + _RECORD), "missing")
    yield Fault("404 as a problem document", status(404), "missing")
    yield Fault("410 in HTML", body(b"<!doctype html><h1>410 Gone</h1>", _HTML, status=410), "gone")


def _retry_after() -> Iterator[Fault]:
    dates = ("Sat, 21 Nov 2126 08:00:00 GMT", "Sat, 99 Xxx")
    for value in ("0", "-5", "0.5", "soon", "9" * 400, *dates):
        yield Fault(f"503, Retry-After: {value[:20]}", status(503, {"Retry-After": value}))


STATUSES: Final = [
    *_plain(),
    *_retry_after(),
    Fault("206 with the record", raw(b"HTTP/1.1 206 Partial Content\r\n" + _RECORD)),
    Fault("304", status(304)),  # invalid at first; later it confirms the cached record
    Fault("401 with a challenge", status(401, {"WWW-Authenticate": "Basic realm=x"})),
    Fault("407 with a challenge", status(407, {"Proxy-Authenticate": "Basic realm=x"})),
    Fault("500 with the record", raw(b"HTTP/1.1 500 Internal Server Error\r\n" + _RECORD)),
    Fault("500 in broken gzip", body(b"no gzip", {"Content-Encoding": "gzip"}, status=500)),
    Fault("502 in HTML", body(b"<h1>Bad gateway</h1>", _HTML, status=502)),
    *_not_found(),
]
"""Responses with a status other than 200, without redirects."""
