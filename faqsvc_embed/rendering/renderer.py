"""Renders FAQs from the template `faqsvc/faq.html`, which a host can override."""

from collections.abc import Hashable

from jinja2 import BaseLoader, Environment
from markupsafe import Markup
from msgspec import Struct

from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering import assets, templates
from faqsvc_embed.rendering.answers import AnsweredItem, Answers, visible
from faqsvc_embed.rendering.element_ids import question_ids, root_id
from faqsvc_embed.rendering.elements import encodable, section_tag
from faqsvc_embed.rendering.fragments import Fragment, make_fragment
from faqsvc_embed.rendering.json_ld import QUESTION_LEVEL, Question, page_node, serialize
from faqsvc_embed.rendering.record_cache import RecordCache
from faqsvc_embed.rendering.style import Style


class TemplateItem(Struct, frozen=True, gc=False):
    """One item as the template gets it."""

    id: str
    question: str
    answer: Markup
    text: str
    """The answer as the record has it."""


class Renderer:
    """Renders records, and caches the result for as long as the record lives."""

    def __init__(self, answers: Answers | None = None, *, cache_overrides: bool = False) -> None:
        """With `cache_overrides`, fragments from templates of the host are cached too."""
        self._answers = answers or Answers()
        self._cache_overrides = cache_overrides
        self._fragments = RecordCache[Fragment]()
        self._json_ld = RecordCache[str]()
        self._host: tuple[Environment, BaseLoader] | None = None
        self._environment: Environment | None = None
        self._is_overridden = False

    def use_host(self, host: Environment, loader: BaseLoader | None) -> None:
        """Use the templates of the host's loader instead of the package's templates."""
        self._host = None if loader is None else (host, loader)
        self._environment = None
        self._fragments.clear()

    def fragment(self, faq: FAQ, style: Style, ordinal: int = 1) -> Fragment | None:
        """Return the rendered record, or None if it has no question to show.

        `ordinal` tells FAQs with the same slug on one page apart, counted from 1.
        """
        fragment = self.cached(faq, style, ordinal)
        if fragment is None:
            environment = self._get_environment()
            fragment = self._render(faq, style, ordinal, environment)
            if fragment is not None and (self._cache_overrides or not self._is_overridden):
                self._fragments.put(faq, _key(style, ordinal), fragment, fragment.size)
        return fragment

    def cached(self, faq: FAQ, style: Style, ordinal: int = 1) -> Fragment | None:
        """Return the rendered record if it is cached."""
        return self._fragments.get(faq, _key(style, ordinal))

    def is_slow(self, faq: FAQ) -> bool:
        """Return whether rendering would block an event loop: a long record, or no template loaded yet."""
        return not self.is_ready or self._answers.is_slow(faq)

    @property
    def is_ready(self) -> bool:
        """Whether the template has been loaded."""
        return self._environment is not None

    def get_ready(self) -> None:
        """Load the template, which would block an event loop."""
        self._get_environment().get_template(templates.TEMPLATE)

    def json_ld(self, faq: FAQ) -> str:
        """Return the FAQPage of a record with its answers as they are shown; empty if it has no questions."""
        text = self._json_ld.get(faq, QUESTION_LEVEL)
        if text is None:
            text = _json_ld(faq, self._answers.items(faq, QUESTION_LEVEL))
            self._json_ld.put(faq, QUESTION_LEVEL, text, text.__sizeof__())
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

    def _render(self, faq: FAQ, style: Style, ordinal: int, environment: Environment) -> Fragment | None:
        answered = self._answers.items(faq, style.question_level)
        if not answered:
            return None
        context = _context(faq, style, ordinal, answered)
        content = encodable(environment.get_template(templates.TEMPLATE).render(context))
        theme = assets.theme_css(style.theme)
        css, files = [assets.stylesheet()], [assets.stylesheet_name()]
        if theme.rules:
            css.append(theme.rules)
            files.append(assets.theme_name(style.theme))
        return make_fragment(
            f"{section_tag(faq.slug, faq.lang, style, ordinal)}{content}\n</section>",
            _json_ld(faq, answered),
            tuple(css),
            tuple(files),
            needs_script=style.variant == "disclosure",
        )


def _key(style: Style, ordinal: int) -> Hashable:
    return style if ordinal == 1 else (style, ordinal)


def _context(faq: FAQ, style: Style, ordinal: int, answered: list[AnsweredItem]) -> dict[str, object]:
    ids = question_ids(faq.slug, [item.question for item in answered], ordinal)
    return {
        "faq": faq,
        "items": [
            TemplateItem(item_id, visible(item.question.strip()), item.html, item.text)
            for item_id, item in zip(ids, answered, strict=True)
        ],
        "title": visible(faq.title.strip()) if style.show_title else "",
        "title_level": style.heading_level,
        "question_level": style.question_level,
        "variant": style.variant,
        "group": root_id(faq.slug, ordinal) if style.exclusive else "",
    }


def _json_ld(faq: FAQ, answered: list[AnsweredItem]) -> str:
    return serialize(page_node(Question(item.question, item.json_ld, faq.lang) for item in answered))
