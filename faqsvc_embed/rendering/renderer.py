"""A record and a look → HTML, from one overridable template. Nothing here knows of pages or networks."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import msgspec
from jinja2 import BaseLoader, Environment, Template
from markupsafe import Markup, escape
from msgspec.structs import replace

from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.answers import LOWEST_HEADING, Answers, visible
from faqsvc_embed.rendering.assets import (
    enhancer,
    enhancer_integrity,
    enhancer_name,
    stylesheet,
    stylesheet_name,
    theme_address,
    theme_rule,
)
from faqsvc_embed.rendering.element_ids import block_id, id_steps
from faqsvc_embed.rendering.environments import Environments, OurTemplates, for_blocks, plain
from faqsvc_embed.rendering.json_ld import serialised_page
from faqsvc_embed.rendering.overrides import Overrides
from faqsvc_embed.runtime.steps import MANY, MUCH, Steps, finished, in_short_steps
from faqsvc_embed.settings.validators import VARIANTS, Variant
from faqsvc_embed.theme import Theme

TEMPLATE: Final = "faqsvc/faq.html"
TEMPLATES: Final = (TEMPLATE, "faqsvc/block.html", *(f"faqsvc/{variant}.html" for variant in VARIANTS))
"""Those that a block may be rendered by."""

_RIGHT_TO_LEFT: Final = ("ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi")


LARGE: Final = 250_000
"""Characters of a block that costs an event loop about a millisecond each time it is copied."""


class Look(NamedTuple):
    """Everything but the record that decides what a block looks like; a key of what was rendered before."""

    theme: Theme
    show_title: bool
    heading_level: int | None
    variant: Variant = "details"
    exclusive: bool = False


class ShownItem(msgspec.Struct, frozen=True, gc=False):
    """One item as the template gets it."""

    id: str
    question: str
    answer: Markup
    text: str


class Block(msgspec.Struct, frozen=True, eq=False):
    """One rendered FAQ, and apart from it what a page needs once only."""

    faq: FAQ
    marked_up: FAQ
    """The record as JSON-LD says it; the same one where answers are text."""
    html: str
    css: tuple[str, ...]
    """The stylesheet, and the rule of the theme if it sets anything."""
    files: tuple[str, ...]
    """The file names of the same, for hosts that serve them."""
    script: str
    """The JSON-LD of this FAQ alone, without a nonce."""
    needs_enhancer: bool
    alone: Markup
    """All of it but the enhancer, inline: what a page prints that shows nothing else."""
    is_large: bool
    """An event loop should not print it at once."""
    encoded: bytes | None = None
    """`alone` in UTF-8, if that was wanted, and takes long to make."""


class Renderer:
    """Renders blocks from `faqsvc/faq.html`: the host's own if its loader has one, else ours.

    Whatever the host's environment does, this one escapes by itself and is synchronous; globals, filters
    and the delimiters of its own templates are the host's.
    """

    def __init__(
        self, host: Environment | None = None, answers: Answers | None = None, *, encodes: bool = False
    ) -> None:
        self._answers = answers or Answers()
        self._encodes = encodes
        self._host = host
        self._loader = None if host is None else host.loader
        self._ours: BaseLoader = OurTemplates("faqsvc_embed")
        self._made: Environments | None = None
        self._needs_theirs: bool | None = None

    def block(self, faq: FAQ, look: Look, ordinal: int = 1) -> Block | None:
        """Render the `ordinal`th block of an FAQ on its page; None if there is no question to show."""
        return finished(self.steps(faq, look, ordinal))

    def get_ready(self) -> None:
        """Make what the first block needs: its templates are compiled, and the stylesheet read."""
        stylesheet()
        if self._is_ours:
            for variant in VARIANTS:
                _ours(variant)
            return
        for name in TEMPLATES:
            with suppress(Exception):  # a broken template of the host's: whoever renders it will say so
                self._environments.ours.get_template(name)

    def takes_long(self, faq: FAQ) -> bool:
        """Tell whether an event loop should await `ablock` instead."""
        return is_long(faq) or self._answers.takes_long(faq)

    async def ablock(self, faq: FAQ, look: Look, ordinal: int = 1) -> Block | None:
        """Return what `block` does, in short steps; Markdown, which has none, is parsed ahead in a thread."""
        await self._answers.aparse(faq, _question_level(look))
        return await in_short_steps(self.steps(faq, look, ordinal))

    def overrides(self) -> Overrides:
        """Return what the host has put in the place of our templates by now."""
        self._follow()
        return Overrides(self._environments.theirs, self._ours, TEMPLATES)

    # Both are made for the first block: until then, a host may set its own environment up in any order. Two
    # threads may make them at once: a lock that is held while a host loads templates might be held at a fork.

    @property
    def _environments(self) -> Environments:
        if self._made is None:
            host, ours = self._host, self._ours
            self._made = plain(ours) if host is None else for_blocks(host, self._loader, ours)
        return self._made

    @property
    def _is_ours(self) -> bool:
        """The host has no templates for this, and Jinja would not look for them again."""
        if self._needs_theirs is None:
            host = self._host
            self._needs_theirs = host is not None and (host.cache is None or not self.overrides().are_none)
        return not self._needs_theirs

    def _follow(self) -> None:
        """Read templates again if the host does by now: `app.run(debug=True)` comes last."""
        if self._host is not None:
            for environment in self._environments:
                environment.auto_reload = self._host.auto_reload

    def steps(self, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        """Render as `block` does, a short step at a time: an event loop can do other things in between."""
        level = _question_level(look)
        shown = yield from self._answers.shown_items(faq, level)
        if not shown:
            return None
        anchors = yield from id_steps(faq.slug, [item.question for item in shown], ordinal)
        is_parsed = self._answers.are_parsed(faq)
        answers = yield from self._answers.steps([item.answer for item in shown], level, is_parsed)
        items: list[ShownItem] = []
        for anchor, item, answer in zip(anchors, shown, answers, strict=True):
            items.append(ShownItem(anchor, visible(item.question.strip()), answer, item.answer))
            if len(items) % MANY == 0:
                yield
        del anchors, answers  # all that they hold is freed with the items
        self._follow()
        inside = yield from _joined(self._inside(look.variant, _context(faq, look, items, ordinal)))
        while items:  # to free so much takes time, too
            del items[-MANY:]
            yield
        marked_up = self._answers.marked_up(faq, level)
        script = yield from script_steps([marked_up])
        block = yield from _assembled(faq, marked_up, look, ordinal, inside, script)
        return (yield from _encoded(block)) if self._encodes else block

    def _inside(self, variant: Variant, context: dict[str, object]) -> Iterable[str]:
        if self._is_ours:
            template = _ours(variant)
            return template.root_render_func(template.new_context(context))
        return self._environments.ours.get_template(TEMPLATE).generate(context)


@cache
def _ours(variant: Variant) -> Template:
    """Return our templates as one: for every host that puts none in their place."""
    from faqsvc_embed.rendering.linking import linked  # in no host's start

    loader = OurTemplates("faqsvc_embed")
    return linked(plain(loader).ours, loader, "faqsvc/block.html", {"variant": variant})


def is_long(*faqs: FAQ) -> bool:
    """Tell whether to render or to mark up these FAQs takes an event loop more than one step."""
    if sum(len(faq.items) for faq in faqs) > MANY:
        return True
    return sum(len(item.question) + len(item.answer) for faq in faqs for item in faq.items) > MUCH


def _question_level(look: Look) -> int | None:
    return None if look.heading_level is None else min(look.heading_level + 1, LOWEST_HEADING)


def _context(faq: FAQ, look: Look, items: list[ShownItem], ordinal: int) -> dict[str, object]:
    return {
        "faq": faq,
        "items": items,
        "title": visible(faq.title.strip()) if look.show_title else "",
        "title_level": look.heading_level,
        "question_level": _question_level(look),
        "variant": look.variant,
        "group": block_id(faq.slug, ordinal) if look.exclusive else "",
    }


def _joined(parts: Iterable[str]) -> Steps[str]:
    """Join texts, many at a time, such that UTF-8 can encode them."""
    whole: list[str] = []
    following = iter(parts)
    while many := list(islice(following, MANY)):
        yield
        text = "".join(many)
        for start in range(0, len(text), MUCH):
            whole.append(encodable(text[start : start + MUCH]))
            yield
    return "".join(whole)


def _assembled(faq: FAQ, marked_up: FAQ, look: Look, ordinal: int, inside: str, script: str) -> Steps[Block]:
    # To copy megabytes takes milliseconds: one copy is one step.
    theme_class, rule = theme_rule(look.theme)
    css, files = [stylesheet()], [stylesheet_name()]
    if rule:
        css.append(rule)
        files.append(theme_address(look.theme))
    root = f'<section class="{_classes(look, theme_class)}" id="{block_id(faq.slug, ordinal)}"'
    html = f"{root}{_language(faq.lang)}>{inside}\n</section>"
    yield
    alone = f"{style_element(css)}{html}{script}"
    yield
    whole = Markup(alone)
    yield
    return Block(
        faq=faq,
        marked_up=marked_up,
        html=html,
        css=tuple(css),
        files=tuple(files),
        script=script,
        needs_enhancer=look.variant == "disclosure",
        alone=whole,
        is_large=len(whole) > LARGE,
    )


def _encoded(block: Block) -> Steps[Block]:
    """Return a block with its bytes, unless they are quick to make."""
    text = block.alone
    if text.isascii():
        return block
    parts: list[bytes] = []
    for start in range(0, len(text), MUCH):
        parts.append(text[start : start + MUCH].encode())
        yield
    return replace(block, encoded=b"".join(parts))


def _classes(look: Look, theme_class: str) -> str:
    classes = ["faqsvc"]
    if look.variant != "details":
        classes.append(f"faqsvc-{look.variant}")
        if look.exclusive and look.variant == "disclosure":
            classes.append("faqsvc-exclusive")
    if theme_class:
        classes.append(theme_class)
    return " ".join(classes)


def encodable(text: str) -> str:
    """Return text that UTF-8 can encode, whatever an overridden template put into it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


