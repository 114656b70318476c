"""What a page changes in the headers of its response: Vary, lifetimes in caches, and cache tags.

Changes are values by name, and None for a header that goes; an adapter applies them in place.
"""

import codecs
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote

from faqsvc_embed.api.fields import is_slug

if TYPE_CHECKING:
    from faqsvc_embed.page.page import Page

Headers = Iterable[tuple[str, str]]
Changes = dict[str, str | None]


class MutableHeaders(Protocol):
    """The headers of a response in Flask or Django."""

    def __setitem__(self, name: str, value: str, /) -> None: ...

    def pop(self, name: str, default: None, /) -> object: ...


NEGOTIATED: Final = "Accept-Language"
MAX_LENGTH: Final = 1_000
"""Characters of cache tags in each header: nginx refuses a response whose head is larger than 4 kB."""

_OF_BODY: Final = ("Content-Length", "ETag", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest")
"""Headers that describe the body before its placeholders were filled."""
_PREVIEW: Final = {
    "Expires": None,
    "ETag": None,
    "Last-Modified": None,
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "no-referrer",
}
_SEPARATORS: Final = {"Cache-Groups": ", ", "Surrogate-Key": " ", "Cache-Tag": ","}
"""The headers with cache tags: that of RFC 9875, of Fastly and Varnish, and of Cloudflare and Akamai."""
_LIFETIMES: Final = ("max-age", "s-maxage", "stale-while-revalidate", "stale-if-error")
_DIGITS: Final = "[0-9]{1,18}"
_CHARSET: Final = r"""(?i)charset\s*=\s*["']?([^\s"';]{1,40})"""


def page_changes(page: "Page", headers: Headers) -> Changes:
    """Return what a page changes in the headers of its response."""
    if not (page.negotiated or page.preview or page.slugs or page.max_age is not None):
        return {}
    headers, changes = list(headers), Changes()
    present = _joined(headers)
    if page.negotiated and (vary := vary_by_language(present.get("vary", ""))) is not None:
        changes["Vary"] = vary
    if page.preview is not None:  # it is not cached, and its URL is not sent as a referrer
        changes.update(dict.fromkeys(filter(controls_caches, present)))
        return {**changes, **_PREVIEW}
    if page.max_age is not None:
        changes.update(max_age_changes(present, page.max_age))
    return changes | cache_tag_changes(headers, page.slugs or ())


def change(headers: MutableHeaders, changes: Changes) -> None:
    """Change headers in place."""
    for name, value in changes.items():
        if value is None:
            headers.pop(name, None)
        else:
            headers[name] = value


def applied(headers: Headers, changes: Mapping[str, str | None]) -> list[tuple[str, str]]:
    """Return headers with changes."""
    names = {name.lower() for name in changes}
    kept = [(name, value) for name, value in headers if name.lower() not in names]
    return kept + [(name, value) for name, value in changes.items() if value is not None]


def _joined(headers: Headers) -> dict[str, str]:
    """Return the value of each header by its name in lower case (RFC 9110, 5.3)."""
    joined: dict[str, str] = {}
    for given, value in headers:
        name = given.lower()
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


# Bodies


def fillable_charset(status: int, headers: Headers) -> str | None:
    """Return the charset of a response whose placeholders can be filled: a complete, readable HTML page."""
    values = {name.lower(): value for name, value in headers}
    if status < 200 or status in (204, 205, 206, 304) or "content-range" in values:
        return None
    if values.get("content-encoding", "").strip().lower() not in ("", "identity"):
        return None
    return _html_charset(values.get("content-type", ""))


def _html_charset(content_type: str) -> str | None:
    if content_type.partition(";")[0].strip().lower() != "text/html":
        return None
    named = re.search(_CHARSET, content_type)
    try:
        charset = codecs.lookup(named[1] if named else "utf-8").name
        # UTF-16 is not accepted, nor are codecs of Python that are no charsets, such as base64.
        return charset if "<!-- -->".encode(charset) == b"<!-- -->" else None
    except (LookupError, ValueError):
        return None


def filled_body_changes(length: int | None = None) -> Changes:
    """Return the changes for a body whose placeholders are filled; `length` is None if it is not known."""
    changes: Changes = dict.fromkeys(_OF_BODY)
    return changes if length is None else {**changes, "Content-Length": str(length)}


# Caches


def vary_by_language(present: str) -> str | None:
    """Return a Vary header that includes Accept-Language; None if the present one does."""
    names = [name for part in present.split(",") if (name := part.strip())]
    if not names:
        return NEGOTIATED
    if "*" in names or NEGOTIATED.lower() in (name.lower() for name in names):
        return None
    return ", ".join([*names, NEGOTIATED])


def may_be_shared(headers: Headers) -> bool:
    """Return whether a cache may give a response to visitors with other languages."""
    fields = _joined(headers)
    rules = ",".join(value.lower() for name, value in fields.items() if controls_caches(name))
    if "no-store" in rules or "private" in rules or vary_by_language(fields.get("vary", "")) is None:
        return False
    return bool(rules) or not fields.keys().isdisjoint(("etag", "expires", "last-modified"))


def max_age_changes(present: Mapping[str, str], limit: int) -> Changes:
    """Return changes that limit the lifetime of a response to `limit` seconds; they never extend it.

    A response without Cache-Control gets max-age=0, because a lifetime could make it cacheable.
    """
    controls = {"cache-control": "", **{name: present[name] for name in filter(controls_caches, present)}}
    changes: Changes = {name.title(): _limited(value, limit) for name, value in controls.items()}
    return {"Expires": None, **changes}


def controls_caches(name: str) -> bool:
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


def cache_tag_changes(headers: Headers, slugs: Iterable[str]) -> Changes:
    """Return the headers by which a cache finds and purges the pages with these FAQs, after the host's tags.

    A tag is `faq-` and a slug, percent-encoded.
    """
    tags, length = list[str](), 0
    for tag in (f"faq-{quote(slug, safe='')}" for slug in slugs if is_slug(slug)):
        if (longer := length + len(f'"{tag}", ')) <= MAX_LENGTH:
            length = longer
            tags.append(tag)
    changes = Changes()
    for name, separator in _SEPARATORS.items() if tags else ():
        before = [value for given, value in headers if given.lower() == name.lower()]
        own = [f'"{tag}"' if name == "Cache-Groups" else tag for tag in tags]  # RFC 9875: a list of strings
        changes[name] = separator.join([*before, *own])
    return changes
