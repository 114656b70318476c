"""POST /api/v1/faq, PUT and PATCH /api/v1/faq/{slug}: write a revision; publish it unless it is a draft."""

import hashlib
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Struct
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.changes import apply_changes
from faqsvc_embed.api.contract import INSTALL, ChangeBody, Install, PublishBody, PublishResponse
from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.api.validation import change_problems, publication_problems, unknown_fields
from faqsvc_embed.detection import detect_language
from faqsvc_embed.models import Item
from faqsvc_embed.service.config import npm_package
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import etag_of, preconditions, private_response
from faqsvc_embed.service.http.limits import require_scope
from faqsvc_embed.service.http.operation import BODIES, FAQ_PATH, IF_MATCH, WRITES, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import lang_of, parse_object, read_body, require_json, slug_of
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.http.urls import PublicURLs
from faqsvc_embed.service.storage.values import Access, Content, FileState, IdempotencyKey, Write, Written
from faqsvc_embed.wire import Publication

BODY_TIMEOUT: Final = 30.0
"""Seconds in which a body must arrive."""

T = TypeVar("T", bound=Struct)

_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


@Operation(
    "post",
    API_PATH,
    (*WRITES, *BODIES),
    statuses=(201,),
    scope="draft",
    body=PublishBody,
    response=PublishResponse,
    note="The same `Idempotency-Key`, up to 255 visible ASCII characters, publishes once in 24 hours."
    f" With a `slug`, it writes a revision of that FAQ. {IF_MATCH}",
)
async def publish_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Publish a new FAQ under a new slug."""
    urls = service.urls(request)
    raw = await _read(request)
    body, ignored = await run_blocking(parse_body, raw, PublishBody, publication_problems)
    write = _write(body, slug=body.slug, must_exist=True, idempotency_key=_idempotency_key(request, raw))
    if body.slug is not None:  # a new FAQ has no revision that could be overwritten
        conditions = preconditions(request)
        write = replace(write, preconditions=conditions, must_be_new=conditions.is_create_only)
    written = await _store(service, access, write)
    return write_response(urls, written, 201, ignored)


@Operation(
    "put",
    FAQ_PATH,
    (*WRITES, *BODIES),
    statuses=(200, 201),
    scope="draft",
    body=PublishBody,
    response=PublishResponse,
    query=("lang",),
    note=f"{IF_MATCH} With `If-None-Match: *`, it only creates.",
)
async def put_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Create an FAQ under a chosen slug, or write a new revision of it."""
    urls = service.urls(request)
    slug, lang = slug_of(request, is_new=True), lang_of(request)
    conditions = preconditions(request)
    body, ignored = await run_blocking(parse_body, await _read(request), PublishBody, publication_problems)
    write = _write(
        body,
        slug=slug,
        must_be_new=conditions.is_create_only and lang is None,  # with lang, only the translation must be new
        lang=lang or body.lang,
        preconditions=conditions,
    )
    written = await _store(service, access, write)
    return write_response(urls, written, 201 if written.is_new else 200, ignored)


@Operation(
    "patch",
    FAQ_PATH,
    (428, *WRITES, *BODIES),
    scope="draft",
    body=ChangeBody,
    response=PublishResponse,
    query=("lang",),
    headers=("If-Match",),
    note="All changes are made, or none. `index` is the number of the first one that cannot be made. "
    "`If-Match` is required; after a conflict, `current` is the newest revision.",
)
async def change_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Change some questions of the newest revision; the others stay unchanged."""
    urls = service.urls(request)
    key, conditions = (slug_of(request), lang_of(request)), preconditions(request)
    if conditions.if_match is None:
        detail = "PATCH needs If-Match with the entity tag of the revision that was read"
        raise Problem(428, "precondition-required", detail)
    body, ignored = await run_blocking(parse_body, await _read(request), ChangeBody, change_problems)
    is_draft = bool(body.draft)
    require_scope(access, "draft" if is_draft else "publish")

    def change() -> Written:
        return service.storage.writer.change(access, key, changed, conditions, is_draft=is_draft)

    def changed(content: Content) -> Content:
        items = apply_changes(content.items, body.changes or [])
        found = replace(content, items=items, title=body.title or content.title)
        if body.introduction is not UNSET:
            found = replace(found, introduction=body.introduction)
        if body.answer_format is not UNSET:
            found = replace(found, answer_format=body.answer_format)
        size = sum(len(text.encode()) for item in items for text in item.to_fields().values())
        size += len((found.introduction or "").encode())
        if size > MAX_BODY:
            detail = f"The FAQ would have {size:,} bytes; the limit is {MAX_BODY:,}"
            raise Problem(413, "body-too-large", detail)
        return found

    return write_response(urls, await run_blocking(change, limiter=service.writers), 200, ignored)


def write_response(urls: PublicURLs, written: Written, status: int, ignored: Sequence[str] = ()) -> Response:
    """Return the response to a write, with the entity tag of the record."""
    slug = written.slug
    package = npm_package()
    npm = f"npm install {package}" if package else INSTALL
    install = Install(npm, f'<FAQ slug="{html.escape(slug)}" />', Publication(slug).template)
    body = PublishResponse(
        slug,
        urls.page(slug),
        install,
        written.lang,
        written.number,
        written.state,
        list(ignored) or UNSET,
    )
    headers = {"etag": etag_of(written.digest), "content-language": written.lang}
    if status == 201:
        headers["location"] = urls.record(slug)
    return private_response(body, status, headers)


def parse_body(
    raw: bytes, struct: type[T], problems_of: Callable[[dict[str, Any]], list[str]]
) -> tuple[T, list[str]]:
    """Return a body, and its unknown fields.

    Raises:
        Problem: the body is not valid (422); `problems` has every reason.
    """
    fields = parse_object(raw)
    if problems := problems_of(fields):
        raise Problem.invalid(*problems)
    return msgspec.convert(fields, struct), unknown_fields(fields, struct)


async def _read(request: Request) -> bytes:
    require_json(request)
    return await read_body(request, max_size=MAX_BODY, timeout=BODY_TIMEOUT)


def _write(body: PublishBody, **target: Any) -> Write:
    items = [
        Item(position, item.question, item.answer, item.section, item.id)
        for position, item in enumerate(body.items)
    ]
    content = Content(
        body.website_url or "",
        body.website_name or "",
        tuple(items),
        body.title,
        body.answer_format or "text",
        UNSET,  # a body has no call to action
        body.page_url,
        body.introduction,
    )
    file = None
    if body.revision is not UNSET:
        file = FileState(body.revision, bool(body.overwrite), bool(body.republish))
    return Write(content=content, is_draft=bool(body.draft), file=file, **{"lang": body.lang, **target})


async def _store(service: ServiceContext, access: Access, write: Write) -> Written:
    require_scope(access, "draft" if write.is_draft else "publish")

    def store() -> Written:
        detected = None if write.lang else detect_language(write.content.items)
        return service.storage.writer.write(access, replace(write, detected_lang=detected))

    return await run_blocking(store, limiter=service.writers)


def _idempotency_key(request: Request, body: bytes) -> IdempotencyKey | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if _IDEMPOTENCY_KEY.fullmatch(key) is None:
        reason = "Idempotency-Key must be 1 to 255 visible ASCII characters"
        raise Problem.invalid(reason, code="invalid-parameter")
    return IdempotencyKey(key, hashlib.sha256(body).hexdigest())
