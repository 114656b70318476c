"""The tools that need a key: generate_faq, publish_faq and unpublish_faq."""

import asyncio
import shlex
from contextlib import suppress
from typing import Any, Final

from mcp.types import CallToolResult
from msgspec import UNSET

from faqsvc_embed.api.contract import INSTALL, PREVIEW_PARAMETER
from faqsvc_embed.api.publish_request import idempotency_key
from faqsvc_embed.api.publish_response import revert_command
from faqsvc_embed.api.requests import with_query
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
from faqsvc_embed.mcp.calls import (
    MAX_TITLE,
    Arguments,
    Call,
    ToolError,
    if_small,
    part_of,
    result_of,
    shorten,
)
from faqsvc_embed.mcp.shown import in_format, shown, typed
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.wire import Publication

REQUESTED: Final = ""
MAX_NOTES: Final = 5
SCOPE: Final = ": the API key may only write drafts"
"""Why something was written as a draft."""


async def generate_faq(call: Call) -> CallToolResult:
    """Return questions and answers from a website."""
    client, options = call.writing(), dict(call.arguments)
    try:
        found = await client.agenerate_faq(options.pop("websiteUrl"), **options)
    except FAQNotFound as error:
        raise ToolError(
            f"{error}. Read the website by other means, write the items yourself, and use publish_faq."
        ) from None
    entries = [
        {**item.to_fields(), "answer": item.answer_markdown or item.answer, "source": item.source}
        for item in found
    ]
    part, notes = part_of(entries, 0, "items")
    if part.pop("nextOffset", None):  # the tool has no offset
        notes.append("For others, name another page of the website")
    elif not entries:
        notes.append("The service found no questions there; try another page of the website")
    return result_of(part, notes=notes)


async def publish_faq(call: Call) -> CallToolResult:
    """Publish a new FAQ, or return only what readers would see."""
    record, notes = await asyncio.to_thread(_record, call.arguments)
    seen = await asyncio.to_thread(shown, record)
    if call.arguments.get("preview"):
        notes += [
            f"Nothing was published; all {len(record.items)} items were checked",
            "Show the text to the user; a call without preview publishes it",
        ]
        template = {"template": Publication(record.slug).template} if record.slug else {}
        return result_of({**template, "answerFormat": record.answer_format, **seen}, notes=notes)
    client, is_draft = call.writing(), bool(call.arguments.get("draft"))
    if record.slug:
        with suppress(FAQNotFound):  # the service would add it as a translation if its language is another
            raise await _taken(client, record)
    try:
        new = "*" if record.slug else None
        published = await publish(client, record, is_draft=is_draft, if_none_match=new)
    except RevisionConflict:
        raise await _taken(client, record) from None
    if published.state == "superseded":  # the response to an earlier call with these arguments
        raise ToolError(
            f"Nothing was written: these texts were published before as {quoted(published.slug)}, which was "
            "changed or unpublished since. Read it with get_faq, and ask the user."
        )
    content, why = await written(client, published, REQUESTED if is_draft else SCOPE)
    notes += [await _namesake(client, published.slug) if not record.slug else "", *why]
    if published.install.get("npm", INSTALL) != INSTALL:  # npm has no package of the specified name
        content |= {"install": install} if (install := if_small(published.install)) else {}
    return result_of({**content, **seen}, notes=notes)


def _record(arguments: Arguments) -> tuple[FAQ, list[str]]:
    """Return the FAQ that the arguments of `publish_faq` state, and notes.

    Raises:
        PublishRejected: an argument is invalid.
    """
    given = without_empty(arguments)
    given["items"] = [{"question": "", "answer": "", **without_empty(item)} for item in given["items"]]
    if problems := publication_problems(given):
        raise PublishRejected("", problems=problems)
    record = FAQ.from_dict({"slug": "", **given})
    notes = Document(items=given["items"]).all_notes()[:MAX_NOTES]
    if "answerFormat" not in given:
        record, format_notes = in_format(record)
        notes += format_notes
    if not record.title:
        notes.append(f"Readers see the title {quoted(record.website_name + ' FAQ')}: pass title for another")
    return record, notes + typed([item.question for item in record.items], record.title)


def without_empty(fields: Arguments) -> Arguments:
    """Return fields without empty texts, which models write for what they leave out."""
    return {name: value for name, value in fields.items() if value != ""}


