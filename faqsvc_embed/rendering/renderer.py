"""Renders FAQs from the template `faqsvc/faq.html`, which a host can override."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final, NamedTuple, TypedDict

from jinja2 import BaseLoader, Environment
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from faqsvc_embed.errors import quoted
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering import assets, templates
from faqsvc_embed.rendering.answers import QUESTION_LEVEL, AnsweredItem, Answers, below, visible
from faqsvc_embed.rendering.element_ids import former_ids, question_ids, root_id, section_ids
from faqsvc_embed.rendering.elements import encodable, section_tag
from faqsvc_embed.rendering.fragments import Fragment, Stylesheet, make_fragment
from faqsvc_embed.rendering.json_ld import page_json, question_node, questions_json
from faqsvc_embed.rendering.record_cache import RecordCache
from faqsvc_embed.rendering.style import Style

LONG: Final = 65_536
"""Characters of a record above which it is rendered in a thread; Markdown of this length takes 0.1 s."""

TALL: Final = 12
"""Number of questions from which the script adds an index and a button "Open all"; so do two sections."""


class Place(NamedTuple):
    """The number of an FAQ among those with its slug in a document. Element ids depend on it."""

    ordinal: int = 1
    """Counted from 1."""
    copy_of: int = 1
    """The number of the first FAQ with the same record. Both have its `@id`s."""


FIRST: Final = Place()


class TemplateItem(Struct, frozen=True, gc=False):
    """One item as the template gets it."""

    id: str
    question: str
    answer: Markup
    text: str
    """The answer as it is in the record."""
    former_id: str = ""
    """The id in the first release, if it was different."""


class TemplateSection(Struct, frozen=True, gc=False):
    """Questions under a common heading, as the template gets them."""

    id: str
    title: str
    """Empty for questions without a section."""
    question_level: int | None
    items: list[TemplateItem]


class _Context(TypedDict):
    """The variables of the template, which `faqsvc/block.html` documents."""

    faq: FAQ
    items: list[TemplateItem]
    sections: list[TemplateSection]
    title: str
    introduction: Markup
    title_level: int | None
    question_level: int | None
    variant: str
    group: str


class Renderer:
    """Renders records, and caches the result for as long as the record lives."""

    def __init__(self, answers: Answers | None = None, *, cache_overrides: bool = False) -> None:
        """With `cache_overrides`, fragments from templates of the host are cached too."""
        self.answers: Final = answers or Answers()
        self._cache_overrides = cache_overrides
        self._fragments = RecordCache[Fragment]()
        self._questions = RecordCache[str]()
        self._host: tuple[Environment, BaseLoader] | None = None
        self._environment: Environment | None = None
        self._is_overridden = False

    def use_host(self, host: Environment, loader: BaseLoader | None) -> None:
        """Use the templates of the host's loader instead of the package's templates."""
        self._host = None if loader is None else (host, loader)
        self._environment = None
        self._fragments.clear()

    def fragment(self, faq: FAQ, style: Style, place: Place = FIRST) -> Fragment | None:
        """Return the rendered record, or None if it has no question to show."""
        fragment = self.cached(faq, style, place)
        if fragment is None:
            environment = self._get_environment()
            fragment = self._render(faq, style, place, environment)
            if fragment is not None and (self._cache_overrides or not self._is_overridden):
                self._fragments.put(faq, _key(style, place), fragment, fragment.size)
        return fragment

    def cached(self, faq: FAQ, style: Style, place: Place = FIRST) -> Fragment | None:
        """Return the rendered record if it is cached."""
        return self._fragments.get(faq, _key(style, place))

    @staticmethod
    def is_long(faq: FAQ) -> bool:
        """Return whether rendering a record takes too long for an event loop."""
        return sum(len(item.question) + len(item.answer) for item in faq.items) > LONG

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

    def questions_json(self, faq: FAQ, place: Place | None) -> str:
        """Return the questions of a record, with answers as they are shown, for `json_ld.page_json`.

        Without a `place` they have no `@id`, because the page has no elements with their ids.
        """
        text = self._questions.get(faq, place)
        if text is None:
            text = self._questions_json(faq, self.answers.items(faq, QUESTION_LEVEL), place)
            self._questions.put(faq, place, text, text.__sizeof__())
        return text

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
        answered = self.answers.items(faq, level)
        if not answered:
            return None
        context = _context(faq, style, place, answered)
        context["introduction"] = self.answers.introduction(faq, level)
        content = encodable(environment.get_template(templates.TEMPLATE).render(context))
        if level != QUESTION_LEVEL and self.answers.is_markdown(faq):
            answered = self.answers.items(faq, QUESTION_LEVEL)  # copies of an FAQ have the same JSON-LD
        theme = assets.theme_css(style.theme)
        stylesheets = [Stylesheet(assets.stylesheet(), assets.stylesheet_name())]
        if theme.rules:
            stylesheets.append(Stylesheet(theme.rules, assets.theme_name(style.theme)))
        is_tall = len(context["sections"]) > 1 or (len(answered) >= TALL and not style.exclusive)
        fragment = make_fragment(
            section_tag(faq, style, root_id(faq.slug, place.ordinal), is_tall),
            content,
            page_json([self._questions_json(faq, answered, place)]),
            tuple(stylesheets),
            needs_script=style.variant == "disclosure" or is_tall,
        )
        problems = tuple(
            f"answer to {quoted(item.question)}, line {dropped.line}: {dropped}"
            for item in answered
            for dropped in item.dropped
        )
        return replace(fragment, problems=problems) if problems else fragment

    @staticmethod
    def _questions_json(faq: FAQ, answered: list[AnsweredItem], place: Place | None) -> str:
        ids: Sequence[str | None] = [None] * len(answered)
        if place is not None:
            ids = question_ids(faq.slug, answered, place.copy_of)
        return questions_json(
            question_node(item.question, item.json_ld, faq.lang, element_id)
            for item, element_id in zip(answered, ids, strict=True)
        )


def _key(style: Style, place: Place) -> Hashable:
    return style if place == FIRST else (style, place)


def _context(faq: FAQ, style: Style, place: Place, answered: list[AnsweredItem]) -> "_Context":
    sections = list(_sections(faq.slug, style, place, answered))
    return {
        "faq": faq,
        "items": [item for section in sections for item in section.items],
        "sections": sections,
        "title": visible(faq.title.strip()) if style.show_title else "",
        "introduction": Markup(),
        "title_level": style.heading_level,
        "question_level": style.question_level,
        "variant": style.variant,
        "group": root_id(faq.slug, place.ordinal) if style.exclusive else "",
    }


def _sections(
    slug: str, style: Style, place: Place, answered: list[AnsweredItem]
) -> Iterator[TemplateSection]:
    """Yield the items in their order, grouped by section."""
    ids = question_ids(slug, answered, place.ordinal)
    former = former_ids(slug, answered, ids, place.ordinal)
    rows = zip(answered, ids, former, strict=True)
    titles = list(dict.fromkeys(item.section or "" for item in answered))
    of_sections = iter(section_ids(slug, titles, place.ordinal))
    for title, group in groupby(rows, lambda row: row[0].section):
        yield TemplateSection(
            next(of_sections),
            visible(title or ""),
            below(style.question_level, title),
            [
                TemplateItem(item_id, visible(item.question.strip()), item.html, item.text, former_id)
                for item, item_id, former_id in group
            ],
        )
