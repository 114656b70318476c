"""Routes for owners: the list of FAQs, their history, previews of drafts, removal, generation."""

from typing import Any, Literal

import msgspec
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
from faqsvc_embed.service.context import Call
from faqsvc_embed.service.http.conditional import etag_of, private_response
from faqsvc_embed.service.http.operation import FAQ_PATH, Operation
from faqsvc_embed.service.routes.publish import write_response
from faqsvc_embed.service.storage import values
from faqsvc_embed.service.storage.overview import FAQInfo, Filter


@Operation(
    "get",
    LIST_PATH,
    scope="read",
    response=FAQList,
    query=("q", "state", "lang", "limit", "after"),
    note="`state=draft` lists every FAQ that has a draft; `state=binned` lists the bin.",
)
def list_faqs(call: Call) -> Response:
    """List the FAQs of the site, the last changed first."""
    search = call.query.get("q", "")
    wanted = Filter(search=search, lang=call.lang, state=call.choice("state", State))
    found, next_ = call.storage.overview.page(call.access.site, wanted, **call.page)
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
    scope="read",
    response=RevisionList,
    query=("lang", "limit", "after"),
)
def list_revisions(call: Call) -> Response:
    """List the revisions of a translation, newest first."""
    revisions = call.storage.history.revisions
    found, next_ = revisions(call.access, call.slug, call.lang, **call.page)
    return private_response(RevisionList([Revision(**_fields(one)) for one in found], next_))


@Operation("get", f"{FAQ_PATH}/revisions/{{number}}", scope="read", response=RevisionContent, query=("lang",))
def read_revision(call: Call) -> Response:
    """Read one revision."""
    revision = call.storage.history.revision(call.access, call.slug, call.lang, call.number)
    body = RevisionContent(
        **_fields(revision),
        website_url=revision.website_url,
        faq=msgspec.json.decode(revision.record, type=Record),
    )
    headers = {"etag": etag_of(revision.tag), "content-language": revision.lang}
    return private_response(body, headers=headers)


def _fields(revision: values.Revision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "state": revision.state,
        "created_at": revision.created_at,
        "key": revision.author,
        "etag": etag_of(revision.tag),
        "discarded": revision.discarded_at is not None,
    }


@Operation(
    "post",
    f"{FAQ_PATH}/revisions/{{number}}/publish",
    scope="publish",
    response=PublishResponse,
    query=("lang",),
    headers=("If-Match",),
)
def publish_revision(call: Call) -> Response:
    """Publish a draft, or an earlier revision again."""
    urls, number, conditions = call.urls, call.number, call.preconditions
    written = call.storage.writer.publish(call.access, call.slug, number, call.lang, conditions)
    return write_response(urls, written, 200)


@Operation(
    "post",
    f"{FAQ_PATH}/preview",
    statuses=(201,),
    scope="read",
    response=Preview,
    query=("lang",),
)
def create_preview(call: Call) -> Response:
    """Create a token that reads the newest revision for an hour."""
    return private_response(
        Preview(*call.storage.history.create_preview(call.access, call.slug, call.lang)), 201
    )


Purge = Literal["false", "true", "now"]


@Operation(
    "delete",
    FAQ_PATH,
    statuses=(204,),
    scope="publish",
    query=("lang", "purge"),
    headers=("If-Match",),
    note="`purge=true` moves it to the bin for 30 days; `purge=now` deletes every text.",
)
def unpublish_faq(call: Call) -> Response:
    """Unpublish an FAQ or one translation; with `purge`, delete it.

    Unpublishing again succeeds and changes nothing; deleting again fails.
    """
    removal = call.storage.removal
    removals = {"false": removal.unpublish, "true": removal.bin, "now": removal.purge}
    remove = removals[call.choice("purge", Purge) or "false"]
    remove(call.access, call.slug, call.lang, call.preconditions)
    return Response(status_code=204, headers={"cache-control": "no-store"})


@Operation("post", f"{FAQ_PATH}/restore", scope="publish", response=FAQSummary, headers=("If-Match",))
def restore_faq(call: Call) -> Response:
    """Restore an FAQ from the bin, or publish the translations that were unpublished last."""
    call.storage.removal.restore(call.access, call.slug, call.preconditions)
    return private_response(summary(call.storage.overview.faq(call.access, call.slug)))


@Operation(
    "post",
    f"{API_PATH}/generate",
    (501, 502, 504),
    scope="draft",
    body=GenerateBody,
    max_body=16_384,
    response=GenerateResponse,
)
async def generate_faq(call: Call) -> Response:
    """Extract questions and answers from a website; nothing is stored."""
    return await call.service.installed_generator().respond(call)
