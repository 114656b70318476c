"""Routes for owners: the list of FAQs, their history, previews of drafts, removal, generation."""

from functools import partial
from typing import Any, Literal, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import (
    LIST_PATH,
    FAQList,
    FAQSummary,
    GenerateBody,
    GenerateResponse,
    Preview,
    PublishResponse,
    Record,
    Revision,
    RevisionContent,
    RevisionList,
    State,
    TranslationSummary,
)
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import etag_of, preconditions, private_response
from faqsvc_embed.service.http.operation import BODIES, FAQ_PATH, IF_MATCH, KEYED, WRITES, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import lang_of, number_of, page_of, slug_of
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.routes.publish import write_response
from faqsvc_embed.service.storage import values
from faqsvc_embed.service.storage.overview import FAQInfo, Filter
from faqsvc_embed.service.storage.values import Access

MAX_SEARCH = 200
"""Characters of `q` that are searched for."""


@Operation(
    "get",
    LIST_PATH,
    KEYED,
    scope="read",
    response=FAQList,
    query=("q", "state", "lang", "limit", "after:faq"),
    note="`state=draft` lists every FAQ that has a draft; `state=binned` lists the bin.",
)
async def list_faqs(service: ServiceContext, request: Request, access: Access) -> Response:
    """List the FAQs of the site, the last changed first."""
    state, search = (request.query_params.get(name) for name in ("state", "q"))
    if problems := field_problems("state", state, State | None):
        raise Problem.invalid(*problems, code="invalid-parameter")
    wanted = Filter(
        search=(search or "")[:MAX_SEARCH], lang=lang_of(request), state=cast("State | None", state)
    )
    read = partial(service.storage.overview.page, access.site, wanted, **page_of(request))
    found, next_ = await service.browse(read)
    return private_response(FAQList([summary(faq) for faq in found], next_))


def summary(faq: FAQInfo) -> FAQSummary:
    """Return an FAQ as the API describes it."""
    default = faq.translations[0]
    return FAQSummary(
        slug=faq.slug,
        title=default.title,
        languages=faq.languages,
        state=faq.state,
        has_draft=faq.has_draft,
        revision=default.newest,
        etag=etag_of(default.tag),
        updated_at=faq.updated_at,
        translations=[
            TranslationSummary(one.lang, one.newest, etag_of(one.tag), one.translation_state, one.is_draft)
            for one in faq.translations
        ],
    )


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


Purge = Literal["false", "true", "now"]


@Operation(
    "delete",
    FAQ_PATH,
    WRITES,
    statuses=(204,),
    scope="publish",
    query=("lang", "purge"),
    note=f"`purge=true` moves it to the bin for 30 days; `purge=now` deletes every text. {IF_MATCH}",
)
async def unpublish_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Unpublish an FAQ or one translation; with `purge`, delete it.

    Unpublishing again succeeds and changes nothing; deleting again fails.
    """
    removal = service.storage.removal
    purge = request.query_params.get("purge", "false")
    if problems := field_problems("purge", purge, Purge):
        raise Problem.invalid(*problems, code="invalid-parameter")
    remove = {"false": removal.unpublish, "true": removal.bin, "now": removal.purge}[purge]
    arguments = (access, slug_of(request), lang_of(request), preconditions(request))
    await run_blocking(partial(remove, *arguments), limiter=service.writers)
    return Response(status_code=204, headers={"cache-control": "no-store"})


@Operation("post", f"{FAQ_PATH}/restore", WRITES, scope="publish", response=FAQSummary, note=IF_MATCH)
async def restore_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Restore an FAQ from the bin, or publish the translations that were unpublished last."""
    slug = slug_of(request)
    restore = partial(service.storage.removal.restore, access, slug, preconditions(request))
    await run_blocking(restore, limiter=service.writers)
    faq = await run_blocking(partial(service.storage.overview.faq, access, slug))
    return private_response(summary(faq))


@Operation(
    "post",
    f"{API_PATH}/generate",
    (400, 501, 502, 504, *KEYED, *BODIES),
    scope="draft",
    body=GenerateBody,
    response=GenerateResponse,
)
async def generate_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Extract questions and answers from a website; nothing is stored."""
    return await service.installed_generator().respond(request, access, service.generations)
