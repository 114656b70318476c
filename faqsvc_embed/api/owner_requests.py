"""The requests that only the owner of an FAQ may make: lists, history, previews and unpublishing.

The transport adds the API key. `contract.py` has the bodies of their responses.
"""

from typing import Literal
from urllib.parse import quote, urlencode

from faqsvc_embed.api.contract import LIST_PATH, MAX_LIMIT
from faqsvc_embed.api.requests import API_PATH, Request, write_request


def list_request(base_url: str, after: str | None = None, **query: str | None) -> Request:
    """Return the request for one page of the site's FAQs; `after` is the cursor of the previous page."""
    return _read_request(base_url + LIST_PATH, limit=str(MAX_LIMIT), after=after, **query)


def revisions_request(
    base_url: str, slug: str, lang: str | None, after: str | None = None, *, limit: int = MAX_LIMIT
) -> Request:
    """Return the request for one page of the history of an FAQ."""
    return _read_request(f"{_faq_url(base_url, slug)}/revisions", lang=lang, limit=str(limit), after=after)


def revision_request(base_url: str, slug: str, number: int, lang: str | None) -> Request:
    """Return the request for one revision, whole."""
    return _read_request(f"{_faq_url(base_url, slug)}/revisions/{number}", lang=lang)


def publish_revision_request(base_url: str, slug: str, number: int, lang: str | None) -> Request:
    """Return the request that publishes a draft, or an earlier revision again."""
    url = f"{_faq_url(base_url, slug)}/revisions/{number}/publish"
    return write_request("POST", _with_query(url, lang=lang))


def preview_request(base_url: str, slug: str, lang: str | None) -> Request:
    """Return the request for a preview token."""
    return write_request("POST", _with_query(f"{_faq_url(base_url, slug)}/preview", lang=lang))


def unpublish_request(base_url: str, slug: str, lang: str | None, *, purge: bool | Literal["now"]) -> Request:
    """Return the request that unpublishes an FAQ or one translation.

    With `purge` it goes to the bin, with `purge="now"` its texts and its history are deleted at once.
    """
    value = {False: None, True: "true", "now": "now"}[purge]
    return write_request("DELETE", _with_query(_faq_url(base_url, slug), lang=lang, purge=value))


def restore_request(base_url: str, slug: str, lang: str | None) -> Request:
    """Return the request that brings an FAQ back, or one translation."""
    return write_request("POST", _with_query(f"{_faq_url(base_url, slug)}/restore", lang=lang))


def _faq_url(base_url: str, slug: str) -> str:
    return f"{base_url}{API_PATH}/{quote(slug, safe='')}"


def _read_request(url: str, **query: str | None) -> Request:
    return Request(_with_query(url, **query), {"accept": "application/json", "accept-encoding": "gzip"})


def _with_query(url: str, **query: str | None) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{url}?{urlencode(given)}" if given else url
