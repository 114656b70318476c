"""The tool update_faq: it changes some texts of one revision, and never overwrites a newer one."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec
from mcp.types import CallToolResult
from msgspec.structs import replace

from faqsvc_embed.api.changes import ChangeRefused, apply_changes, finder
from faqsvc_embed.api.contract import Change
from faqsvc_embed.api.publish_response import revert_command
from faqsvc_embed.api.validation import change_problems
from faqsvc_embed.client import FAQClient, StoredRevision
from faqsvc_embed.errors import FAQError, FAQNotFound, PublishRejected, RevisionConflict, quoted
from faqsvc_embed.mcp.calls import ROOM, Arguments, Call, ToolError, result_of, size_of, take_fitting
from faqsvc_embed.mcp.shown import changed, changed_by_markdown, in_format, typed
from faqsvc_embed.mcp.writing import REQUESTED, SCOPE, publish, without_empty, written
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.models.wire import Publication

WAITING: Final = ": the FAQ has an unpublished draft, and this change is added to it"
"""Why a change became a draft: publishing it would publish somebody's unfinished draft."""
SEARCH_TIMEOUT: Final = 2.0
"""Seconds for the search of other languages, which are only for a note."""
MAX_NAMED: Final = 5
"""Questions that an error names."""

_CHANGING: Final = frozenset({"changes", "title", "introduction", "answerFormat"})
_NEVER_EMPTY: Final = ("question", "answer", "newQuestion", "id")


async def update_faq(call: Call) -> CallToolResult:
    """Change texts of an FAQ in one language, or create a translation.

    Raises:
        ToolError: somebody else has changed the FAQ, and the error has the current text; or there is no such
            translation, or a text has a format that the FAQ does not have.
    """
    client, given = call.writing(), _checked(call.arguments)
    slug, number, is_draft = given["slug"], given["revision"], bool(given.get("draft"))
    newest = await _newest(client, slug, given.get("lang"))
    if newest is None:
        source = (await _published(client, slug)).record
        old = replace(source, title="", lang=given["lang"], introduction=None, items=())
        new, notes = await asyncio.to_thread(_translated, old, given)
        if (count := len(source.items)) != len(new.items):
            notes.append(
                f"In {source.lang}, the FAQ has {count} questions; this translation has {len(new.items)}"
            )
    else:
        _check_newest(newest, given)
        old = newest.record
        new, notes = await asyncio.to_thread(_changed, old, given)
    only_if = {"if_none_match": "*"} if newest is None else {"if_match": newest.etag, "revision": number}
    is_waiting = newest is not None and newest.state == "draft"
    try:
        published = await publish(client, new, is_draft=is_draft or is_waiting, **only_if)
    except RevisionConflict as error:
        if error.current is None or error.current.state == "unpublished":
            raise _unpublished(slug) from None
        newer = error.current
        items = FAQ.from_dict({"slug": slug, "items": msgspec.to_builtins(newer.items)}).items
        raise _conflict(newer.revision, items, given["changes"], is_draft=newer.has_draft) from None
    why = REQUESTED if is_draft else WAITING if is_waiting else SCOPE
    content, state_notes = await written(client, published, why)
    content |= await asyncio.to_thread(changed, old, new, given)
    if number == published.revision:
        notes.append(f"Nothing was written: revision {number} has these texts")
    elif number and published.state == "published":
        content["undo"] = revert_command(slug, number, published.lang)
    notes += [*_question_notes(old, new, given), *state_notes]
    notes.append(await _other_languages(client, published) if newest is not None else "")
    return result_of(content, notes=notes)


def _checked(given: Arguments) -> Arguments:
    """Return the arguments with their changes as structs, without the empty texts of a form.

    Some models fill in every field. An empty section, place or introduction has a meaning of its own, but not
    if another text is empty that must not be.

    Raises:
        PublishRejected: an argument is invalid.
        ToolError: there is nothing to change.
    """
    given = without_empty(given) if given.get("title") == "" else given
    changes = [
        without_empty(change) if change.get("remove") or "" in map(change.get, _NEVER_EMPTY) else change
        for change in given.get("changes", [])
    ]
    given = {name: value for name, value in {**given, "changes": changes}.items() if value != []}
    if not given.keys() & _CHANGING:
        raise ToolError(
            "There is nothing to change: pass changes, title, introduction or answerFormat. No tool "
            "publishes a draft: the user does, at the desk or with `faqsvc revert`."
        )
    if problems := change_problems({**given, "introduction": given.get("introduction") or None}):
        raise PublishRejected("", problems=problems)
    return {**given, "changes": msgspec.convert(changes, list[Change])}


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
    return f"The FAQ is also in {others}: if they say the same, change each, with lang." if others else ""


def _check_newest(newest: StoredRevision, given: Arguments) -> None:
    """Raise ToolError if the change would undo an unpublishing, or `revision` is not the newest."""
    if newest.state == "superseded" and not given.get("draft"):
        raise _unpublished(newest.faq.slug)
    if newest.revision != given["revision"]:
        items, is_draft = newest.record.items, newest.state == "draft"
        raise _conflict(newest.revision, items, given["changes"], is_draft=is_draft)


