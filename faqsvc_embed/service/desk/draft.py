"""The form of an FAQ: reading its fields, finding problems, and converting it to content."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

from markupsafe import Markup
from msgspec import structs

from faqsvc_embed.api.content import stored_record
from faqsvc_embed.api.contract import NewItem
from faqsvc_embed.api.fields import MAX_BODY, MAX_ITEMS, Slug
from faqsvc_embed.api.publish_request import encode
from faqsvc_embed.api.validation import field_problems, publication_problems
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ, AnswerFormat, Item
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.fragments import Style
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.service.desk.forms import Form, completed, with_newlines
from faqsvc_embed.service.storage.slugs import proposed_slug
from faqsvc_embed.service.storage.values import Revision

Problems = dict[str, str]
"""Messages by field: `slug`, `title`, `websiteName`, `websiteUrl`, `items`, `items[3].answer`."""

_LABELS: Final = {
    "title": "The title",
    "websiteName": "The name of the website",
    "introduction": "The introduction",
    "question": "The question",
    "answer": "The answer",
    "section": "The section",
    "id": "The id",
}
ADDRESS: Final = "Write an address such as https://www.example.com."
_FIRST: Final = ("title", "slug")
"""The settings above the questions of a new FAQ; the others are below them."""
_SETTINGS: Final = (*_FIRST, "websiteName", "websiteUrl", "pageUrl", "introduction")
"""The settings in the order of the form."""
HEADING_LEVEL: Final = 3
"""The level of the preview's title, because the preview is below an h2."""
_ANY_ITEM: Final = {"question": "?", "answer": "!"}
"""Stands for the questions while the other fields are checked."""
_SENTENCES: Final = {
    "slug": "A slug is a short name such as pricing: up to 200 characters, without a slash.",
    "websiteUrl": "Write the address of the website, such as https://www.example.com.",
    "pageUrl": "Write the address of the page that shows it, such as https://www.example.com/help.",
}


def too_many(count: int) -> str:
    """Return the message for too many questions."""
    return f"This FAQ has {count:,} questions; the limit is {MAX_ITEMS:,}. Split it into several FAQs."


