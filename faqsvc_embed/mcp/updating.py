"""The tool update_faq: it changes some texts of one revision, and never overwrites a newer one."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final

import msgspec

from faqsvc_embed.api.changes import closest, finder
from faqsvc_embed.api.contract import RecordItem
from faqsvc_embed.client import FAQClient, StoredRevision
from faqsvc_embed.errors import FAQError, FAQNotFound, RevisionConflict, quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.mcp.clients import Call
from faqsvc_embed.mcp.reading import ROOM, record_of
from faqsvc_embed.mcp.results import Result, ToolError, shorten, size_of, take_fitting
from faqsvc_embed.mcp.shown import AS_MARKDOWN, changed_by_markdown, in_format, is_marked_up, shown, typed
from faqsvc_embed.mcp.writing import (
    MAX_NOTES,
    REQUESTED,
    SCOPE,
    as_allowed,
    masked_result,
    revert,
    written,
)
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.models.wire import Publication

WAITING: Final = "the FAQ has an unpublished draft, and this change is added to it"
"""Why a change became a draft: publishing it would publish somebody's unfinished draft."""
DRAFT: Final = " It is a draft, which is not public: your change is added to it."
SEARCH_TIMEOUT: Final = 2.0
"""Seconds for the search of other languages, which are only for a note."""
MAX_SHOWN: Final = 20
"""Maximum number of changes that a result shows."""
MAX_WORDS: Final = 300
"""Characters of a changed text that a result shows."""
CONTEXT: Final = 40
"""Characters around the words that differ."""
RESEMBLING: Final = 0.5
"""How similar an added question must be to an old one to be named, from 0 to 1."""
MAX_NAMED: Final = 5
"""Questions that an error names."""

_NAMES: Final = frozenset({"question", "id", "section"})
_OF_ITEMS: Final = _NAMES | {"answer"}
Find = Callable[[str | None, str | None], Item | None]


async def update_faq(call: Call) -> Result:
    """Change texts of an FAQ in one language, or create a translation.

    Raises:
        ToolError: somebody else has changed the FAQ, and the error has the current text; or there is no such
            translation, or a text has a format that the FAQ does not have.
    """
    client, key = call.writing()
    arguments = call.arguments
    slug, lang, number = arguments["slug"], arguments.get("lang"), int(arguments["revision"])
    is_draft = bool(arguments.get("draft"))
    changes: list[dict[str, Any]] = arguments.get("changes", [])
    fields: dict[str, Any] = {
        "title": arguments.get("title"),
        "introduction": arguments.get("introduction"),
        "answer_format": arguments.get("answerFormat"),
    }
    if not changes and all(value is None for value in fields.values()):
        raise ToolError("Nothing to change: pass changes, title, introduction or answerFormat.")
    newest = await _newest(client, slug, lang)
    notes = list[str]()
    if newest is None:
        if number:
            raise ToolError(
                f"The FAQ {quoted(slug)} has no translation into {lang}. To make it, call again with "
                "revision 0, title, and a change with question and answer for each question."
            )
        default = await _published(client, slug)
        notes += _translated(changes, fields, default)
        fields["if_none_match"] = "*"
    else:
        _check_newest(newest, number, changes, is_draft=is_draft)
        default = newest
        notes += await asyncio.to_thread(_understood, record_of(newest), changes, fields)
    faq, is_waiting = record_of(default), newest is not None and newest.state == "draft"
    find = finder(faq.items if newest else ())
    changes = [_without_own_section(change, find) for change in changes]
    notes += typed(_new_questions(changes, find), arguments.get("title"))

    def write(draft: bool) -> Coroutine[Any, Any, Publication]:
        if newest is not None:
            etag = newest.etag or "*"
            return client.achange_faq(slug, changes, if_match=etag, lang=lang, draft=draft, **fields)
        name, url = default.faq.website_name, default.website_url
        whose = {"website_name": name, "website_url": url, "slug": slug, "lang": lang}
        return client.apublish_faq(items=changes, draft=draft, **whose, **fields)

    try:
        published = await call.reported(as_allowed(write, draft=is_draft or is_waiting), "Publishing")
    except RevisionConflict as error:
        if error.current is None and newest is None:
            raise _unpublished(slug) from None
        if error.current is None:
            raise
        note = DRAFT if error.current.has_draft else ""
        raise _conflict(error.current.revision, error.current.items, changes, note) from None
    content = await written(client, published, REQUESTED if is_draft else WAITING if is_waiting else SCOPE)
    seen = await asyncio.to_thread(shown, _result(faq, changes, fields, find))
    changed = [_shown(change, find) for change in changes[:MAX_SHOWN]]
    content |= {"changed": take_fitting(changed, ROOM - size_of(seen)), **seen}
    if number not in (0, published.revision) and published.state == "published":
        content["undo"] = revert(published, number)
    notes += [content.pop("note", ""), *(_resembling(changes, faq) if newest else ())]
    notes.append(await _other_languages(client, published))
    content["note"] = " ".join(filter(None, notes))
    return masked_result(content, key)


