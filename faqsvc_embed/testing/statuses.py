"""Faults of the status: errors in every dress, and redirects to where nobody should go."""

from collections.abc import Iterator
from typing import Final

from faqsvc_embed.testing.behaviours import body, raw, redirect, rewritten, status
from faqsvc_embed.testing.exchange import Exchange
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.server import healthy

SUCCESSES: Final = (202, 204, 205, 206, 207, 226, 299)
REFUSALS: Final = (400, 401, 402, 403, 405, 406, 407, 408, 409, 411, 412, 413, 414, 415, 416, 417, 418, 421)
MORE_REFUSALS: Final = (422, 423, 424, 425, 426, 428, 429, 431, 444, 451, 499)
ERRORS: Final = (
    500,
    501,
    502,
    503,
    504,
    505,
    506,
    507,
    508,
    510,
    511,
    520,
    521,
    522,
    523,
    524,
    525,
    526,
    530,
)
BEYOND: Final = (599, 600, 700, 799, 999)


def redirect_other_origin(exchange: Exchange) -> None:
    """Send the client to another host name, where a good answer waits for who follows (rule K19)."""
    if exchange.request.headers.get("host", "").startswith("localhost"):
        healthy(exchange)
    else:
        location = f"http://localhost:{exchange.server.port}{exchange.request.target}"
        exchange.reply(302, b"", {"Location": location})


def redirect_loop(exchange: Exchange) -> None:
    """Send the client around this origin for ever."""
    target = exchange.request.target
    exchange.reply(302, b"", {"Location": f"/again{target}" if len(target) < 1000 else "/again"})


def redirect_to_page(exchange: Exchange) -> None:
    """Send the client to a login page of this origin."""
    if exchange.request.target == "/login":
        exchange.reply(200, b"<!doctype html><h1>Sign in</h1>", {"Content-Type": "text/html"})
    else:
        exchange.reply(302, b"", {"Location": "/login"})


def redirect_to_silence(exchange: Exchange) -> None:
    """Send the client to another path of this origin, and say nothing there."""
    if exchange.request.target == "/silence":
        exchange.hang()
    exchange.reply(307, b"", {"Location": "/silence"})


def _statuses() -> Iterator[Fault]:
    for code in (*SUCCESSES, *REFUSALS, *MORE_REFUSALS, *ERRORS, *BEYOND):
        yield Fault(str(code), status(code))
    for code in (404, 410):
        yield Fault(str(code), status(code), "missing")
    page = b"<!doctype html><title>404</title><h1>Nothing here</h1>"
    yield Fault("404 with a page", body(page, {"Content-Type": "text/html"}, status=404), "missing")
    yield Fault(
        "404 with the record", raw(b"HTTP/1.1 404 No\r\nContent-Length: %LENGTH%\r\n\r\n%BODY%"), "missing"
    )
    yield Fault("500 with the record", raw(b"HTTP/1.1 500 No\r\nContent-Length: %LENGTH%\r\n\r\n%BODY%"))
    yield Fault("206 with the record", raw(b"HTTP/1.1 206 Part\r\nContent-Length: %LENGTH%\r\n\r\n%BODY%"))
    yield Fault("502 with a page", body(b"<h1>Bad gateway</h1>", {"Content-Type": "text/html"}, status=502))
    yield Fault("304 when nothing was asked", status(304))
    yield Fault("500 in broken gzip", body(b"no gzip", {"Content-Encoding": "gzip"}, status=500))
    for value in ("120", "0", "-5", "0.5", "soon", "9" * 400, "Sat, 21 Nov 2126 08:00:00 GMT", "Sat, 99 Xxx"):
        yield Fault(f"503, Retry-After: {value[:20]}", status(503, {"Retry-After": value}))
    yield Fault("429, Retry-After: 7", status(429, {"Retry-After": "7"}))
    yield Fault("401 with a challenge", status(401, {"WWW-Authenticate": "Basic realm=x"}))
    yield Fault("407 with a challenge", status(407, {"Proxy-Authenticate": "Basic realm=x"}))


def _redirects() -> Iterator[Fault]:
    targets = {
        "a file": "file:///etc/passwd",
        "a script": "javascript:alert(1)",
        "data": "data:application/json,{}",
        "FTP": "ftp://127.0.0.1/",
        "https": "https://127.0.0.1/",
        "another port": "http://127.0.0.1:1/",
        "another host": "//localhost/",
        "a user": "http://user:secret@127.0.0.1/",
        "a broken address": "http://[::1/",
        "a port that is none": "http://127.0.0.1:99999/",
        "an address of 100,000 characters": "/" + "a" * 100_000,
        "an address that is none": "http://\x7f",
        "the cloud's own address": "http://169.254.169.254/latest/meta-data/",
    }
    for name, target in targets.items():
        yield Fault(f"redirect to {name}", redirect(target))
    for code in (300, 301, 303, 305, 306, 307, 308, 399):
        yield Fault(f"{code} without Location", body(b"", status=code))
    yield Fault("redirect to nothing", redirect(""))
    yield Fault("redirect to another origin", redirect_other_origin)
    yield Fault("redirect to a login page", redirect_to_page)
    yield Fault("redirect loop", redirect_loop)
    yield Fault("redirect to silence", redirect_to_silence, holds=True)
    yield Fault(
        "a redirect in the body", rewritten(lambda _: b'<meta http-equiv="refresh" content="0;url=/">')
    )


STATUSES: Final = list(_statuses())
"""Statuses that are no 200."""
REDIRECTS: Final = list(_redirects())
"""Redirects that lead nowhere, or astray."""