async def unpublish_faq(call: Call) -> CallToolResult:
    """Unpublish an FAQ, or one of its translations; or publish again what was unpublished last."""
    client = call.writing()
    slug, lang = call.arguments["slug"], call.arguments.get("lang")
    if call.arguments.get("undo"):
        if lang:
            raise ToolError("undo publishes all that was unpublished last: call again without lang.")
        restored = await client.arestore_faq(slug)
        public = [one.lang for one in restored.translations if one.state == "published"]
        note = f"It is published in: {', '.join(public)}" if public else "Nothing of it is published"
        return result_of({"slug": slug, "state": restored.state}, notes=[note])
    state, is_public = "unpublished", True
    try:
        is_public = lang in (None, (await client.aget_published(slug, lang=lang)).faq.lang)
    except FAQError as error:
        if error.status == 404:  # an FAQ that was published is gone (410)
            state, is_public = "draft", False
    await client.aunpublish_faq(slug, lang=lang)
    if not is_public:
        note = "Readers see no change: it was not published. The user can discard a draft at the desk"
        return result_of({"slug": slug, "state": state}, notes=[note])
    other = "get another published language, or 410 Gone if there is none"
    notes = [
        f"Readers of {lang} {other}" if lang else "Readers get 410 Gone",
        "If the user wants it back, call again with undo: true and without lang",
    ]
    content = {"slug": slug, **({"lang": lang} if lang else {}), "state": "unpublished"}
    return result_of({**content, "undo": f"faqsvc restore {shlex.quote(slug)}"}, notes=notes)


async def _taken(client: FAQClient, record: FAQ) -> ToolError:
    """Return the error for a new FAQ whose slug is taken."""
    found = await client.anewest_revision(record.slug)
    advice = "Change it with update_faq, or choose another slug."
    if found.record.items == record.items:
        advice = "It has the same questions, so your last call may have made it: read it with get_faq."
    if (lang := record.lang) not in (None, found.faq.lang):
        advice = f"Translate it with update_faq, lang {lang} and revision 0, or choose another slug."
        with suppress(FAQNotFound):
            found = await client.anewest_revision(record.slug, lang=lang)
            advice = f"Change it with update_faq, lang {lang}, or choose another slug."
    title, number = quoted(shorten(found.faq.title, MAX_TITLE)), found.revision
    return ToolError(
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


async def publish(client: FAQClient, record: FAQ, *, is_draft: bool, **conditions: Any) -> Publication:
    """Publish a record, if the conditions hold.

    Write a draft if `is_draft` is true, or if the API key may only write drafts.
    """
    document: dict[str, Any] = {**Document.from_faq(record).publication()}
    fields = {**document, "slug": record.slug or None, "revision": UNSET, "draft": is_draft, **conditions}
    # Models repeat a call that failed or was cancelled. That must not publish an FAQ twice.
    fields["idempotency_key"] = idempotency_key(**fields)
    try:
        return await client.apublish_faq(**fields)
    except AuthenticationError as error:
        if error.code != "missing-scope" or is_draft:
            raise
    return await publish(client, record, is_draft=True, **conditions)


async def written(client: FAQClient, published: Publication, why: str) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a publication, and notes; for a draft with its preview, and why it is one."""
    content: dict[str, Any] = {
        "template": published.template,
        "djangoTemplate": published.django_template,
        "slug": published.slug,
        "faqUrl": shorten(published.faq_url, 2_000),
        "lang": published.lang,
        "revision": published.revision,
        "state": published.state,
    }
    notes = list[str]()
    if published.state == "draft":
        notes.append(f"Not public{why}")
        with suppress(FAQError):  # the draft is written, even without a preview
            preview = await client.apreview_faq(published.slug, lang=published.lang)
            query = {PREVIEW_PARAMETER: preview.token, "lang": published.lang}
            content["previewUrl"] = with_query(content["faqUrl"], **query)
            until = f"{preview.expires_at:%H:%M} UTC"
            notes.append(f"Show previewUrl to the user: it shows the draft until {until}")
        command = revert_command(published.slug, published.revision, published.lang)
        notes.append(f"The user publishes it at the desk, or with `{command}`; no tool does")
    return {name: value for name, value in content.items() if value}, notes
