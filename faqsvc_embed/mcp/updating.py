"""The tool update_faq: it changes some questions of one revision, and never overwrites a newer one."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from faqsvc_embed.api.contract import RecordItem
from faqsvc_embed.client import FAQClient, StoredRevision
from faqsvc_embed.errors import FAQNotFound, RevisionConflict, quoted
from faqsvc_embed.mcp.arguments import Arguments
from faqsvc_embed.mcp.clients import Clients
from faqsvc_embed.mcp.reading import ROOM
from faqsvc_embed.mcp.results import Result, ToolError, shorten, size_of, take_fitting
from faqsvc_embed.mcp.writing import (
    REQUESTED,
    SCOPE,
    Report,
    Write,
    as_allowed,
    masked_result,
    with_progress,
    written,
)
from faqsvc_embed.wire import Publication

WAITING: Final = "the FAQ has an unpublished draft, and this change is added to it"
"""Why a change became a draft: publishing it would publish somebody's unfinished draft."""
DRAFT: Final = " It is a draft, which is not public: your change is added to it."
MAX_SHOWN: Final = 20
"""Maximum number of changes that a result shows."""
MAX_WORDS: Final = 300
"""Characters of a changed text that a result shows."""
CONTEXT: Final = 40
"""Characters around the words that differ."""


async def update_faq(clients: Clients, arguments: Arguments, *, report: Report) -> Result:
    """Change some questions of an FAQ in one language, or create a translation.

    Raises:
        ToolError: somebody else has changed the FAQ, and the error has the current text; or there is no such
            translation.
    """
    client, key = clients.writing()
    texts = (arguments.get("title"), arguments.get("introduction"))
    update = Update(client, arguments["slug"], arguments.get("lang"), arguments["changes"], *texts)
    number, is_draft = int(arguments["revision"]), bool(arguments.get("draft"))
    newest = await update.newest()
    write = update.prepared(newest, number, is_draft=is_draft)
    is_waiting = newest is not None and newest.state == "draft"
    try:
        published = await with_progress(as_allowed(write, draft=is_draft or is_waiting), report, "Publishing")
    except RevisionConflict as error:
        if newest is None and error.current is None:
            raise _unpublished(update.slug) from None
        if error.current is None:
            raise
        note = DRAFT if error.current.has_draft else ""
        raise _conflict(error.current.revision, error.current.items, update.changes, note) from None
    content = await written(client, published, REQUESTED if is_draft else WAITING if is_waiting else SCOPE)
    before = {item.question: item.answer for item in newest.faq.items} if newest else {}
    content["changed"] = [_shown(change, before) for change in update.changes[:MAX_SHOWN]]
    if number not in (0, published.revision) and published.state == "published":
        language = f" --lang {published.lang}" if update.lang else ""
        content["undo"] = f"faqsvc revert {published.slug} {number}{language}"
    return masked_result(content, key)


@dataclass(frozen=True, slots=True)
class Update:
    """The changes of an FAQ in one language; None is its default language, and keeps its texts."""

    client: FAQClient
    slug: str
    lang: str | None
    changes: Sequence[dict[str, Any]]
    title: str | None
    introduction: str | None

    async def newest(self) -> StoredRevision | None:
        """Return the newest revision, or None if there is no such translation."""
        try:
            return await self.client.anewest_revision(self.slug, lang=self.lang)
        except FAQNotFound:
            if self.lang is None:
                raise
            await self.client.anewest_revision(self.slug)  # raises if there is no such FAQ
            return None

    def prepared(self, newest: StoredRevision | None, number: int, *, is_draft: bool) -> Write:
        """Return the function that changes revision `number`, or creates a translation if it is 0.

        Raises:
            ToolError: it is not the newest revision, or was unpublished, or there is no such translation.
        """
        if newest is None and number:
            raise ToolError(
                f"The FAQ {quoted(self.slug)} has no translation into {self.lang}. To make it, call again "
                "with revision 0, and a change with question and answer for each question."
            )
        if newest is None:
            return self._translate
        if newest.revision != number:
            note = DRAFT if newest.state == "draft" else ""
            raise _conflict(newest.revision, newest.faq.items, self.changes, note)
        if newest.state == "superseded" and not is_draft:
            raise _unpublished(self.slug)
        etag = newest.etag or "*"

        def change(draft: bool) -> Coroutine[Any, Any, Publication]:
            return self.client.achange_faq(
                self.slug,
                self.changes,
                if_match=etag,
                title=self.title,
                introduction=self.introduction,
                lang=self.lang,
                draft=draft,
            )

        return change

    async def _translate(self, draft: bool) -> Publication:
        """Create a translation of the FAQ, with the website of the published revision, not of a draft."""
        history = await self.client.arevisions(self.slug)
        public = next((one.revision for one in history if one.state == "published"), None)
        if public is None:
            default = await self.client.anewest_revision(self.slug)
        else:
            default = await self.client.aget_revision(self.slug, public)
        record = default.faq
        return await self.client.apublish_faq(
            website_url=default.website_url,
            website_name=record.website_name,
            items=self.changes,
            slug=self.slug,
            title=self.title,
            introduction=self.introduction or None,
            lang=self.lang,
            answer_format=None if record.answer_format == "text" else record.answer_format,
            draft=draft,
            if_none_match="*",
        )


def _unpublished(slug: str) -> ToolError:
    """Return the error for a change that would make an FAQ public again."""
    return ToolError(
        f"The FAQ {quoted(slug)} was unpublished. Tell the user: `faqsvc restore {slug}` publishes it again. "
        "With draft, the change becomes a draft."
    )


def _conflict(
    revision: int, items: Sequence[RecordItem], changes: Sequence[dict[str, Any]], note: str = ""
) -> ToolError:
    """Return the error with the newer revision: all of it, or the questions that the changes name."""
    shown = [{"question": item.question, "answer": item.answer} for item in items]
    message = (
        f"Somebody else has changed the FAQ: it is now at revision {revision}, and nothing was written."
        f"{note} Look at what they wrote, and call again with revision {revision} and the changes that are "
        "still right."
    )
    if sum(map(size_of, shown)) > ROOM:
        named = {change.get(name) for change in changes for name in ("question", "newQuestion", "after")}
        shown = take_fitting([item for item in shown if item["question"] in named], ROOM)
        message += " Only the questions that you named are here; get_faq returns all."
    return ToolError(
        message, {"code": "revision-conflict", "current": {"revision": revision, "items": shown}}
    )


def _shown(change: dict[str, Any], before: dict[str, str]) -> dict[str, Any]:
    """Return a change, with the changed words of an answer before and after it."""
    shown = {name: value for name, value in change.items() if name != "answer"}
    old, new = before.get(change["question"], ""), change.get("answer")
    if new is not None:
        shown["before"], shown["after"] = _words(old, new), _words(new, old)
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
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
