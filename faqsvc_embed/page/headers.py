"""Decides which responses can be changed, and updates their headers."""

import codecs
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

BODY_HEADERS: Final = ("etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that describe the unchanged body."""
PREVIEW_HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("X-Robots-Tag", "noindex"),
    ("Referrer-Policy", "no-referrer"),
)
NEGOTIATED: Final = "Accept-Language"

_LIFETIMES: Final = ("max-age", "s-maxage", "stale-while-revalidate", "stale-if-error")
_DIGITS: Final = "[0-9]{1,18}"
_CHARSET: Final = r"""(?i)charset\s*=\s*["']?([^\s"';]{1,40})"""
_PROBE: Final = "<!--faqsvc 0-->"


class ResponseHead(NamedTuple):
    """The headers that decide whether the body of a response can be changed."""

    status: int
    content_type: str = ""
    content_encoding: str = ""
    content_range: str = ""

    @property
    def is_compressed(self) -> bool:
        """Whether the body is encoded, and so cannot be read."""
        return self.content_encoding.strip().lower() not in ("", "identity")

    @property
    def charset(self) -> str | None:
        """The charset of a complete HTML page that can be changed; None for any other response."""
        if self.status < 200 or self.status in (204, 205, 206, 304) or self.content_range:
            return None
        return None if self.is_compressed else _html_charset(self.content_type)


@lru_cache
def _html_charset(content_type: str) -> str | None:
    if content_type.partition(";")[0].strip().lower() != "text/html":
        return None
    named = re.search(_CHARSET, content_type)
    try:
        charset = codecs.lookup(named[1] if named else "utf-8").name
        # Some codecs of Python, such as base64, are not charsets.
        return charset if _PROBE.encode(charset).decode(charset) == _PROBE else None
    except (LookupError, ValueError):
        return None


def vary_by_language(present: Iterable[str]) -> str | None:
    """Return a Vary header that includes Accept-Language; None if the present one does."""
    names = [name for value in present for part in value.split(",") if (name := part.strip())]
    if not names:
        return NEGOTIATED
    if "*" in names or NEGOTIATED.lower() in (name.lower() for name in names):
        return None
    return ", ".join([*names, NEGOTIATED])


def may_be_shared(headers: Iterable[tuple[str, str]]) -> bool:
    """Return whether a cache may give a response to visitors with other languages."""
    fields = [(name.lower(), value) for name, value in headers]
    rules = ",".join(value.lower() for name, value in fields if _controls_caches(name))
    has_vary = vary_by_language(value for name, value in fields if name == "vary") is None
    if "no-store" in rules or "private" in rules or has_vary:
        return False
    return bool(rules) or any(name in ("etag", "expires", "last-modified") for name, _ in fields)


def limit_max_age(headers: Iterable[tuple[str, str]], limit: int) -> list[tuple[str, str]]:
    """Return headers that limit the lifetime of a response to `limit` seconds, and never lengthen it.

    A response without Cache-Control gets max-age=0, because a lifetime could make it cacheable.
    """
    kept, controls = list[tuple[str, str]](), dict[str, str]()
    for name, value in headers:
        if _controls_caches(name):
            known = next((other for other in controls if other.lower() == name.lower()), name)
            controls[known] = f"{controls[known]}, {value}" if known in controls else value
        elif name.lower() != "expires":
            kept.append((name, value))
    if not any(name.lower() == "cache-control" for name in controls):
        controls["Cache-Control"] = ""
    return kept + [(name, _limited(value, limit)) for name, value in controls.items()]


def of_preview(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a page with a draft: it is not cached, and its URL is not sent as a referrer."""
    replaced = {name.lower() for name, _ in PREVIEW_HEADERS} | {"expires"}
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in replaced and not _controls_caches(name)
    ]
    return kept + list(PREVIEW_HEADERS)


def _controls_caches(name: str) -> bool:
    """Return whether a header is for caches: of browsers, or of a CDN (RFC 9213)."""
    name = name.lower()
    return name in ("cache-control", "surrogate-control") or name.endswith("cdn-cache-control")


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