@lru_cache(maxsize=64)
def _language(lang: str | None) -> str:
    if lang is None:
        return ' dir="auto"'
    direction = "rtl" if lang.partition("-")[0].lower() in _RIGHT_TO_LEFT else "ltr"
    return f' lang="{escape(lang)}" dir="{direction}"'


def style_element(css: Iterable[str], nonce: str | None = None) -> str:
    """Return one style element with these rules, all of them ours; empty without any."""
    text = "".join(css)
    return f"<style{_nonce(nonce)}>{text}</style>\n" if text else ""


def link_element(address: str, nonce: str | None = None) -> str:
    """Return the link to a stylesheet that the host serves."""
    return f'<link rel="stylesheet" href="{escape(address)}"{_nonce(nonce)}>\n'


def enhancer_element(address: str | None, nonce: str | None = None) -> str:
    """Return the script of the disclosure variant: the host's file at `address`, or inline without one."""
    if address is None:
        return f"\n<script{_nonce(nonce)}>{enhancer()}</script>"
    return (
        f'\n<script src="{escape(address)}/{enhancer_name()}" defer '
        f'integrity="{enhancer_integrity()}"{_nonce(nonce)}></script>'
    )


def script_element(faqs: Iterable[FAQ], nonce: str | None = None) -> str:
    """Return the script element with the one FAQPage of `faqs`; empty if they have no question."""
    return finished(script_steps(list(faqs), nonce))


def with_nonce(script: str, nonce: str | None) -> str:
    """Return a script element that has no nonce with one."""
    return script.replace(">", f"{_nonce(nonce)}>", 1) if nonce else script


def script_steps(faqs: Sequence[FAQ], nonce: str | None = None) -> Steps[str]:
    """Make what `script_element` returns, a question at a time."""
    json_ld = yield from serialised_page(faqs)
    return f'\n<script type="application/ld+json"{_nonce(nonce)}>{json_ld}</script>' if json_ld else ""


def problem_element(message: str) -> str:
    """Return what a developer sees in the place of an FAQ that cannot be shown."""
    return f'<p class="faqsvc-problem" role="note"><strong>faqsvc:</strong> {escape(encodable(message))}</p>'


def _nonce(nonce: str | None) -> str:
    return f' nonce="{escape(nonce)}"' if nonce else ""
