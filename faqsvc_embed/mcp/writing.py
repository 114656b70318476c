"""The tools that need a key: generate_faq, publish_faq and unpublish_faq."""

import asyncio
import shlex
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlencode

from mcp.types import CallToolResult

from faqsvc_embed.api.contract import INSTALL, PREVIEW_PARAMETER
from faqsvc_embed.api.publish_request import PublishFields, idempotency_key
from faqsvc_embed.api.validation import publication_problems
from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import (
    AuthenticationError,
    FAQError,
    FAQNotFound,
    PublishRejected,
    RevisionConflict,
    quoted,
)
from faqsvc_embed.files.document import Document
from faqsvc_embed.mcp.clients import Arguments, Call
from faqsvc_embed.mcp.reading import ROOM, record_of
from faqsvc_embed.mcp.results import (
    MAX_TITLE,
    ToolError,
    if_small,
    result_of,
    shorten,
    take_fitting,
)
from faqsvc_embed.mcp.shown import in_format, shown, typed
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.wire import Publication

_GENERATED: Final = ("question", "answer", "section", "source")
REQUESTED: Final = ""
MAX_NOTES: Final = 5
SCOPE: Final = "the API key may only write drafts"
"""Why something was written as a draft."""


async def generate_faq(call: Call) -> CallToolResult:
    """Return questions and answers from a website."""
    client = call.writing()
    options = dict(call.arguments)
    url = options.pop("websiteUrl")
    try:
        work = client.agenerate_faq(url, **options)
        found = await call.reported(work, f"The service is reading {shorten(url, 200)}")
    except FAQNotFound as error:
        raise ToolError(
            f"{error}. Read the website by other means, write the items yourself, and use publish_faq."
        ) from None
    entries = [
        {name: text for name in _GENERATED if (text := getattr(item, name)) is not None} for item in found
    ]
    items = take_fitting(entries, ROOM)
    content: dict[str, Any] = {"items": items, "total": len(entries)}
    if len(items) < len(entries):
        content["note"] = (
            f"The first {len(items)} of {len(entries)}; for others, name another page of the website."
        )
    elif not entries:
        content["note"] = "The service found no questions there; try another page of the website."
    return result_of(content)


async def publish_faq(call: Call) -> CallToolResult:
    """Publish a new FAQ."""
    arguments = _without_empty(call.arguments)
    arguments["items"] = [
        {"question": "", "answer": "", **_without_empty(item)} for item in arguments["items"]
    ]
    if problems := publication_problems(arguments):
        raise PublishRejected("", problems=problems)
    record = FAQ.from_dict({"slug": "", **arguments})
    notes = Document(items=arguments["items"]).all_notes()[:MAX_NOTES]
    if "answerFormat" not in arguments:
        record, format_note = in_format(record)
        notes += format_note
    notes += typed([item.question for item in record.items], record.title)
    if arguments.get("preview"):
        return _preview(record, await asyncio.to_thread(shown, record), notes)
    client = call.writing()
    fields = fields_of(record)
    if record.slug:
        await _check_free(client, record)
        fields["if_none_match"] = "*"
    is_draft = bool(arguments.get("draft"))

    try:
        published = await publish(call, client, fields, is_draft=is_draft)
    except RevisionConflict:  # somebody else has just taken the slug
        await _check_free(client, record)
        raise
    if published.state == "superseded":  # the response to an earlier call with these arguments
        raise ToolError(
            f"Nothing was written: these texts were published before as {quoted(published.slug)}, which was "
            "changed or unpublished since. Read it with get_faq, and ask the user."
        )
    content = await written(client, published, REQUESTED if is_draft else SCOPE)
    content |= await asyncio.to_thread(shown, record)
    second = "" if record.slug else await _namesake(client, published.slug)
    content["note"] = _sentences(*notes, second, content.pop("note", ""))
    if published.install.get("npm", INSTALL) != INSTALL:  # npm has no package of the specified name
        content["install"] = if_small(published.install)
    return result_of_write(content)


def _without_empty(fields: Arguments) -> Arguments:
    """Return fields without empty texts, which models write for what they leave out."""
    return {name: value for name, value in fields.items() if value != ""}


async def unpublish_faq(call: Call) -> CallToolResult:
    """Unpublish an FAQ, or one of its translations; or publish again what was unpublished last."""
    client = call.writing()
    slug, lang = call.arguments["slug"], call.arguments.get("lang")
    if call.arguments.get("undo"):
        if lang:
            raise ToolError("undo publishes all that was unpublished last: call again without lang.")
        restored = await call.reported(client.arestore_faq(slug), "Publishing")
        note = f"It is in these languages: {', '.join(restored.languages)}."
        return result_of({"slug": slug, "state": restored.state, "note": note})
    await call.reported(client.aunpublish_faq(slug, lang=lang), "Unpublishing")
    language = {"lang": lang} if lang else {}
    other = "get another published language, or 410 Gone if there is none"
    seen = f"Readers of {lang} {other}" if lang else "Readers get 410 Gone"
    undo = f"faqsvc restore {shlex.quote(slug)}"
    note = f"{seen}. If the user wants it back, call again with undo: true and without lang."
    return result_of({"slug": slug, **language, "state": "unpublished", "undo": undo, "note": note})


