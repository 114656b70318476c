"""Redirects that a reader must not follow, or that lead to no record."""

from collections.abc import Iterator
from typing import Final

from tests.support.faults.behaviours import body, redirect
from tests.support.faults.exchange import Exchange
from tests.support.faults.kinds import Fault

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
        "a script": "javascript:alert(1)",
        "data": "data:application/json,{}",
        "FTP": "ftp://127.0.0.1/",
        "https": "https://127.0.0.1/",
        "another port": "http://127.0.0.1:1/",
        "another host": "//localhost/",
        "a URL with credentials": "http://user:secret@127.0.0.1/",
        "a broken IPv6 address": "http://[::1/",
        "an invalid port": "http://127.0.0.1:99999/",
        "a URL of 100,000 characters": "/" + "a" * 100_000,
        "an invalid host": "http://\x7f",
        "a cloud metadata address": "http://169.254.169.254/latest/meta-data/",
        "an empty URL": "",
    }
    for name, target in targets.items():
        yield Fault(f"redirect to {name}", redirect(target))


REDIRECTS: Final = [
    *_targets(),
    *(Fault(f"{code} without Location", body(b"", status=code)) for code in _CODES),
    Fault("redirect to a login page", redirect_to_login),
    Fault("redirect to a path that hangs", redirect_to_hang),
    Fault("redirect in HTML", body(b'<meta http-equiv="refresh" content="0;url=/">')),
]
"""Redirects that a reader must not follow, or that lead to no record."""
