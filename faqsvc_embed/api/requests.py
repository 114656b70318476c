"""Requests to the service, as values; docs/reference/service.md lists its routes."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from faqsvc_embed.api.contract import FollowBody

API_PATH: Final = "/api/v1/faq"
FEED_PATH: Final = "/api/v1/events"
EVENT_STREAM: Final = "text/event-stream"
KEY_HEADER: Final = "X-Plugin-Key"
REDIRECTS: Final = (301, 302, 303, 307, 308)


class Request(msgspec.Struct, frozen=True):
    """An HTTP request without API key and cookies; the transport adds the key."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


class Validators(msgspec.Struct, frozen=True):
    """The validators of a cached record, for a conditional request (RFC 9110, 13.1)."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None


NO_VALIDATORS: Final = Validators()
_READ_HEADERS: Final = {"accept": "application/json", "accept-encoding": "gzip"}


def faq_url(base_url: str, slug: str, rest: str = "", **query: str | None) -> str:
    """Return the address of an FAQ, or of `rest` below it, such as `/revisions`."""
    return with_query(f"{base_url}{API_PATH}/{quote(slug, safe='')}{rest}", **query)


def with_query(url: str, **query: str | None) -> str:
    """Return an address with the parameters that are not None; they replace its own of the same names."""
    given = {name: value for name, value in query.items() if value is not None}
    url, hash_, fragment = url.partition("#")
    url, _, own = url.partition("?")
    kept = [pair for pair in parse_qsl(own, keep_blank_values=True) if pair[0] not in given]
    parameters = urlencode([*kept, *given.items()], errors="replace")
    return f"{url}{'?' if parameters else ''}{parameters}{hash_}{fragment}"


@cache
def user_agent() -> str:
    """Return the User-Agent of all requests: the package with its version (RFC 9110, 10.1.5)."""
    return f"faqsvc-embed/{version('faqsvc-embed')}"


def read_request(
    base_url: str,
    slug: str,
    lang: str | None = None,
    validators: Validators = NO_VALIDATORS,
    headers: Mapping[str, str] | None = None,
) -> Request:
    """Return the request that reads one FAQ; it is conditional if there are validators."""
    sent = {**_READ_HEADERS, **(headers or {})}
    if validators.etag is not None:
        sent["if-none-match"] = validators.etag
    elif validators.last_modified is not None:
        sent["if-modified-since"] = validators.last_modified
    return Request(faq_url(base_url, slug, lang=lang), sent)


def feed_request(base_url: str, slugs: Iterable[str], last_id: str = "") -> Request:
    """Return the request for the changes of `slugs` after the event `last_id`."""
    headers = {
        "accept": EVENT_STREAM,
        "accept-encoding": "identity",
        "cache-control": "no-cache",
        "content-type": "application/json",
    }
    if last_id:
        headers["last-event-id"] = last_id
    body = msgspec.json.encode(FollowBody(list(slugs)))
    return Request(f"{base_url}{FEED_PATH}", headers, "POST", body)


def owner_request(url: str) -> Request:
    """Return a request that reads what only the owner of an FAQ may read; the transport adds the API key."""
    return Request(url, _READ_HEADERS)


def write_request(
    method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Request:
    """Return a request that needs the API key, which the transport adds."""
    # The response is uncompressed: it is small, and an error must stay readable.
    common = {"accept": "application/json", "accept-encoding": "identity"}
    if body:
        common["content-type"] = "application/json"
    return Request(url, {**common, **(headers or {})}, method, body)
