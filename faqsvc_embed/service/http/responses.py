"""Responses: problem documents (RFC 9457), entity tags (RFC 9110, 13), and what clients accept (12.5)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final, Self, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed import languages
from faqsvc_embed.api import contract
from faqsvc_embed.api.changes import ChangeRefused
from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.fields import Code
from faqsvc_embed.errors import FAQError, FAQNotFound
from faqsvc_embed.service.storage import StorageUnavailable, errors
from faqsvc_embed.service.storage.values import Preconditions, Revision

HTML: Final = "text/html"
JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
PROBLEM: Final = "application/problem+json"

PRIVATE: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""The headers of what no cache may keep."""
PREVIEW_HEADERS: Final = {**PRIVATE, "referrer-policy": "no-referrer", "x-robots-tag": "noindex"}
"""The headers of what only somebody with a preview token may see."""

_STORAGE_ERRORS: Final[dict[type[Exception], tuple[int, Code]]] = {
    FAQNotFound: (404, "not-found"),
    errors.Gone: (410, "gone"),
    errors.IdempotencyKeyReused: (422, "idempotency-key-reused"),
    errors.NothingToRestore: (404, "nothing-to-restore"),
    errors.InvalidCursor: (422, "invalid-parameter"),
    errors.NotYourSite: (403, "not-your-site"),
    errors.QuotaExceeded: (409, "quota-exceeded"),
    errors.ReservedSlug: (422, "invalid-parameter"),
    errors.OldFile: (412, "old-file"),
    errors.RevisionConflict: (412, "revision-conflict"),
    errors.Unpublished: (409, "unpublished"),
}


class Problem(Exception):
    """An error response that a handler raises.

    `problems` lists every reason if there can be several. `headers` are added to the response, and
    `extra` are further members of the document.
    """

    def __init__(
        self,
        status: int,
        code: Code,
        detail: str,
        *,
        problems: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code: Code = code
        self.detail = detail
        self.problems: list[str] = list(problems)
        self.headers: dict[str, str] = dict(headers or {})
        self.extra = extra
        self.website_url = ""  # of the owner, for a page about an FAQ that is gone

    @classmethod
    def invalid(cls, *problems: str, code: Code = "invalid-body", **extra: Any) -> Self:
        """Return a 422 that lists every problem of a request."""
        detail = problems[0] if len(problems) == 1 else f"The request has {len(problems)} problems"
        return cls(422, code, detail, problems=problems, **extra)

    @classmethod
    def too_early(cls, reason: str, wait: float) -> Self:
        """Return a 429 for a request that is `wait` seconds too early."""
        seconds = max(1, math.ceil(wait))
        headers = {"retry-after": str(seconds)}
        return cls(429, "rate-limited", f"{reason}; try again in {seconds} s", headers=headers)

    @classmethod
    def of(cls, error: "Problem | FAQError") -> "Problem":
        """Return the problem for an error; raise it again if it is unexpected."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, StorageUnavailable):
            # Its own message names the database, which is not for the public.
            detail = "The database is not available; try again"
            return Problem(503, "unavailable", detail, headers={"retry-after": "1"})
        if isinstance(error, errors.TooManyWrites):
            return Problem.too_early(str(error), error.wait)
        if isinstance(error, errors.Incomplete):
            return Problem.invalid(*(f"{name} is missing" for name in error.fields))
        if isinstance(error, ChangeRefused):
            code, closest = cast("Code", error.code), list(error.closest)
            return Problem.invalid(str(error), code=code, index=error.index, closest=closest)
        if type(error) not in _STORAGE_ERRORS:
            raise error
        problem = Problem(*_STORAGE_ERRORS[type(error)], str(error))
        if isinstance(error, errors.RevisionConflict):
            newest = error.current
            problem.extra = {"revision": newest.number if newest else 0, "current": _current(newest)}
        if isinstance(error, errors.Gone):
            problem.website_url = error.website_url
        return problem

    def response(self) -> Response:
        """Return the response. It is not cacheable, because the same request may succeed soon."""
        document = contract.Problem(
            HTTPStatus(self.status).phrase,
            self.status,
            self.detail,
            self.code,
            problems=self.problems or msgspec.UNSET,
            **self.extra,
        )
        return Response(
            # ASCII only: a detail may quote a lone surrogate, which UTF-8 cannot encode.
            json.dumps(msgspec.to_builtins(document)),
            self.status,
            {**PRIVATE, **self.headers},
            PROBLEM,
        )


def _current(revision: Revision | None) -> contract.CurrentRevision | msgspec.UnsetType:
    if revision is None:
        return msgspec.UNSET
    return contract.CurrentRevision(
        revision.number,
        f'"{revision.tag}"',
        revision.translation_state,
        revision.created_at,
        revision.author,
        msgspec.json.decode(revision.record, type=contract.Record).items,
        revision.state == "draft",
    )


MAX_HEADER: Final = 4096
"""Characters of an `Accept` header that are read."""

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


_ENTITY_TAG: Final = re.compile(r'"([^"]*?)(?:-{1,2}(?:gzip|br|zstd|deflate)|;(?:gzip|br))?"')
"""An entity tag without what a proxy adds when it compresses: `W/`, or an end such as that of mod_deflate."""


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


def private_response(
    body: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a struct of the contract as JSON."""
    content = msgspec.json.encode(body)
    return Response(content, status, {**PRIVATE, **(headers or {})}, JSON)
