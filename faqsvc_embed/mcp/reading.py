"""The tools that read: get_faq, get_faq_jsonld and list_faqs."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs, unquote

import msgspec
from mcp.types import CallToolResult

from faqsvc_embed.api.requests import API_PATH, read_request
from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.client import StoredRevision
from faqsvc_embed.errors import FAQError, FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.mcp.calls import MAX_TITLE, Call, ToolError, if_small, part_of, result_of, shorten, to_json
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering.json_ld import to_json_ld, to_json_ld_string

_PATH: Final = re.compile(rf"(?:/faq|{API_PATH}|/desk/faqs)/([^/]+?)(?:\.md)?(?:/|$)")
"""The paths of an FAQ at the service."""
MAX_ADDRESS: Final = 8_000
"""Characters of an address that is parsed."""


def without_address(call: Call) -> Call:
    """Return a call in which an address in `slug` is replaced by its slug and its language.

    It is the address of an FAQ's page, of its record, or of its page in the desk. A tool that reads accepts
    any host, because the service may have several names. One that writes does not, because another service
    may have an FAQ with the same slug.

    Raises:
        ToolError: it is the address of something else, or its language is invalid or contradicts `lang`.
    """
    text = call.arguments.get("slug", "")
    if "/" not in text or len(text) > MAX_ADDRESS:
        return call
    base_url = call.reading().settings.base_url
    path, _, query = text.removeprefix(base_url).partition("#")[0].partition("?")
    is_reading = call.name in ("get_faq", "get_faq_jsonld")
    if found := _PATH.search(path) if is_reading else _PATH.match(path):
        lang = _language_in(query, call.arguments.get("lang"))
        language = {"lang": lang} if lang else {}
        return replace(call, arguments={**call.arguments, "slug": unquote(found[1]), **language})
    raise ToolError(
        f"{quoted(shorten(text, 200))} is not a slug, nor the address of an FAQ at {base_url}: pass "
        "the slug instead."
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
    """Return an FAQ, or the part of it from an offset on."""
    faq, revision, notes = await _found(call)
    entries = [item.to_fields() for item in faq.items]
    offset = call.arguments.get("offset", 0)
    part, more = part_of(entries, offset, "items")
    content = {
        **faq.to_dict(),
        **({} if revision is None else {"revision": revision}),
        "title": shorten(faq.title, MAX_TITLE),
        "websiteName": shorten(faq.website_name, MAX_TITLE),
        "cta": if_small(faq.cta),
        **part,
    }
    if part["items"][:1] != entries[offset : offset + 1]:
        notes.append(f"Item {offset} is cut; {_full_text(call)}")
    return result_of(content, notes=[*notes, *more])


async def _found(call: Call) -> tuple[FAQ, int | None, list[str]]:
    """Return the FAQ that readers get in the language of the call, its revision, and notes.

    If they get none, or another language, it is the newest revision that the API key may read.
    """
    try:
        published = await _published(call)
    except FAQNotFound as error:
        newest = await _newest(call) if error.status == 404 else None
        if newest is None:
            raise
    else:
        notes = _language_notes(call, published.faq)
        newest = await _newest(call) if notes else None
        if newest is None:
            return published.faq, published.revision, notes
    return newest.record, newest.revision, ["Readers do not see this, because it is not published"]


async def get_faq_jsonld(call: Call) -> CallToolResult:
    """Return the FAQPage of a published FAQ."""
    faq = (await _published(call)).faq
    offset, notes = call.arguments.get("offset", 0), _language_notes(call, faq)
    # The offset counts the questions in the JSON-LD, which leaves out empty and repeated ones.
    pairs = [
        {"question": one["name"], "answer": one["acceptedAnswer"]["text"]}
        for one in to_json_ld(faq).get("mainEntity", [])
    ]
    if not pairs:
        raise ToolError(f"The FAQ {quoted(faq.slug)} has no question with an answer, so it has no FAQPage.")
    part, more = part_of(pairs, offset, "questions", _json_ld_size)
    shown = part["items"]
    page = FAQ("", lang=faq.lang, items=tuple(Item(position, **pair) for position, pair in enumerate(shown)))
    if "nextOffset" in part:
        advice = f"Call again with offset {part['nextOffset']} and join the mainEntity arrays"
        more.append(f"This FAQPage is not complete. {advice}")
    if shown[0] != pairs[offset]:
        more.append(
            f"Question {offset} or its answer is cut; do not put cut text on a page; {_full_text(call)}"
        )
    return result_of(to_json_ld(page), to_json_ld_string(page), [*notes, *more])


async def list_faqs(call: Call) -> CallToolResult:
    """Return the FAQs of the key's site that match `query`, `state` and `lang`."""
    client, given = call.writing(), call.arguments
    words = given.get("query", "").replace('"', " ").strip() or None  # models put phrases in quotation marks
    found = await client.alist_faqs(text=words, state=given.get("state"), lang=given.get("lang"))
    entries: list[dict[str, Any]] = [
        {**msgspec.to_builtins(faq), "title": shorten(faq.title, MAX_TITLE)} for faq in found
    ]
    for entry in entries:  # no tool takes an entity tag
        for fields in (entry, *entry["translations"]):
            fields.pop("etag", None)
    part, notes = part_of(entries, given.get("offset", 0), "FAQs")
    if not entries and given:
        notes = ["No FAQ has all of that. Call again with fewer words, or without query for all FAQs"]
    return result_of(part, notes=notes)


async def _published(call: Call) -> Fetched:
    return await call.reading().aget_published(call.arguments["slug"], lang=call.arguments.get("lang"))


async def _newest(call: Call) -> StoredRevision | None:
    """Return the newest revision of an FAQ of the key's site; None if there is none, or no key."""
    with suppress(ToolError, FAQError):
        return await call.writing().anewest_revision(call.arguments["slug"], lang=call.arguments.get("lang"))
    return None


def _language_notes(call: Call, faq: FAQ) -> list[str]:
    """Return a note if an FAQ is not in the language of the call."""
    lang = call.arguments.get("lang", faq.lang)
    if lang == faq.lang:
        return []
    advice = f"update_faq with lang {lang} and revision 0 makes one"
    return [f"This is in {faq.lang}: there is no published translation into {lang}. {advice}"]


def _full_text(call: Call) -> str:
    base_url = call.reading().settings.base_url
    request = read_request(base_url, call.arguments["slug"], call.arguments.get("lang"))
    return f"{request.url} has the full text"


def _json_ld_size(pair: dict[str, Any]) -> int:
    part = FAQ("", items=(Item(0, **pair),))
    return len(to_json(to_json_ld(part)).encode()) + len(to_json(to_json_ld_string(part)).encode())
