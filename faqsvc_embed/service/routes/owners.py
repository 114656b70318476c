"""The routes of owners: they write FAQs and list them, read their history, publish and remove them."""

import hashlib
import html
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple, replace
from starlette.responses import Response

from faqsvc_embed.api import contract
from faqsvc_embed.api.changes import apply_changes
from faqsvc_embed.api.contract import LIST_PATH, ChangeBody, PublishBody, PublishResponse, State
from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.api.validation import change_problems, publication_problems
from faqsvc_embed.errors import quoted
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.service.context import PublicURLs, npm_package
from faqsvc_embed.service.http.operation import FAQ_PATH, Call, Operation
from faqsvc_embed.service.http.requests import parse_body, require_scope
from faqsvc_embed.service.http.responses import Problem, etag_of, private_response
from faqsvc_embed.service.storage.overview import FAQInfo, Filter
from faqsvc_embed.service.storage.values import FileState, IdempotencyKey, Revision, Write

_IDEMPOTENCY_KEY: Final = re.compile(r"[!-~]{1,255}")

_reads: Final = partial(Operation, "get", scope="read")
_writes: Final = partial(Operation, scope="draft", body=PublishBody, response=PublishResponse)


@_writes("post", API_PATH, (409,), statuses=(201,), headers=("Idempotency-Key",))
def publish_faq(call: Call) -> Response:
    """Publish a new FAQ under a new slug."""
    urls = call.urls
    body, ignored = parse_body(call.body, PublishBody, _problems)
    written, _ = _store(call, _write(body, idempotency_key=_idempotency_key(call)))
    return _written(urls, written, 201, ignored + _not_used(body, written))


@_writes("put", FAQ_PATH, statuses=(200, 201), query=("lang",), headers=("If-Match", "If-None-Match"))
def put_faq(call: Call) -> Response:
    """Create an FAQ under a chosen slug, or write a new revision of it."""
    urls, slug, lang = call.urls, call.new_slug, call.lang
    conditions = call.preconditions
    body, ignored = parse_body(call.body, PublishBody, _problems)
    write = _write(
        body,
        slug=slug,
        must_be_new=conditions.is_create_only and lang is None,  # with lang, only the translation must be new
        lang=lang or body.lang,
        preconditions=conditions,
    )
    written, is_new = _store(call, write)
    return _written(urls, written, 201 if is_new else 200, ignored + _not_used(body, written))


@_writes(
    "patch",
    FAQ_PATH,
    (428,),
    body=ChangeBody,
    query=("lang",),
    headers=("If-Match",),
    note="All changes are made, or none. `index` is the number of the first one that cannot be made. "
    "After a conflict, `current` is the newest revision.",
)
def change_faq(call: Call) -> Response:
    """Change some questions of the newest revision; the others stay unchanged."""
    urls, slug, lang, conditions = call.urls, call.slug, call.lang, call.preconditions
    if conditions.if_match is None:
        detail = "PATCH needs If-Match with the entity tag of the revision that was read"
        raise Problem(428, "precondition-required", detail)
    body, ignored = parse_body(call.body, ChangeBody, change_problems)
    is_draft = bool(body.draft)
    require_scope(call.access, "draft" if is_draft else "publish")

    def changed(faq: FAQ) -> FAQ:
        names = ("title", "introduction", "answer_format")
        given = {name: value for name in names if (value := getattr(body, name)) is not UNSET}
        items = apply_changes(faq.items, body.changes or [])
        found = replace(faq, items=items, **given)
        size = sum(len(text.encode()) for item in items for text in item.to_fields().values())
        size += len((found.introduction or "").encode())
        if size > MAX_BODY:
            detail = f"The FAQ would have {size:,} bytes; the limit is {MAX_BODY:,}"
            raise Problem(413, "body-too-large", detail)
        return found

    key = slug, lang or body.lang
    written = call.storage.writer.change(call.access, key, changed, conditions, is_draft=is_draft)
    return _written(urls, written, 200, ignored + _not_used(body, written))


def _written(urls: PublicURLs, written: Revision, status: int, ignored: Sequence[str] = ()) -> Response:
    """Return the response to a write, with the entity tag of the record and the `ignored` fields."""
    slug, package = written.slug, npm_package()
    npm = f"npm install {package}" if package else contract.INSTALL
    install = contract.Install(npm, f'<FAQ slug="{html.escape(slug)}" />', Publication(slug).template)
    body = PublishResponse(
        slug, urls.page(slug), install, written.lang, written.number, written.state, list(ignored) or UNSET
    )
    headers = {"etag": etag_of(written.tag), "content-language": written.lang}
    if status == 201:
        headers["location"] = urls.record(slug)
    return private_response(body, status, headers)


def _problems(fields: dict[str, Any]) -> list[str]:
    """Return what is wrong with a publication, such as two items with the same id.

    A file may repeat an id: the tools that read files report it with its line, and publish both items.
    """
    found, first = publication_problems(fields), dict[str, int]()
    for index, item in enumerate([] if found or "revision" in fields else fields["items"]):
        if (id_ := item.get("id")) is not None and (other := first.setdefault(id_, index)) != index:
            found.append(f"items[{index}].id is {quoted(id_)}, as is items[{other}].id: each needs its own")
    return found


