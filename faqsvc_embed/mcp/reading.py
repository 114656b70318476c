"""The tools that read: get_faq, get_faq_jsonld and list_faqs."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from mcp.types import CallToolResult

from faqsvc_embed.api.requests import API_PATH, read_request
from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.client import StoredRevision
from faqsvc_embed.errors import FAQError, FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.mcp.clients import Call
from faqsvc_embed.mcp.results import (
    MAX_RESULT,
    MAX_TITLE,
    ToolError,
    if_small,
    result_of,
    shorten,
    take_fitting,
    to_json,
)
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering.json_ld import to_json_ld, to_json_ld_string

ROOM: Final = MAX_RESULT - 6_000
"""Maximum bytes of the items of a result; the rest is for the other fields."""
_PATH: Final = re.compile(rf"/faq/(?P<page>[^/]+?)(?:\.md)?(?:/|$)|(?:{API_PATH}|/desk/faqs)/(?P<slug>[^/]+)")
"""The paths of an FAQ at the service."""


def without_address(call: Call) -> Call:
    """Return a call in which an address in `slug` is replaced by its slug and its language.

    It is the address of an FAQ's page, of its record, or of its page in the desk. Only a tool that reads
    accepts addresses of another host: the service may have several names, but another service may have an FAQ
    with the same slug.

    Raises:
        ToolError: it is the address of something else, or its language is invalid or contradicts `lang`.
    """
    text = call.arguments["slug"]
    if not text.lower().startswith(("http://", "https://")):
        return call
    base = urlsplit(call.reading().settings.base_url)
    with suppress(ValueError):
        address = urlsplit(text)
        is_ours = (address.scheme, address.hostname, address.port) == (base.scheme, base.hostname, base.port)
        is_ours = is_ours and address.path.startswith(f"{base.path}/")
        found = _PATH.match(address.path, len(base.path)) if is_ours else None
        if not is_ours and call.name in ("get_faq", "get_faq_jsonld"):
            found = _PATH.search(address.path)
        if found is not None:
            slug = unquote(found["page"] or found["slug"], errors="strict")
            lang = _language_in(address.query, call.arguments.get("lang"))
            return replace(
                call, arguments={**call.arguments, "slug": slug, **({"lang": lang} if lang else {})}
            )
    raise ToolError(
        f"{shorten(text, 200)} is not the address of an FAQ at {base.geturl()}: pass the slug instead."
    )


def _language_in(query: str, lang: str | None) -> str | None:
    """Return the language in the query of an address, else `lang`."""
    for value in parse_qs(query, keep_blank_values=True).get("lang", []):
        stated = lookup(value)
        if stated is None or lang not in (None, stated):
            accepted = f"only {lang!r}, the value of lang," if lang else f"one of {', '.join(LANGUAGES)}"
            raise ToolError(f"The address in slug has lang={quoted(value)}: {accepted} is accepted.")
        lang = stated
    return lang


async def get_faq(call: Call) -> CallToolResult:
    """Return a published FAQ, or the part of it from an offset on."""
    notes = list[str]()
    try:
        published = await _published(call)
        faq, revision = published.faq, published.revision
    except FAQNotFound as error:
        draft = await _draft(call) if error.status == 404 else None
        if draft is None:
            raise
        faq, revision = record_of(draft), draft.revision
        notes.append("Readers do not see this: it is a draft of an FAQ that is not published.")
    offset, record = _offset(call, faq), faq.to_dict()
    for item in record["items"]:
        del item["position"]  # the place in the list says the same
    items = take_fitting(record["items"][offset:], ROOM)
    end = offset + len(items)
    content = {
        **record,
        **({} if revision is None else {"revision": revision}),
        "title": shorten(faq.title, MAX_TITLE),
        "websiteName": shorten(faq.website_name, MAX_TITLE),
        "cta": if_small(faq.cta),
        "items": items,
        "total": len(faq.items),
    }
    if end < len(faq.items):
        content["nextOffset"] = end
        notes.append(f"Items {offset} to {end - 1} of {len(faq.items)}.")
    if items != record["items"][offset:end]:
        notes.append(f"Item {offset} is cut. {_full_text(call)}")
    return result_of({**content, "note": " ".join(notes)} if notes else content)


def record_of(revision: StoredRevision) -> FAQ:
    """Return the record of a revision, with its website, which a plain one does not have."""
    fields = msgspec.to_builtins(revision.faq)
    return FAQ.from_dict({**fields, "websiteUrl": revision.website_url})


async def get_faq_jsonld(call: Call) -> CallToolResult:
    """Return the FAQPage of a published FAQ."""
    faq = (await _published(call)).faq
    offset = _offset(call, faq)
    questions = to_json_ld(faq).get("mainEntity", [])
    if not questions:
        raise ToolError(f"The FAQ {quoted(faq.slug)} has no question with an answer, so it has no FAQPage.")
    # The offset counts the questions in the JSON-LD, which leaves out empty and repeated ones.
    pairs = [{"question": q["name"], "answer": q["acceptedAnswer"]["text"]} for q in questions]
    shown = take_fitting(pairs[offset:], ROOM, _json_ld_size)
    if not shown:
        raise ToolError(f"offset is {offset}, but the FAQPage has {len(pairs)} questions.")
    items = tuple(Item(position, **pair) for position, pair in enumerate(shown))
    part = FAQ(faq.slug, lang=faq.lang, items=items)
    end, notes = offset + len(items), list[str]()
    if end < len(pairs):
        notes.append(
            f"Questions {offset} to {end - 1} of {len(pairs)}: this FAQPage is not complete. "
            f"Call again with offset {end} and join the mainEntity arrays."
        )
    if shown != pairs[offset:end]:
        notes.append(
            f"Question {offset} or its answer is cut; do not put cut text on a page. {_full_text(call)}"
        )
    return result_of(to_json_ld(part), to_json_ld_string(part), " ".join(notes))


async def list_faqs(call: Call) -> CallToolResult:
    """Return the FAQs of the key's site that match `query`, `state` and `lang`."""
    client = call.writing()
    arguments = call.arguments
    offset = int(arguments.get("offset", 0))
    wanted = {"text": arguments.get("query") or None, "state": arguments.get("state")}
    found = await client.alist_faqs(**wanted, lang=arguments.get("lang"))
    entries: list[dict[str, Any]] = [
        {**msgspec.to_builtins(faq), "title": shorten(faq.title, MAX_TITLE)} for faq in found
    ]
    for entry in entries:  # no tool takes an entity tag
        for fields in (entry, *entry["translations"]):
            fields.pop("etag", None)
    if offset and offset >= len(entries):
        raise ToolError(f"offset is {offset}, but {len(entries)} FAQs are found.")
    items = take_fitting(entries[offset:], ROOM)
    content: dict[str, Any] = {"items": items, "total": len(entries)}
    if offset + len(items) < len(entries):
        content["nextOffset"] = offset + len(items)
    elif not entries and arguments:
        content["note"] = (
            "No FAQ has all of that. Call again with fewer words, or without query for all FAQs."
        )
    return result_of(content)


async def _published(call: Call) -> Fetched:
    return await call.reading().aget_published(call.arguments["slug"], lang=call.arguments.get("lang"))


def _offset(call: Call, faq: FAQ) -> int:
    offset = int(call.arguments.get("offset", 0))
    if offset and offset >= len(faq.items):
        raise ToolError(f"offset is {offset}, but the FAQ {quoted(faq.slug)} has {len(faq.items)} items.")
    return offset


async def _draft(call: Call) -> StoredRevision | None:
    """Return the newest revision of an FAQ of the key's site; None if there is no such FAQ, or no key."""
    with suppress(ToolError, FAQError):
        return await call.writing().anewest_revision(call.arguments["slug"], lang=call.arguments.get("lang"))
    return None


def _full_text(call: Call) -> str:
    base_url = call.reading().settings.base_url
    request = read_request(base_url, call.arguments["slug"], call.arguments.get("lang"))
    return f"The full text is public at {request.url}"


def _json_ld_size(pair: dict[str, Any]) -> int:
    part = FAQ("", items=(Item(0, **pair),))
    return len(to_json(to_json_ld(part)).encode()) + len(to_json(to_json_ld_string(part)).encode())
