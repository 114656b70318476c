"""Renders FAQs from the template `faqsvc/faq.html`, which a host can override."""

import re
from collections.abc import Collection, Hashable, Iterator
from contextlib import nullcontext, suppress
from itertools import groupby
from typing import Any, Final, NamedTuple

from jinja2 import BaseLoader, Environment
from markupsafe import Markup
from msgspec import Struct

from faqsvc_embed.errors import quoted
from faqsvc_embed.models import FAQ, shown
from faqsvc_embed.models.element_ids import anchored, root_id
from faqsvc_embed.rendering import answers, assets, templates
from faqsvc_embed.rendering.answers import (
    QUESTION_LEVEL,
    AnsweredItem,
    Dropped,
    below,
    shown_as_typed,
    visible,
)
from faqsvc_embed.rendering.fragments import (
    LONG_SCRIPT,
    WHOLE_SCRIPT,
    Fragment,
    Style,
    contents,
    encodable,
    section_tag,
)
from faqsvc_embed.rendering.json_ld import Node, page_json, question_json, question_nodes, serialize
from faqsvc_embed.rendering.record_cache import RecordCache
from faqsvc_embed.runtime.threads import Lock
from faqsvc_embed.text import PORTION
from faqsvc_embed.theme import Theme

LONG: Final = 65_536
"""Characters of a record above which it is rendered in a thread; Markdown of this length takes 0.1 s."""
ITEM_COST: Final = 40
"""Characters that count for each item beside its texts, because its elements take time, too."""

TALL: Final = 12
"""Number of questions from which the script adds a filter and a button "Open all"."""
_RICH: Final = re.compile("<(?!/|p>|a |strong>|em>|br>)")
"""An element of an answer that needs the piece `rich` of the stylesheet."""
_VARIANT_PIECES: Final = {
    "details": ("toggle", "details"),
    "disclosure": ("toggle", "headings", "disclosure"),
    "open": ("headings", "open"),
}
_LANGUAGES_WITH_RULES: Final = ("de", "es", "fr", "ja", "ko", "zh")
"""The languages that need the piece `languages` of the stylesheet."""

Numbers = tuple[int | None, ...]
"""For each anchor of a record, the number in its id, as `anchored` takes them; empty if all ids are plain."""


class Place(NamedTuple):
    """The place of an FAQ in a document. Ids depend on it."""

    ordinal: int = 1
    """Its number among the FAQs with its slug, from 1."""
    in_elements: Numbers = ()
    """The numbers in the ids of its elements."""
    in_json_ld: Numbers = ()
    """The numbers in the `@id`s of its questions, each that of the first element with the question."""


FIRST: Final = Place()


class TemplateItem(Struct, frozen=True, gc=False):
    """One item as the template gets it."""

    id: str
    question: str
    answer: Markup
    text: str
    """The answer as it is in the record."""


class TemplateSection(Struct, frozen=True, gc=False):
    """Questions under a common heading, as the template gets them."""

    id: str
    title: str
    """Empty for questions without a section."""
    question_level: int | None
    items: list[TemplateItem]


