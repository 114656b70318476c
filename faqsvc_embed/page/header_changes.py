"""What a page changes in the headers of its response: the same in every adapter.

An adapter calls these in order: for a whole body that it has changed `headers_of_changed_body`, for a stream
`headers_of_stream`; then, for any response, `with_page_headers`.
"""

from collections.abc import Iterable
from typing import Final

from faqsvc_embed.api.cache_tags import with_cache_tags
from faqsvc_embed.page.cache_headers import controls_caches, limit_max_age, may_be_shared, vary_by_language
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.diagnostics import diagnostic_headers

_OF_BODY: Final = ("content-length", "etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that describe the unchanged body."""
_PREVIEW: Final = (
    ("Cache-Control", "no-store"),
    ("X-Robots-Tag", "noindex"),
    ("Referrer-Policy", "no-referrer"),
)

Headers = Iterable[tuple[str, str]]


def headers_of_changed_body(headers: Headers, length: int | None) -> list[tuple[str, str]]:
    """Return the headers of a response whose body is changed; `length` is None if it is not known."""
    kept = [(name, value) for name, value in headers if name.lower() not in _OF_BODY]
    return kept if length is None else [*kept, ("Content-Length", str(length))]


def headers_of_stream(page: Page, headers: Headers) -> list[tuple[str, str]]:
    """Return the headers of a stream, and decide what they say to caches: its later FAQs are not known."""
    headers = list(headers)
    if not page.negotiated:
        page.may_negotiate = not may_be_shared(headers)
    if page.may_degrade and page.has_open_placeholders:
        page.limit_max_age(0)
    if page.is_unfinished:
        return headers_of_changed_body(headers, None)
    return [header for header in headers if header[0].lower() != "content-length"]


def changes_headers(page: Page) -> bool:
    """Return whether the headers of a response depend on its page."""
    return bool(
        page.negotiated
        or page.max_age is not None
        or page.preview is not None
        or page.is_diagnosed
        or page.slugs
    )


def with_page_headers(page: Page, headers: Headers) -> list[tuple[str, str]]:
    """Return the headers of a response, changed as its page needs: Vary, lifetimes, cache tags."""
    changed = list(headers)
    if page.negotiated:
        vary = vary_by_language(value for name, value in changed if name.lower() == "vary")
        if vary is not None:
            changed = [(name, value) for name, value in changed if name.lower() != "vary"] + [("Vary", vary)]
    if page.max_age is not None:
        changed = limit_max_age(changed, page.max_age)
    if page.is_diagnosed:
        changed += diagnostic_headers(page)
    if page.preview is not None:
        return _of_preview(changed)
    return with_cache_tags(changed, page.slugs) if page.slugs else changed


def _of_preview(headers: Headers) -> list[tuple[str, str]]:
    """Return the headers of a page with a draft: it is not cached, and its URL is not sent as a referrer."""
    replaced = {name.lower() for name, _ in _PREVIEW} | {"expires"}
    kept = [
        (name, value) for name, value in headers if name.lower() not in replaced and not controls_caches(name)
    ]
    return kept + list(_PREVIEW)