def _without_own_section(change: dict[str, Any], find: Find) -> dict[str, Any]:
    """Return a change without the section that its question is in already: a section moves the question."""
    old = find(change.get("question"), change.get("id"))
    is_own = old is not None and change.get("section") == old.section and bool(change.keys() - _NAMES)
    return {name: value for name, value in change.items() if name != "section" or not is_own}


def _new_questions(changes: Sequence[dict[str, Any]], find: Find) -> list[str]:
    """Return the questions that the changes write."""
    named = [(change.get("newQuestion"), change.get("question"), change.get("id")) for change in changes]
    return [new or question or "" for new, question, id_ in named if new or not find(question, id_)]


async def _newest(client: FAQClient, slug: str, lang: str | None) -> StoredRevision | None:
    """Return the newest revision, or None if there is no such translation."""
    try:
        return await client.anewest_revision(slug, lang=lang)
    except FAQNotFound:
        if lang is None:
            raise
        await client.anewest_revision(slug)  # raises if there is no such FAQ
        return None


async def _published(client: FAQClient, slug: str) -> StoredRevision:
    """Return the published revision of the default language, else the newest."""
    history = await client.arevisions(slug)
    public = next((one.revision for one in history if one.state == "published"), None)
    if public is None:
        return await client.anewest_revision(slug)
    return await client.aget_revision(slug, public)


async def _other_languages(client: FAQClient, published: Publication) -> str:
    """Return a note that names the languages of an FAQ that still say something else, if there are any."""
    languages = list[str]()
    with suppress(FAQError, TimeoutError):
        async with asyncio.timeout(SEARCH_TIMEOUT):
            for faq in await client.alist_faqs(text=published.slug):
                languages += faq.languages if faq.slug == published.slug else ()
    others = ", ".join(one for one in languages if one != published.lang)
    return f"The FAQ is also in {others}: change each, with lang, if this concerns it." if others else ""


def _check_newest(
    newest: StoredRevision, number: int, changes: Sequence[dict[str, Any]], *, is_draft: bool
) -> None:
    """Raise ToolError if `number` is not the newest revision, or the change would undo an unpublishing."""
    if newest.revision != number:
        note = DRAFT if newest.state == "draft" else ""
        raise _conflict(newest.revision, newest.faq.items, changes, note)
    if newest.state == "superseded" and not is_draft:
        raise _unpublished(newest.faq.slug)


def _translated(
    changes: list[dict[str, Any]], fields: dict[str, Any], default: StoredRevision
) -> Sequence[str]:
    """Prepare the items of a new translation; return notes."""
    if not changes or any(
        change.keys() - _OF_ITEMS - {"add"} or "answer" not in change for change in changes
    ):
        raise ToolError(
            "The changes of a translation that is missing have question, answer, section and id only, in the "
            "order of its questions."
        )
    fields["introduction"] = fields["introduction"] or None
    note = ""
    if fields["answer_format"] is None and default.faq.answer_format == "markdown":
        fields["answer_format"] = "markdown"
    elif fields["answer_format"] is None:
        changes[:], fields["introduction"], fields["answer_format"] = in_format(
            changes, fields["introduction"]
        )
        note = AS_MARKDOWN if fields["answer_format"] else ""
    title = "" if fields["title"] else "It has no title of its own: translate it, too, with title."
    return [f"{one}." for one in Document(items=changes).all_notes()[:MAX_NOTES]] + [note, title]


