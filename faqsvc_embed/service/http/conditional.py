"""Responses, and what they depend on: entity tags (RFC 9110, 13), Accept and Accept-Language (12.5)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed import languages
from faqsvc_embed.api.content import digest_of
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.values import Preconditions

MAX_HEADER: Final = 4096
"""Characters of the header that are read."""

_RANGE: Final = r"(?a)[!#$%&'*+.^`|~\w-]+/[!#$%&'*+.^`|~\w-]+"


def best_media_type(request: Request, *offers: str) -> str:
    """Return the offer that the client prefers, else the first; raise Problem (406) if it accepts none."""
    if best := media_type_for(", ".join(request.headers.getlist("accept"))[:MAX_HEADER], offers):
        return best
    raise Problem(406, "not-acceptable", f"Available media types: {', '.join(offers)}")


@lru_cache(maxsize=256)  # most clients send one of a few headers
def media_type_for(header: str, offers: tuple[str, ...]) -> str | None:
    """Return the offer that an `Accept` header prefers; None if it accepts none.

    The RFC does not order equal qualities. Here a named type beats a wildcard, and of two named types
    the first in the header wins.
    """
    ranges = list(languages.weighted(header, _RANGE))
    if not ranges:
        return offers[0]
    best = max(offers, key=lambda offer: _rank(offer, ranges))  # `max` returns the first of equals
    return best if _rank(best, ranges)[0] > 0 else None


def preferred_language(request: Request, available: Sequence[str]) -> str:
    """Return the available language that the reader prefers, by default the first one."""
    return language_for(", ".join(request.headers.getlist("accept-language")), tuple(available))


def language_for(header: str, available: tuple[str, ...]) -> str:
    """Return the available language that an `Accept-Language` header prefers, by default the first one."""
    return languages.negotiate(header, available[0], available) or available[0]


def _rank(offer: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int, int]:
    """Return the quality of an offer, and how specific and how early the range is that matches it."""
    family = offer.partition("/")[0] + "/*"
    for specificity, pattern in ((2, offer), (1, family), (0, "*/*")):
        for place, (media_range, quality) in enumerate(ranges):
            if media_range == pattern:
                return quality, specificity, -place if specificity == 2 else 0
    return 0.0, 0, 0


_ENTITY_TAG = re.compile(r'"([^"]*?)(?:-{1,2}(?:gzip|br|zstd|deflate)|;(?:gzip|br))?"')
"""An entity tag without what a proxy adds when it compresses: `W/`, or an end such as that of mod_deflate."""

PREVIEW_HEADERS: Final = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
}
"""The headers of what only somebody with a preview token may see."""


def etag_of(tag: str) -> str:
    """Return the entity tag with an opaque part."""
    return f'"{tag}"'


def is_current(if_none_match: str, etag: str) -> bool:
    """Return whether the header `If-None-Match` has an entity tag."""
    if if_none_match == etag:
        return True
    return if_none_match.strip() == "*" or etag.strip('"') in _ENTITY_TAG.findall(if_none_match)


def public_response(
    text: str, media_type: str, headers: Mapping[str, str], *, digest: str | None = None
) -> Response:
    """Return a response with an entity tag, by default of its text and headers.

    The response cache makes the responses to HEAD, and those without a body (304) from it.
    """
    tag = etag_of(digest or digest_of(f"{headers}{text}"))
    headers = {**headers, "etag": tag, "x-content-type-options": "nosniff"}
    return Response(text.encode(), 200, headers, media_type)


def preconditions(request: Request) -> Preconditions:
    """Return the preconditions of a write: `If-Match`, and `If-None-Match: *`, which only creates.

    Raises Problem (422) if a header has another value.
    """
    if_none_match = request.headers.get("if-none-match")
    if if_none_match not in (None, "*"):
        raise Problem.invalid("If-None-Match must be * in a write", code="invalid-parameter")
    if_match = request.headers.get("if-match")
    tags = None if if_match is None else _ENTITY_TAG.findall(if_match)
    if tags == [] and (if_match or "").strip() != "*":
        raise Problem.invalid('If-Match must be an entity tag such as "0f5e", or *', code="invalid-parameter")
    return Preconditions(tags, is_create_only=if_none_match == "*")


_PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def private_response(
    body: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a struct of the contract as JSON."""
    content = msgspec.json.encode(body)
    return Response(content, status, {**_PRIVATE, **(headers or {})}, "application/json")