class DraftItem(NamedTuple):
    """A question as an editor typed it; section and id are empty if there is none."""

    question: str = ""
    answer: str = ""
    section: str = ""
    id: str = ""

    @property
    def has_text(self) -> bool:
        """Whether it has a text."""
        return bool(self.question.strip() or self.answer.strip())

    def fields(self) -> dict[str, str]:
        """Return the fields by their names on the wire, without optional ones that are empty."""
        fields = self._asdict()
        return {name: text for name, text in fields.items() if text or name in ("question", "answer")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The fields of an FAQ in one language, not validated."""

    slug: str = ""
    lang: str = ""
    title: str = ""
    website_name: str = ""
    website_url: str = ""
    page_url: str = ""
    introduction: str = ""
    answer_format: AnswerFormat = "text"
    items: tuple[DraftItem, ...] = ()

    @classmethod
    def of_form(cls, form: Form) -> Self:
        """Return the draft that an editor typed into a form, without a slug that the form only proposed."""
        # Programs and older forms send neither sections nor ids.
        rows, slug = form.rows("question", "answer", "section", "item_id"), form.get("slug").strip()
        return cls(
            slug="" if slug == form.get("proposed") else slug,
            lang=form.get("lang") if form.get("lang") in LANGUAGES else "",
            title=_one_line(form.get("title")),
            website_name=_one_line(form.get("website_name")),
            website_url=completed(_one_line(form.get("website_url"))),
            page_url=completed(_one_line(form.get("page_url"))),
            introduction=form.get("introduction").strip(),
            answer_format="markdown" if form.get("answer_format") == "markdown" else "text",
            items=tuple(
                DraftItem(question, answer, _one_line(section), item_id)
                for question, answer, section, item_id in rows
            ),
        )

    @classmethod
    def of_revision(cls, revision: Revision) -> Self:
        """Return the draft with the content of a revision, in the form in which a browser sends it back."""
        faq = revision.faq
        return cls(
            slug=revision.slug,
            lang=revision.lang,
            title=_one_line(faq.title),
            website_name=_one_line(faq.website_name),
            website_url=_one_line(revision.website_url),
            page_url=faq.page_url or "",
            introduction=with_newlines(faq.introduction or "").strip(),
            answer_format=faq.answer_format,
            items=tuple(
                DraftItem(
                    with_newlines(item.question),
                    with_newlines(item.answer),
                    item.section or "",
                    item.id or "",
                )
                for item in faq.items
            ),
        )

    @property
    def proposed(self) -> str:
        """The slug that a new FAQ gets from its title."""
        return proposed_slug(self.title, self.website_name) if self.title else ""

    @property
    def filled_items(self) -> tuple[DraftItem, ...]:
        """The items that are not empty."""
        return tuple(item for item in self.items if item.has_text)

    def edited(self, action: str, source: "Draft | None" = None) -> tuple["Draft", int]:
        """Return the draft after a press of a button such as `up:3`, and the index of its item.

        `copy` replaces an item by its source. In a translation, `add` adds an item at the end, and `remove`
        empties the item of a source, so that the items below stay beside their own sources.
        """
        name, _, place = action.partition(":")
        items, is_place = list(self.items), place.isascii() and place.isdigit() and len(place) < 6
        index = min(int(place), len(items)) if is_place else len(items)
        original = self.originals(source)[index] if source and index < len(items) else None
        if name == "add":
            index = len(items) if source else index
            items.insert(index, DraftItem(section=items[index - 1].section if index else ""))
        elif index == len(items):
            pass  # there is no such item
        elif name == "copy":
            items[index] = original or items[index]
        elif name == "remove" and original:
            items[index] = DraftItem(id=items[index].id)
        else:
            item = items.pop(index)
            if name in ("up", "down"):
                index = max(0, min(len(items), index + (1 if name == "down" else -1)))
                items.insert(index, item)
        return replace(self, items=tuple(items)), min(index, max(0, len(items) - 1))

    def originals(self, source: "Draft") -> list[DraftItem | None]:
        """Return the source of each item: the item with the same id, else the item at the same place."""
        ids = {item.id for item in self.items if item.id}
        by_id = {original.id: original for original in reversed(source.items) if original.id}
        found = list[DraftItem | None]()
        for index, item in enumerate(self.items):
            original = source.items[index] if index < len(source.items) else DraftItem()
            is_free = original.has_text and original.id not in ids
            found.append(by_id.get(item.id) or (original if is_free else None))
        return found

    def gaps(self, source: "Draft") -> list[int]:
        """Return the indexes of untranslated items above a translated one that has only its place, no id."""
        places = [index for index, item in enumerate(self.items) if item.has_text and not item.id]
        originals = self.originals(source)[: max(places, default=0)]
        return [place for place, found in enumerate(originals) if found and not self.items[place].has_text]

    def problems(self, *, is_new: bool) -> Problems:
        """Return all problems that prevent saving, by field."""
        body = self._body()
        found = field_problems("slug", self.slug, Slug) if is_new and self.slug else []
        found += publication_problems({**body, "items": [_ANY_ITEM]})
        for index, item in enumerate(self.items):
            if item.has_text:
                found += field_problems(f"items[{index}]", item.fields(), NewItem)
        problems = Problems()
        for text in found:
            path, _, rest = text.partition(" ")
            label = _LABELS.get(path.rpartition(".")[2].partition("[")[0], "This")
            problems.setdefault(path, _SENTENCES.get(path) or f"{label} {rest}.")
        count = len(self.filled_items)
        if not count:
            problems["items"] = "The list of questions is empty: write a question and its answer."
        elif count > MAX_ITEMS:
            problems["items"] = too_many(count)
        # As in the API: clients do not read a larger record.
        elif not problems and (size := len(encode(body))) > MAX_BODY:
            problems["items"] = (
                f"This FAQ is too large: it has {size:,} bytes; the limit is {MAX_BODY:,}."
                " Shorten it, or split it into several FAQs."
            )
        above = _FIRST if is_new else _SETTINGS
        ordered = [*above, *(name for name in problems if name not in _SETTINGS), *_SETTINGS]
        return {name: problems[name] for name in ordered if name in problems}

    def content(self) -> FAQ:
        """Return the FAQ to store. The draft must have no problems."""
        items = enumerate(self.filled_items)
        return structs.replace(
            self.record(),
            title=self.title,
            items=tuple(Item(n, one.question, one.answer, one.section, one.id or None) for n, one in items),
            page_url=self.page_url,
        )

    def record(self) -> FAQ:
        """Return the FAQ as it would be shown, even if it has problems."""
        items = self.items[:MAX_ITEMS]
        return FAQ(
            slug=self.slug or "preview",
            title=self.title or f"{self.website_name} FAQ".strip(),
            website_name=self.website_name,
            lang=self.lang or "en",
            items=tuple(Item(index, *item[:2], item.section[:200]) for index, item in enumerate(items)),
            answer_format=self.answer_format,
            website_url=self.website_url or None,
            introduction=self.introduction or None,
        )

    def preview(self) -> Markup:
        """Return the draft as readers would see it; empty without questions."""
        # A new renderer, because a cache would serve only this one record.
        fragment = Renderer().fragment(self.record(), Style(heading_level=HEADING_LEVEL))
        return Markup() if fragment is None else Markup(fragment.html)

    def not_shown(self) -> dict[int, list[str]]:
        """Return the parts of each answer that readers would not see."""
        found = dict[int, list[str]]()
        for index, dropped in answers.problems(self.record()):
            found.setdefault(index, []).append(f"Line {max(dropped.line, 1)}: {dropped}.")
        return found

    def is_same(self, revision: Revision) -> bool:
        """Return whether a revision has the same content, as the form shows it."""
        earlier = self.of_revision(revision)
        mine, theirs = (stored_record(draft.content(), self.slug, self.lang) for draft in (self, earlier))
        return (self.website_url, mine) == (earlier.website_url, theirs)

    def _body(self) -> dict[str, Any]:
        """Return the fields by their names on the wire, without optional ones that are empty."""
        required = {"websiteUrl": self.website_url, "websiteName": self.website_name}
        optional = {"title": self.title, "pageUrl": self.page_url, "introduction": self.introduction}
        items = [item.fields() for item in self.filled_items]
        return {**required, "items": items, **{name: value for name, value in optional.items() if value}}


def _one_line(text: str) -> str:
    """Return a text as the value of an input element, which has no line breaks; outer space is removed."""
    return re.sub(r"[\r\n]+", " ", text).strip()
