"""GET /api/v1/faq/{slug}: a published FAQ, for everybody, kept by anybody for an hour."""

import hashlib
import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.reading import is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.storage import Storage

CACHE_CONTROL: Final = "public, max-age=3600"  # specification, Limits
MEDIA_TYPE: Final = "application/json"

_ENTITY_TAG = re.compile(r'"[^"]*"')


async def read_faq(storage: Storage, request: Request) -> Response:
    """Answer with the record in the language of `lang`, or in the FAQ's own if it has not that one."""
    accepted(request, MEDIA_TYPE)
    lang = request.query_params.get("lang")
    if lang is not None and lang not in LANGUAGES:
        problem = f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted"
        raise Problem(422, problem, problems=[problem])
    slug = request.path_params["slug"]
    # What can be no slug is not asked for: a database may choke on a NUL.
    edition = await ask(partial(storage.edition, slug, lang)) if is_slug(slug) else None
    if edition is None:
        raise Problem(404, f"there is no FAQ {quoted(slug)}")
    headers = {"content-language": edition.lang}
    return cacheable(request, edition.record.encode(), MEDIA_TYPE, CACHE_CONTROL, headers)


def cacheable(
    request: Request, body: bytes, media_type: str, cache_control: str, headers: Mapping[str, str]
) -> Response:
    """Answer with `body`, unless the request says that it is held already (304)."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {
        **headers,
        "cache-control": cache_control,
        "etag": etag,
        "x-content-type-options": "nosniff",
    }
    if _is_held(etag, request.headers.getlist("if-none-match")):
        return Response(None, 304, headers)
    return Response(body, 200, headers, media_type)


def _is_held(etag: str, if_none_match: list[str]) -> bool:
    """Compare weakly (RFC 9110, 13.1.2): a proxy that compresses may have marked the tag as weak."""
    return any(field.strip() == "*" or etag in _ENTITY_TAG.findall(field) for field in if_none_match)
