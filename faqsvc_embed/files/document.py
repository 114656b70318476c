"""One FAQ as it is in a file."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from msgspec import UNSET

from faqsvc_embed.api.publish_request import PublishFields, publish_body
from faqsvc_embed.errors import InvalidFAQ, PublishRejected, quoted
from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.fields import DOCUMENT_FIELDS
from faqsvc_embed.languages import is_language_tag
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.models.wire import copied
from faqsvc_embed.text import spelling

_TEXTS: Final = ("question", "answer")
_ITEM_FIELDS: Final = (*_TEXTS, "section", "id", "position")


@dataclass(frozen=True, slots=True)
class Document:
    """One FAQ as it is in a file, unvalidated; a field that is not in the file is None.

    `items` is a list of mappings with `question`, `answer` and, if present, `section` and `id`.
    `answer_format` is `text`, `markdown` or None. `revision` is the number of the service's revision that
    the file was made from. `positions` has the place of each item in the file, such as `row 5`, `line 12` or
    `items[3]`. `answer_lines` has the first line of each answer in a Markdown file, and `introduction_line`
    that of the introduction. `unknown` lists ignored fields and columns. `notes` lists what the
    document leaves out of the file, each with its place.
    """

    slug: Any = None
    title: Any = None
    website_name: Any = None
    website_url: Any = None
    lang: Any = None
    answer_format: Any = None
    items: Any = None
    cta: Any = None
    page_url: Any = None
    draft: Any = None
    revision: Any = None
    introduction: Any = None
    positions: Sequence[str] = field(default=(), compare=False)
    answer_lines: Sequence[int] = field(default=(), compare=False)
    introduction_line: int | None = field(default=None, compare=False)
    unknown: Sequence[str] = field(default=(), compare=False)
    notes: Sequence[str] = field(default=(), compare=False)

    @classmethod
    def from_faq(cls, faq: FAQ, revision: int | None = None) -> Self:
        """Return the document of a record, and of its revision if that is known."""
        return cls(
            slug=faq.slug,
            title=faq.title or None,
            introduction=faq.introduction,
            website_name=faq.website_name or None,
            lang=faq.lang,
            answer_format=faq.answer_format,
            website_url=faq.website_url,
            items=[item.to_fields() for item in faq.items],
            cta=faq.cta,
            page_url=faq.page_url,
            revision=revision,
        )

    def to_faq(self, slug: Any) -> FAQ:
        """Return the record of a document; a text field that the document leaves out is empty.

        Raises:
            PublishRejected: a field is invalid; `problems` has every reason, with the index of the item.
        """
        problems = list(self._problems())
        # A request validates the fields. A record needs no website, and may be in any language.
        needed = PublishFields(
            website_url=self.website_url or "https://faq.invalid",
            website_name=self.website_name or "-",
            items=self.items,
            slug=slug,
            introduction=self.introduction or None,
            lang=None,
            revision=UNSET,
        )
        try:
            items = publish_body(**(self.publication() | needed))["items"]
        except PublishRejected as error:
            problems += error.problems
        if problems:
            raise PublishRejected("; ".join(problems), problems=problems)
        return FAQ(
            slug=slug,
            title=self.title or "",
            website_name=self.website_name or "",
            lang=self.lang,
            items=tuple(Item(index, **item) for index, item in enumerate(items)),
            cta=self.cta,
            answer_format=self.answer_format or "text",
            website_url=self.website_url,
            page_url=self.page_url,
            introduction=self.introduction or None,
        )

    def publication(self) -> PublishFields:
        """Return the arguments of `FAQClient.publish_faq`, unvalidated."""
        return PublishFields(
            website_url=self.website_url,
            website_name=self.website_name,
            items=self.items,
            slug=self.slug,
            title=self.title,
            introduction=self.introduction,
            lang=self.lang,
            answer_format=None if self.answer_format == "text" else self.answer_format,
            page_url=self.page_url,
            draft=self.draft or False,
            revision=UNSET if self.slug is None else self.revision,
        )

    def without_incomplete(self) -> Self:
        """Return the document without the items that have no question or no answer, and a note on each.

        The document stays as it is, and is refused later, unless most items have both and most of those ask.
        One that states its format also stays as it is, because its writer did not mean to leave them out.
        """
        items = [one if isinstance(one, dict) else dict.fromkeys(_TEXTS, one) for one in self.items]
        empty = {i: name for i, one in enumerate(items) for name in _TEXTS if one[name] in (None, "", [], {})}
        kept = sorted({*range(len(items))}.difference(empty))
        asking = sum(asks(str(items[index]["question"])) for index in kept)
        if not empty or self.answer_format is not None or not asking * 2 > len(kept) > len(empty):
            return self
        return self.without({index: f"has no {name}, and is left out" for index, name in empty.items()})

    def without_hidden(self, hidden: Mapping[int, str]) -> Self:
        """Return the document without the items that its file calls hidden by a field, and a note on each.

        If most items are hidden, the whole FAQ is a draft: the field may say which answer is open.
        """
        if len(hidden) * 2 > len(self.items):
            index, name = next(iter(hidden.items()))
            message = f"{quoted(name)} says that most questions are not public: the FAQ is a draft"
            return replace(self, draft=True, notes=[*self.notes, f"{self.place(index, 0)}: {message}"])
        reason = "left out, as {} says that it is not public"
        return self.without({index: reason.format(quoted(name)) for index, name in hidden.items()})

    def without(self, reasons: Mapping[int, str]) -> Self:
        """Return the document without the items with these indexes, and a note with the reason for each."""
        kept = [index for index in range(len(self.items)) if index not in reasons]
        return replace(
            self,
            items=[self.items[index] for index in kept],
            positions=[self.positions[index] for index in kept],
            answer_lines=[self.answer_lines[index] for index in kept if self.answer_lines],
            notes=[*self.notes, *(f"{self.place(index, 0)}: {reason}" for index, reason in reasons.items())],
        )

    def all_notes(self) -> list[str]:
        """Return notes on what the document leaves out, and on questions and ids that it has twice."""
        notes = list(self.notes)
        if self.unknown:
            names = [name + _suggestion(name) for name in self.unknown[:20]]
            names += [f"and {len(self.unknown) - 20} more"] if self.unknown[20:] else []
            notes.append(f"unknown and left out: {', '.join(names)}")
        first = dict[tuple[object, ...], int]()
        for index, item in enumerate(self.items if isinstance(self.items, list) else ()):
            if isinstance(item, dict) and isinstance(item.get("question"), str) and item["question"].strip():
                section = item.get("section")  # it may be anything in a file that is refused
                key = (str(section or ""), spelling(item["question"]) or item["question"])
                if first.setdefault(key, index) != index:
                    notes.append(f"{self.place(index, 1)}: asks the same as {self.place(first[key], 1)}")
            if isinstance(item, dict) and isinstance(item.get("id"), str):
                other = first.setdefault((item["id"],), index)
                if other != index:
                    message = f"has the id {quoted(item['id'])}, as {self.place(other, 1)} does"
                    notes.append(f"{self.place(index, 1)}: {message}: give each an id of its own")
        return notes

    def place(self, index: int, line: int) -> str:
        """Return the place in the file of a line of an answer, from 1; line 0 is the question.

        An index of -1 is the introduction.
        """
        if index < 0:
            first = self.introduction_line
            return "introduction" if first is None else f"line {first + line - 1}"
        if self.answer_lines and line:
            return f"line {self.answer_lines[index] + line - 1}"
        return self.positions[index] if index < len(self.positions) else f"items[{index}]"

    def _problems(self) -> Iterator[str]:
        if self.lang is not None and not is_language_tag(self.lang):
            yield f"lang is {quoted(self.lang)}: a language tag such as en is accepted"
        if self.revision is not None and (type(self.revision) is not int or self.revision < 1):
            yield f"revision is {quoted(self.revision)}: a number of 1 or more is accepted"
        try:
            copied(self.cta)
        except InvalidFAQ:
            yield "cta is not a JSON value, or is nested too deeply"

    def locate(self, problem: str) -> str:
        """Return a problem of a publication with `items[3].answer` replaced by the place in the file."""

        def place(index: re.Match[str]) -> str:
            position = self.place(int(index[1]), 0)
            return position + (index[2] and ("." if position.endswith("]") else ": "))

        return re.sub(r"items\[([0-9]+)\](\.?)", place, problem)


def _suggestion(name: str) -> str:
    """Return the field that was meant, if a name is similar to one."""
    known = _ITEM_FIELDS if name.startswith("items[].") else [*DOCUMENT_FIELDS, "question"]
    own = name.removeprefix("items[].")
    similar = () if "." in own or own in known else difflib.get_close_matches(own, known, 1, 0.75)
    return f" (did you mean {similar[0]}?)" if similar else ""