async def _check_free(client: FAQClient, record: FAQ) -> None:
    """Raise ToolError if there is an FAQ with this slug already."""
    try:
        found = await client.anewest_revision(record.slug)
    except FAQNotFound as error:
        if error.status == 410:
            raise
        return
    title, number = quoted(shorten(found.faq.title, MAX_TITLE)), found.revision
    advice = "Change it with update_faq, or choose another slug."
    if record_of(found).items == record.items:
        advice = "It has the same questions, so your last call may have made it: read it with get_faq."
    raise ToolError(
        f"There is an FAQ {quoted(record.slug)} already: {title}, revision {number}. Nothing was written. "
        f"{advice}"
    )


async def _namesake(client: FAQClient, slug: str) -> str:
    """Return a note if another FAQ has the slug of the title, so that the new slug ends with a number."""
    other, _, number = slug.rpartition("-")
    if number.isdecimal():
        with suppress(FAQError):
            await client.anewest_revision(other)
            advice = "if the new one should replace it, change it with update_faq, and unpublish the new one"
            return f"There is already an FAQ {quoted(other)}: {advice}"
    return ""


def fields_of(record: FAQ) -> PublishFields:
    """Return the keywords of `publish_faq` that write a record."""
    return PublishFields(
        website_url=record.website_url,
        website_name=record.website_name,
        items=record.items,
        slug=record.slug or None,
        lang=record.lang,
        title=record.title or None,
        introduction=record.introduction,
        answer_format=record.answer_format,
        page_url=record.page_url,
    )


async def publish(call: Call, client: FAQClient, fields: PublishFields, *, is_draft: bool) -> Publication:
    """Publish. Write a draft if `is_draft` is true, or if the API key may only write drafts."""
    fields["draft"] = is_draft
    # Models repeat a call that failed or was cancelled. That must not publish an FAQ twice.
    fields["idempotency_key"] = idempotency_key(**fields)
    try:
        return await call.reported(client.apublish_faq(**fields), "Publishing")
    except AuthenticationError as error:
        if error.code != "missing-scope" or is_draft:
            raise
    return await publish(call, client, fields, is_draft=True)


async def written(client: FAQClient, published: Publication, why: str) -> dict[str, Any]:
    """Return the fields of a publication; a draft has the address of its preview, and the reason `why`."""
    content: dict[str, Any] = {
        "template": published.template,
        "djangoTemplate": published.django_template,
        "slug": published.slug,
        "faqUrl": shorten(published.faq_url, 2_000),
        "lang": published.lang,
        "revision": published.revision,
        "state": published.state,
    }
    if published.state == "draft":
        note = f"Not public: {why}." if why else "Not public."
        try:
            preview = await client.apreview_faq(published.slug, lang=published.lang)
            lang = {"lang": published.lang} if published.lang else {}
            query = urlencode({PREVIEW_PARAMETER: preview.token, **lang})
            content["previewUrl"] = f"{shorten(published.faq_url, 2_000)}?{query}"
            note += f" Show previewUrl to the user: it shows the draft until {preview.expires_at:%H:%M} UTC."
        except FAQError:  # the draft is written, without a preview
            pass
        content["note"] = f"{note} `{revert(published, published.revision)}` publishes it."
    return content


def revert(published: Publication, revision: int | None) -> str:
    """Return the command that publishes a revision of what was written."""
    language = f" --lang {published.lang}" if published.lang else ""
    return f"faqsvc revert {shlex.quote(published.slug)} {revision}{language}"


def result_of_write(content: dict[str, Any]) -> CallToolResult:
    """Return the result with this content, without empty fields."""
    return result_of({name: value for name, value in content.items() if value})


def _preview(record: FAQ, seen: dict[str, Any], notes: list[str]) -> CallToolResult:
    note = f"Nothing was published; all {len(record.items)} items were checked. Show the text to the user"
    template = {"template": Publication(record.slug).template} if record.slug else {}
    fields = {**template, "answerFormat": record.answer_format, **seen}
    return result_of({**fields, "note": _sentences(*notes, f"{note}; a call without preview publishes it")})


def _sentences(*notes: str) -> str:
    """Return notes as sentences."""
    return " ".join(f"{note.removesuffix('.')}." for note in notes if note)