def _translated(empty: FAQ, given: Arguments) -> tuple[FAQ, list[str]]:
    """Return a new translation, and notes.

    Raises:
        ToolError: the arguments are not those of a new translation.
    """
    changes: list[Change] = given["changes"]
    if given["revision"] or not changes or any(None in (one.question, one.answer) for one in changes):
        raise ToolError(
            f"The FAQ {quoted(empty.slug)} has no translation into {empty.lang}. To make it, call again with "
            "revision 0, title, and a change with question and answer for each question, in order."
        )
    new, notes = _changed(empty, {**given, "changes": [replace(change, add=True) for change in changes]})
    if not new.title:
        notes.append("The translation has no title of its own: translate that, too, and pass it as title.")
    return new, notes


def _changed(old: FAQ, given: Arguments) -> tuple[FAQ, list[str]]:
    """Return an FAQ after changes, and notes.

    An FAQ of plain text becomes Markdown if a new text has markup, and no old text would look different.

    Raises:
        ToolError: a change cannot be made, or an old text would look different.
    """
    new = replace(
        old,
        title=given.get("title", old.title),
        introduction=given.get("introduction", old.introduction),
        items=_changed_items(old, given["changes"]),
        answer_format=given.get("answerFormat", old.answer_format),
    )
    answers = {item.answer for item in old.items}
    kept = [item for item in new.items if item.answer in answers]
    old_introduction = None if "introduction" in given else old.introduction
    if new.answer_format != old.answer_format:
        named = _different(kept, old_introduction)
        return new, [f"As {new.answer_format}, these look different now: {named}"] if named else []
    if "answerFormat" in given or old.answer_format == "markdown":
        return new, []
    written = [item for item in new.items if item.answer not in answers]
    read, notes = in_format(replace(new, items=written, introduction=given.get("introduction")))
    if read.answer_format == "text":
        return new, []
    if named := _different(kept, old_introduction):
        raise ToolError(
            "The answers of this FAQ are plain text; yours have markup, which readers would see as typed. "
            'Call again with plain text, or with answerFormat "markdown". As Markdown, these would look '
            f"different, so change them, too: {named}. With "
            'answerFormat "text", readers see your markup as typed.'
        )
    asked = {item.question for item in old.items}
    as_read = [
        replace(item, answer=one.answer, question=item.question if item.question in asked else one.question)
        for item, one in zip(written, read.items, strict=True)
    ]
    introduction = read.introduction if "introduction" in given else old.introduction
    return replace(read, items=(*kept, *as_read), introduction=introduction), notes


def _different(items: Sequence[Item], introduction: str | None) -> str:
    """Return the names of the texts that look different as Markdown, which takes long for many items."""
    return ", ".join(map(quoted, changed_by_markdown(items, introduction)[:MAX_NAMED]))


def _changed_items(old: FAQ, changes: Sequence[Change]) -> tuple[Item, ...]:
    """Return the items of an FAQ after changes.

    Raises:
        ToolError: a change cannot be made.
    """
    try:
        return apply_changes(old.items, changes)
    except ChangeRefused as error:
        change, named = changes[error.index], [json.dumps(one, ensure_ascii=False) for one in error.closest]
        advice = [f"Nothing was written: {error.reason}."]
        if named and error.code == "unknown-question":
            advice += [f"If the user means one of these, name it in exactly these words: {', '.join(named)}."]
        if error.code != "unknown-question" or change.add:
            advice += ["Correct the changes and call again, or ask the user to make them at the desk."]
        elif change.question is not None and finder(old.items)(Change(question=change.question)) is None:
            advice += ["If no other question asks the same, add it: call again with add: true."]
        raise ToolError(" ".join(advice)) from None


def _question_notes(old: FAQ, new: FAQ, given: Arguments) -> list[str]:
    """Return notes on a removed introduction, and on new questions with markup."""
    known = {item.question for item in old.items}
    questions = [item.question for item in new.items if item.question not in known]
    removed = ["The introduction was removed"] if old.introduction and not new.introduction else []
    return removed + typed(questions, given.get("title"))


def _unpublished(slug: str) -> ToolError:
    """Return the error for a change that would make an FAQ public again."""
    return ToolError(
        f"The FAQ {quoted(slug)} was unpublished. If the user wants it back, call unpublish_faq with "
        "undo: true, and then call again. With draft, the change becomes a draft."
    )


def _conflict(
    revision: int, items: Sequence[Item], changes: Sequence[Change], *, is_draft: bool
) -> ToolError:
    """Return the error with the newer revision: all of it, or the questions that the changes name."""
    shown = [item.to_fields() for item in items]
    draft = " It is a draft, which is not public: your change is added to it." if is_draft else ""
    message = (
        f"Nothing was written: the newest revision is {revision}, whose text is here.{draft} Call again with "
        f"revision {revision} and the changes that are still right."
    )
    if sum(map(size_of, shown)) > ROOM:
        find = finder(items)
        named = (find(one) for change in changes for one in (change, Change(question=change.after)))
        places = {item.position for item in named if item is not None}
        shown = take_fitting([item.to_fields() for item in items if item.position in places], ROOM)
        message += " Only the questions that you named are here; get_faq returns all."
    return ToolError(
        message, {"code": "revision-conflict", "current": {"revision": revision, "items": shown}}
    )
