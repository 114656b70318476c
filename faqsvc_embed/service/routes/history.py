"""Routes for owners: revisions, and previews of drafts."""

from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import (
    Preview,
    PublishResponse,
    Record,
    Revision,
    RevisionContent,
    RevisionList,
)
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import etag_of, preconditions, private_response
from faqsvc_embed.service.http.operation import FAQ_PATH, IF_MATCH, KEYED, WRITES, Operation
from faqsvc_embed.service.http.requests import lang_of, number_of, page_of, slug_of
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.routes.publish import write_response
from faqsvc_embed.service.storage import values
from faqsvc_embed.service.storage.values import Access


@Operation(
    "get",
    f"{FAQ_PATH}/revisions",
    KEYED,
    scope="read",
    response=RevisionList,
    query=("lang", "limit", "after:revision"),
)
async def list_revisions(service: ServiceContext, request: Request, access: Access) -> Response:
    """List the revisions of a translation, newest first."""
    arguments = (access, slug_of(request), lang_of(request))
    revisions = partial(service.storage.history.revisions, *arguments, **page_of(request))
    found, next_ = await service.browse(revisions)
    own = await service.browse(service.storage.keys.with_predecessors, access.key_id)
    return private_response(RevisionList([Revision(**_fields(one, own)) for one in found], next_))


@Operation(
    "get", f"{FAQ_PATH}/revisions/{{number}}", KEYED, scope="read", response=RevisionContent, query=("lang",)
)
async def read_revision(service: ServiceContext, request: Request, access: Access) -> Response:
    """Read one revision."""
    arguments = (access, slug_of(request), lang_of(request), number_of(request))
    revision = await service.browse(service.storage.history.revision, *arguments)
    own = await service.browse(service.storage.keys.with_predecessors, access.key_id)
    body = RevisionContent(
        **_fields(revision, own),
        website_url=revision.website_url,
        faq=msgspec.json.decode(revision.record, type=Record),
    )
    headers = {"etag": etag_of(revision.tag), "content-language": revision.lang}
    return private_response(body, headers=headers)


def _fields(revision: values.Revision, own: set[str]) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "state": revision.state,
        "created_at": revision.created_at,
        "key": revision.author,
        "etag": etag_of(revision.tag),
        "own": revision.key_id in own if revision.author else None,
        "discarded": revision.discarded_at is not None,
    }


@Operation(
    "post",
    f"{FAQ_PATH}/revisions/{{number}}/publish",
    WRITES,
    scope="publish",
    response=PublishResponse,
    query=("lang",),
    note=IF_MATCH,
)
async def publish_revision(service: ServiceContext, request: Request, access: Access) -> Response:
    """Publish a draft, or an earlier revision again."""
    urls = service.urls(request)
    arguments = (access, slug_of(request), number_of(request), lang_of(request), preconditions(request))
    publish = partial(service.storage.writer.publish, *arguments)
    return write_response(urls, await run_blocking(publish, limiter=service.writers), 200)


@Operation(
    "post", f"{FAQ_PATH}/preview", KEYED, statuses=(201,), scope="read", response=Preview, query=("lang",)
)
async def create_preview(service: ServiceContext, request: Request, access: Access) -> Response:
    """Create a token that reads the newest revision for an hour."""
    create = partial(service.storage.history.create_preview, access, slug_of(request), lang_of(request))
    return private_response(Preview(*await run_blocking(create, limiter=service.writers)), 201)