def _write(body: PublishBody, **target: Any) -> Write:
    faq = FAQ(
        slug="",
        title=body.title or "",
        website_name=body.website_name or "",
        items=tuple(Item(position, *astuple(item)) for position, item in enumerate(body.items)),
        answer_format=body.answer_format or "text",
        introduction=body.introduction,
        website_url=body.website_url or None,
        page_url=body.page_url,
    )
    file = None
    if body.revision is not UNSET:
        file = FileState(body.revision, bool(body.overwrite), bool(body.republish))
    return Write(faq=faq, is_draft=bool(body.draft), file=file, **{"lang": body.lang, **target})


def _not_used(body: PublishBody | ChangeBody, written: Revision) -> list[str]:
    """Return the fields of the body that were not used, because the URL or the title gave other values."""
    names = ("slug", "lang")
    return [name for name in names if getattr(body, name, None) not in (None, getattr(written, name))]


def _store(call: Call, write: Write) -> tuple[Revision, bool]:
    require_scope(call.access, "draft" if write.is_draft else "publish")
    return call.storage.writer.write(call.access, write)


def _idempotency_key(call: Call) -> IdempotencyKey | None:
    key = call.request.headers.get("idempotency-key")
    if key is None:
        return None
    if _IDEMPOTENCY_KEY.fullmatch(key) is None:
        reason = "Idempotency-Key must be 1 to 255 visible ASCII characters"
        raise Problem.invalid(reason, code="invalid-parameter")
    return IdempotencyKey(key, hashlib.sha256(call.body).hexdigest())


@_reads(
    LIST_PATH,
    response=contract.FAQList,
    query=("q", "state", "lang", "limit", "after"),
    note="`state=draft` lists every FAQ that has a draft; `state=binned` lists the bin.",
)
def list_faqs(call: Call) -> Response:
    """List the FAQs of the site, the last changed first."""
    search = call.query.get("q", "")
    wanted = Filter(search=search, lang=call.lang, state=call.choice("state", State))
    found, next_ = call.storage.overview.page(call.access.site, wanted, **call.page)
    return private_response(contract.FAQList([_summary(faq) for faq in found], next_))


def _summary(faq: FAQInfo) -> contract.FAQSummary:
    """Return an FAQ as the API describes it."""
    default = faq.translations[0]
    return contract.FAQSummary(
        slug=faq.slug,
        title=default.title,
        languages=faq.languages,
        state=faq.state,
        has_draft=faq.has_draft,
        revision=default.newest,
        etag=etag_of(default.tag),
        updated_at=faq.updated_at,
        translations=[
            contract.TranslationSummary(
                one.lang, one.newest, etag_of(one.tag), one.translation_state, one.is_draft
            )
            for one in faq.translations
        ],
    )


@_reads(f"{FAQ_PATH}/revisions", response=contract.RevisionList, query=("lang", "limit", "after"))
def list_revisions(call: Call) -> Response:
    """List the revisions of a translation, newest first."""
    revisions = call.storage.history.revisions
    found, next_ = revisions(call.access, call.slug, call.lang, **call.page)
    listed = [contract.Revision(**_fields(one)) for one in found]
    return private_response(contract.RevisionList(listed, next_))


@_reads(f"{FAQ_PATH}/revisions/{{number}}", response=contract.RevisionContent, query=("lang",))
def read_revision(call: Call) -> Response:
    """Read one revision."""
    revision = call.storage.history.revision(call.access, call.slug, call.lang, call.number)
    body = contract.RevisionContent(
        **_fields(revision),
        website_url=revision.website_url,
        faq=msgspec.json.decode(revision.record, type=contract.Record),
    )
    headers = {"etag": etag_of(revision.tag), "content-language": revision.lang}
    return private_response(body, headers=headers)


def _fields(revision: Revision) -> dict[str, Any]:
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
    return _written(urls, written, 200)


@Operation(
    "post", f"{FAQ_PATH}/preview", statuses=(201,), scope="read", response=contract.Preview, query=("lang",)
)
def create_preview(call: Call) -> Response:
    """Create a token that reads the newest revision for an hour."""
    token, expires_at = call.storage.history.create_preview(call.access, call.slug, call.lang)
    return private_response(contract.Preview(token, expires_at), 201)


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
    remove = removals[call.choice("purge", Literal["false", "true", "now"]) or "false"]
    remove(call.access, call.slug, call.lang, call.preconditions)
    return Response(status_code=204, headers={"cache-control": "no-store"})


@Operation(
    "post", f"{FAQ_PATH}/restore", scope="publish", response=contract.FAQSummary, headers=("If-Match",)
)
def restore_faq(call: Call) -> Response:
    """Restore an FAQ from the bin, or publish the translations that were unpublished last."""
    call.storage.removal.restore(call.access, call.slug, call.preconditions)
    return private_response(_summary(call.storage.overview.faq(call.access, call.slug)))


@Operation(
    "post",
    f"{API_PATH}/generate",
    (501, 502, 504),
    scope="draft",
    body=contract.GenerateBody,
    max_body=16_384,
    response=contract.GenerateResponse,
)
async def generate_faq(call: Call) -> Response:
    """Extract questions and answers from a website; nothing is stored."""
    return await call.service.installed_generator().respond(call)
