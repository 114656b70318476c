"""Entity tags: 304 for clients that have the current version, and preconditions of writes (RFC 9110, 13)."""

import re
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.values import Preconditions

_ENTITY_TAG = re.compile(r'"([^"]*?)(?:-{1,2}(?:gzip|br|zstd|deflate)|;(?:gzip|br))?"')
"""An entity tag without what a proxy adds when it compresses: `W/`, or an end such as that of mod_deflate."""


def etag_of(tag: str) -> str:
    """Return the entity tag with an opaque part."""
    return f'"{tag}"'


def not_modified(request: Request, digest: str) -> bool:
    """Return whether the client has the version with this digest.

    Tags are compared weakly (13.1.2), because a proxy that compresses may have made the tag weak.
    """
    field = ", ".join(request.headers.getlist("if-none-match"))
    return is_current(field, etag_of(digest))


def is_current(if_none_match: str, etag: str) -> bool:
    """Return whether the header `If-None-Match` has an entity tag."""
    if if_none_match == etag:
        return True
    return if_none_match.strip() == "*" or etag.strip('"') in _ENTITY_TAG.findall(if_none_match)


def conditional_response(
    request: Request, body: bytes, media_type: str, headers: Mapping[str, str], *, digest: str
) -> Response:
    """Return `body` with its entity tag, or 304 if the request has `If-None-Match` with that tag."""
    headers = {**headers, "etag": f'"{digest}"', "x-content-type-options": "nosniff"}
    if not_modified(request, digest):
        return Response(None, 304, headers)
    return Response(body, 200, headers, media_type)


def preconditions(request: Request) -> Preconditions:
    """Return the preconditions of a write: `If-Match`, and `If-None-Match: *`, which only creates.

    Raises:
        Problem: a header has another value (422).
    """
    if_none_match = request.headers.get("if-none-match")
    if if_none_match not in (None, "*"):
        raise Problem.invalid("If-None-Match must be * in a write", code="invalid-parameter")
    if_match = request.headers.get("if-match")
    tags = None if if_match is None else ["*"] if if_match.strip() == "*" else _ENTITY_TAG.findall(if_match)
    if tags == []:
        raise Problem.invalid('If-Match must be an entity tag such as "0f5e", or *', code="invalid-parameter")
    return Preconditions(tags, is_create_only=if_none_match == "*")
