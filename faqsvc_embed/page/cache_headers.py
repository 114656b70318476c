"""Reads and limits the headers for caches: Vary, Cache-Control and those like it."""

import re
from collections.abc import Iterable
from typing import Final

NEGOTIATED: Final = "Accept-Language"

_LIFETIMES: Final = ("max-age", "s-maxage", "stale-while-revalidate", "stale-if-error")
_DIGITS: Final = "[0-9]{1,18}"


def vary_by_language(present: Iterable[str]) -> str | None:
    """Return a Vary header that includes Accept-Language; None if the present one does."""
    names = [name for value in present for part in value.split(",") if (name := part.strip())]
    if not names:
        return NEGOTIATED
    if "*" in names or NEGOTIATED.lower() in (name.lower() for name in names):
        return None
    return ", ".join([*names, NEGOTIATED])


def may_be_shared(headers: Iterable[tuple[str | bytes, str | bytes]]) -> bool:
    """Return whether a cache may give a response to visitors with other languages."""
    fields = [(_text(name).lower(), _text(value)) for name, value in headers]
    rules = ",".join(value.lower() for name, value in fields if controls_caches(name))
    has_vary = vary_by_language(value for name, value in fields if name == "vary") is None
    if "no-store" in rules or "private" in rules or has_vary:
        return False
    return bool(rules) or any(name in ("etag", "expires", "last-modified") for name, _ in fields)


def limit_max_age(headers: Iterable[tuple[str, str]], limit: int) -> list[tuple[str, str]]:
    """Return headers that limit the lifetime of a response to `limit` seconds; they never extend it.

    A response without Cache-Control gets max-age=0, because a lifetime could make it cacheable.
    """
    kept, controls = list[tuple[str, str]](), dict[str, str]()
    for name, value in headers:
        if controls_caches(name):
            known = next((other for other in controls if other.lower() == name.lower()), name)
            controls[known] = f"{controls[known]}, {value}" if known in controls else value
        elif name.lower() != "expires":
            kept.append((name, value))
    if not any(name.lower() == "cache-control" for name in controls):
        controls["Cache-Control"] = ""
    return kept + [(name, _limited(value, limit)) for name, value in controls.items()]


def controls_caches(name: str) -> bool:
    """Return whether a header is for caches: of browsers, or of a CDN (RFC 9213)."""
    name = name.lower()
    return name in ("cache-control", "surrogate-control") or name.endswith("cdn-cache-control")


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _limited(value: str, limit: int) -> str:
    """Return Cache-Control directives with no lifetime above `limit` (RFC 9111, 5.2)."""
    directives, names = list[str](), set[str]()
    for directive in filter(None, map(str.strip, value.split(","))):
        name, _, argument = directive.partition("=")
        name = name.strip().lower()
        names.add(name)
        if name in _LIFETIMES:
            seconds = argument.strip().strip('"')
            directives.append(f"{name}={min(int(seconds), limit) if re.fullmatch(_DIGITS, seconds) else 0}")
        elif name != "immutable":  # it would stop caches from revalidating
            directives.append(directive)
    if not names & {"max-age", "no-store", "no-cache"}:
        directives.append("max-age=0")
    return ", ".join(directives)
