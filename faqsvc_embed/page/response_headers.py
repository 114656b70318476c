"""The headers of a response, as its page needs them: the same in every adapter."""

from collections.abc import Iterable

from faqsvc_embed.api.cache_tags import with_cache_tags
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.diagnostics import diagnostic_headers
from faqsvc_embed.page.headers import limit_max_age, of_preview, vary_by_language


def changes_headers(page: Page) -> bool:
    """Return whether the headers of a response depend on its page."""
    return bool(
        page.negotiated
        or page.max_age is not None
        or page.preview is not None
        or page.is_diagnosed
        or page.slugs
    )


def with_page_headers(page: Page, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
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
        return of_preview(changed)
    return with_cache_tags(changed, page.slugs) if page.slugs else changed