def _understood(faq: FAQ, changes: Sequence[dict[str, Any]], fields: dict[str, Any]) -> Sequence[str]:
    """Make an FAQ of plain text Markdown if a change has markup and no old text would look different.

    Raises:
        ToolError: an old text would look different.
    """
    given = [fields["introduction"], *(change.get("answer") for change in changes)]
    if fields["answer_format"] or faq.answer_format == "markdown" or not any(map(is_marked_up, given)):
        return []
    find = finder(faq.items)
    named = (find(change.get("question"), change.get("id")) for change in changes if "answer" in change)
    gone = {item.position for item in named if item is not None}
    kept = [item for item in faq.items if item.position not in gone]
    different = changed_by_markdown(kept, faq.introduction if fields["introduction"] is None else None)
    if different:
        raise ToolError(
            "The answers of this FAQ are plain text; yours have markup, which readers would see as typed. "
            'Call again with plain text, or with answerFormat "markdown", with which these would look '
            f"different: {', '.join(map(quoted, different[:MAX_NAMED]))}; change them, too. answerFormat "
            '"text" publishes your words as typed.'
        )
    fields["answer_format"] = "markdown"
    return [AS_MARKDOWN]


def _resembling(changes: Sequence[dict[str, Any]], faq: FAQ) -> Sequence[str]:
    """Return a note for each added question that resembles an old one; most paraphrases do."""
    texts = [item.question for item in faq.items]
    added = [change["question"] for change in changes if change.get("add")][:MAX_NAMED]
    pairs = [(one, similar) for one in added for similar in closest(one, texts, RESEMBLING)[:1]]
    return [
        f"{quoted(one)} resembles {quoted(similar)}: if they ask the same, remove one."
        for one, similar in pairs
    ]


def _result(faq: FAQ, changes: Sequence[dict[str, Any]], fields: dict[str, Any], find: Find) -> FAQ:
    """Return the part of the FAQ that was written."""
    items = list[Item]()
    for change in changes:
        old = find(change.get("question"), change.get("id"))
        question = change.get("newQuestion") or (old.question if old else change.get("question") or "")
        answer = change.get("answer") or (old.answer if old else "")
        if not change.get("remove") and change.keys() & {"answer", "newQuestion"}:
            section = change.get("section") or (old.section if old else None)
            items.append(Item(len(items), question, answer, section))
    return FAQ(
        faq.slug,
        fields["title"] or "",
        items=tuple(items),
        answer_format=fields["answer_format"] or faq.answer_format,
        website_url=faq.website_url,
        introduction=fields["introduction"],
    )


def _unpublished(slug: str) -> ToolError:
    """Return the error for a change that would make an FAQ public again."""
    return ToolError(
        f"The FAQ {quoted(slug)} was unpublished. If the user wants it back, call unpublish_faq with "
        "undo: true, and then call again. With draft, the change becomes a draft."
    )


def _conflict(
    revision: int, items: Sequence[RecordItem], changes: Sequence[dict[str, Any]], note: str = ""
) -> ToolError:
    """Return the error with the newer revision: all of it, or the questions that the changes name."""
    shown: list[dict[str, Any]] = [
        {name: value for name, value in item.items() if name != "position"}
        for item in msgspec.to_builtins(items)
    ]
    message = (
        f"Nothing was written: the newest revision is {revision}, whose text is here.{note} Call again with "
        f"revision {revision} and the changes that are still right."
    )
    if sum(map(size_of, shown)) > ROOM:
        find = finder(FAQ.from_dict({"slug": "x", "items": msgspec.to_builtins(items)}).items)
        names = [(change.get(name), change.get("id")) for change in changes for name in ("question", "after")]
        named = {found.question for name in names if any(name) and (found := find(*name)) is not None}
        shown = take_fitting([item for item in shown if item["question"] in named], ROOM)
        message += " Only the questions that you named are here; get_faq returns all."
    return ToolError(
        message, {"code": "revision-conflict", "current": {"revision": revision, "items": shown}}
    )


def _shown(change: dict[str, Any], find: Find) -> dict[str, Any]:
    """Return a change, with the changed words of an answer before and after it."""
    shown = {name: value for name, value in change.items() if name != "answer"}
    old, new = find(change.get("question"), change.get("id")), change.get("answer")
    if old is not None:
        shown["question"] = old.question
    if new is not None:
        before = old.answer if old is not None else ""
        shown["before"], shown["after"] = _words(before, new), _words(new, before)
    return {
        name: shorten(value, MAX_WORDS) if isinstance(value, str) else value for name, value in shown.items()
    }


def _words(text: str, other: str) -> str:
    """Return a text. If it is long, return the part that differs from `other`, with some words around it."""
    if max(len(text), len(other)) <= MAX_WORDS:
        return text
    start = _shared(text, other)
    end = _shared(text[start:][::-1], other[start:][::-1])
    first, last = max(start - CONTEXT, 0), min(len(text) - end + CONTEXT, len(text))
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
