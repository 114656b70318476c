"""Changes the headers of a response as its page needs, for every adapter."""

import codecs
import re
from collections.abc import Iterable
from typing import Final

from faqsvc_embed.api.cache_tags import with_cache_tags
from faqsvc_embed.page.cache_headers import controls_caches, limit_max_age, vary_by_language
from faqsvc_embed.page.page import Page

Headers = Iterable[tuple[str, str]]

_OF_BODY: Final = ("content-length", "etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that describe the body before its placeholders were filled."""
_PREVIEW: Final = (
    ("Cache-Control", "no-store"),
    ("X-Robots-Tag", "noindex"),
    ("Referrer-Policy", "no-referrer"),
)
_CHARSET: Final = r"""(?i)charset\s*=\s*["']?([^\s"';]{1,40})"""


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
        # Some codecs of Python, such as base64, are not charsets.
        return charset if "<!-- -->".encode(charset).decode(charset) == "<!-- -->" else None
    except (LookupError, ValueError):
        return None


def headers_of_filled_body(headers: Headers, length: int | None = None) -> list[tuple[str, str]]:
    """Return the headers of a body whose placeholders are filled; `length` is None if it is not known."""
    kept = [(name, value) for name, value in headers if name.lower() not in _OF_BODY]
    return kept if length is None else [*kept, ("Content-Length", str(length))]


def changes_headers(page: Page) -> bool:
    """Return whether the headers of a response depend on its page."""
    return bool(page.negotiated or page.max_age is not None or page.preview is not None or page.slugs)


def with_page_headers(page: Page, headers: Headers) -> list[tuple[str, str]]:
    """Return the headers of a response, changed as its page needs: Vary, lifetimes, cache tags."""
    changed = list(headers)
    if page.negotiated:
        vary = vary_by_language(value for name, value in changed if name.lower() == "vary")
        if vary is not None:
            changed = [(name, value) for name, value in changed if name.lower() != "vary"] + [("Vary", vary)]
    if page.max_age is not None:
        changed = limit_max_age(changed, page.max_age)
    if page.preview is not None:
        return _of_preview(changed)
    return with_cache_tags(changed, page.slugs) if page.slugs else changed


def _of_preview(headers: Headers) -> list[tuple[str, str]]:
    """Return the headers of a page with a draft: it is not cached, and its URL is not sent as a referrer."""
    replaced = {name.lower() for name, _ in _PREVIEW} | {"expires", "etag", "last-modified"}
    kept = [
        (name, value) for name, value in headers if name.lower() not in replaced and not controls_caches(name)
    ]
    return kept + list(_PREVIEW)