class Renderer:
    """Renders records, and caches the result for as long as the record lives."""

    def __init__(self, *, cache_overrides: bool = False) -> None:
        """With `cache_overrides`, fragments from templates of the host are cached too."""
        self._cache_overrides = cache_overrides
        self._fragments = RecordCache[Fragment]()
        self._questions = RecordCache[tuple[str, ...]]()
        self.cached: Final = self._fragments.get
        """Return the fragment of a record, if it is cached, by its style and its place."""
        self._host: tuple[Environment, BaseLoader] | None = None
        self._environment: Environment | None = None
        self._is_overridden = False
        self._turns: dict[Hashable, Lock] = {}
        """What is being rendered: a page and the thread that prepares the record take turns."""

    def use_host(self, host: Environment, loader: BaseLoader | None) -> None:
        """Use the templates of the host's loader instead of the package's templates."""
        self._host = None if loader is None else (host, loader)
        self._environment = None
        self._fragments.clear()

    def fragment(self, faq: FAQ, style: Style, place: Place = FIRST) -> Fragment | None:
        """Return the rendered record, or None if it has no question to show."""
        key = style, place
        if (found := self.cached(faq, key)) is not None:
            return found
        environment, rendering = self._get_environment(), (id(faq), key)
        # The templates of the host may do anything, so nothing waits for them.
        turn = nullcontext() if self._is_overridden else self._turns.setdefault(rendering, Lock()).own()
        try:
            with turn:
                found = self.cached(faq, key) or self._render(faq, style, place, environment)
                if found is not None and (self._cache_overrides or not self._is_overridden):
                    self._fragments.put(faq, key, found, found.size)
                return found
        finally:
            self._turns.pop(rendering, None)

    @staticmethod
    def is_long(faq: FAQ) -> bool:
        """Return whether rendering a record takes too long for an event loop."""
        return sum(len(item.question) + len(item.answer) + ITEM_COST for item in faq.items) > LONG

    @property
    def is_ready(self) -> bool:
        """Whether the templates were loaded. They are not if the host only reads FAQs."""
        return self._environment is not None

    def load_templates(self) -> None:
        """Load the templates now, because it takes some milliseconds. Rendering reports a broken template."""
        with suppress(Exception):
            self._get_environment().get_template(templates.TEMPLATE)

    def prepare(self, faq: FAQ, style: Style) -> None:
        """Render a record before its first page, unless a template of the host may use the request."""
        self._get_environment()
        if self._cache_overrides or not self._is_overridden:
            self.fragment(faq, style)

    def questions_json(self, faq: FAQ, numbers: Numbers | None) -> tuple[str, ...]:
        """Return the questions of a record, with answers as they are shown, for `json_ld.page_json`.

        `numbers` are those in their `@id`s. Without an element on the page, a question has no `@id`.
        """
        found = self._questions.get(faq, numbers)
        if found is None:
            answered = answers.items(faq, QUESTION_LEVEL)
            found = tuple(map(serialize, _question_nodes(faq, answered, numbers)))
            self._questions.put(faq, numbers, found, sum(map(len, found)))
        return found

    def _get_environment(self) -> Environment:
        """Return the environment. It is created when first needed, after the host has set up its own."""
        environment = self._environment
        if environment is None:
            host = self._host
            self._is_overridden = host is not None and templates.has_overrides(*host)
            if host is not None and self._is_overridden:
                environment = templates.override_environment(*host)
            else:
                environment = templates.package_environment()
            self._environment = environment
        return environment

    def _render(self, faq: FAQ, style: Style, place: Place, environment: Environment) -> Fragment | None:
        level = style.question_level
        answered = answers.items(faq, level)
        if not answered:
            return None
        sections = _sections(faq, style, place, answered)
        introduction = answers.introduction(faq, level).html
        context = _context(faq, style, place, sections, introduction)
        content = encodable(environment.get_template(templates.TEMPLATE).render(context))
        is_tall = len(answered) >= TALL
        features = {
            "rich": any(_RICH.search(text) for text in (introduction, *(item.html for item in answered))),
            "introduction": bool(introduction),
            "sections": any(section.title for section in sections),
            "long": is_tall,
            "languages": (faq.lang or "").partition("-")[0].lower() in _LANGUAGES_WITH_RULES,
        }
        needed = {"base", style.look, *_VARIANT_PIECES[style.variant]}
        needed |= {name for name, is_needed in features.items() if is_needed}
        return Fragment(
            section_tag(faq, style, root_id(faq.slug, place.ordinal), is_tall),
            content,
            page_json(map(question_json, _question_nodes(faq, answered, place.in_json_ld))),
            _css(needed, style.theme),
            WHOLE_SCRIPT if style.variant == "disclosure" else LONG_SCRIPT if is_tall else "",
            problems=tuple(
                f"answer to {quoted(item.question)}, line {one.line}: {one}"
                for item in answered
                for one in _problems(item)
            ),
        )


def _problems(item: AnsweredItem) -> Iterator[Dropped]:
    yield from item.dropped
    if len(item.text) <= PORTION:  # a search in a longer text delays other threads; `faqsvc check` does it
        yield from shown_as_typed(item.html, item.text)


def _css(needed: Collection[str], theme: Theme) -> dict[str, str]:
    css = {name: css for name, css in assets.pieces().items() if name in needed}
    rules = assets.theme_css(theme).rules
    return {**css, assets.theme_query(theme): rules} if rules else css


def _question_nodes(faq: FAQ, answered: list[AnsweredItem], numbers: Numbers | None) -> list[Node]:
    ids = None if numbers is None else anchored(faq.slug, shown(faq).anchors, numbers)
    texts = ((item.place, item.question, item.json_ld) for item in answered)
    return question_nodes(faq, texts, ids, faq.lang)


def _context(
    faq: FAQ, style: Style, place: Place, sections: list[TemplateSection], introduction: Markup
) -> dict[str, Any]:
    """Return the variables of the template, which `faqsvc/block.html` documents."""
    titled = [section for section in sections if section.title]
    return {
        "faq": faq,
        "items": [item for section in sections for item in section.items],
        "sections": sections,
        "title": visible(faq.title.strip()) if style.show_title else "",
        "introduction": introduction,
        "index": titled if len(titled) > 1 else [],
        "contents": visible(contents(faq)),
        "title_level": style.heading_level,
        "question_level": style.question_level,
        "variant": style.variant,
        "group": root_id(faq.slug, place.ordinal) if style.exclusive else "",
    }


def _sections(faq: FAQ, style: Style, place: Place, answered: list[AnsweredItem]) -> list[TemplateSection]:
    """Return the items in their order, grouped by section."""
    parts = shown(faq)
    ids = anchored(faq.slug, parts.anchors, place.in_elements)
    of_sections = dict(zip(parts.sections, ids[len(parts.items) :], strict=True))
    return [
        TemplateSection(
            of_sections[title or ""] or "",
            visible(title or ""),
            below(style.question_level, title),
            [
                TemplateItem(ids[item.place] or "", visible(item.question.strip()), item.html, item.text)
                for item in group
            ],
        )
        for title, group in groupby(answered, lambda item: item.section)
    ]
