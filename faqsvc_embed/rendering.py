"""A record and a look → HTML, from one overridable template. Nothing here knows of pages or networks."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, Template
from markupsafe import Markup, escape

from faqsvc_embed.anchors import block_id, id_steps
from faqsvc_embed.jsonld import serialised_page
from faqsvc_embed.records import FAQ, Item
from faqsvc_embed.steps import MANY, Steps, finished
from faqsvc_embed.theme import Theme, css_number

TEMPLATE: Final = "faqsvc/faq.html"
LOWEST_HEADING: Final = 6

_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_RIGHT_TO_LEFT: Final = ("ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi")


class Look(NamedTuple):
    """Everything but the record that decides what a block looks like; a key of what was rendered before."""

    theme: Theme
    show_title: bool
    heading_level: int | None


class ShownItem(msgspec.Struct, frozen=True, gc=False):
    """One item as the template gets it."""

    id: str
    question: str
    answer: Markup
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One rendered FAQ, and apart from it what a page needs once only."""

    faq: FAQ
    html: str
    css: tuple[str, ...]
    """The stylesheet, and the rule of the theme if it sets anything."""
    script: str
    """The JSON-LD of this FAQ alone, without a nonce."""
    alone: Markup
    """All of it, inline: what a page prints that shows nothing else."""


class Renderer:
    """Renders blocks from `faqsvc/faq.html`: the host's own if its loader has one, else ours.

    Whatever the host's environment does, this one escapes by itself and is synchronous, in the default
    syntax of Jinja; globals and filters are the host's.
    """

    def __init__(self, host: Environment | None = None) -> None:
        ours: list[BaseLoader] = [PackageLoader("faqsvc_embed")]
        if host is None:
            self._environment = Environment(autoescape=True, loader=ours[0])
        else:
            self._environment = _overlay(host, ChoiceLoader(([host.loader] if host.loader else []) + ours))

    def block(self, faq: FAQ, look: Look, ordinal: int = 1) -> Block | None:
        """Render the `ordinal`th block of an FAQ on its page; None if there is no question to show."""
        return finished(self.steps(faq, look, ordinal))

    def get_ready(self) -> None:
        """Make what the first block needs: its template is compiled, and the stylesheet read."""
        stylesheet()
        with suppress(Exception):  # a broken template of the host's: whoever renders it will say so
            self._environment.get_template(TEMPLATE)

    def steps(self, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        """Render as `block` does, a short step at a time: an event loop can do other things in between."""
        shown = list[Item]()
        for item in faq.items:
            if item.question.strip() and item.answer.strip():
                shown.append(item)
            yield
        if not shown:
            return None
        items = list[ShownItem]()
        anchors = yield from id_steps(faq.slug, [item.question for item in shown], ordinal)
        for anchor, item in zip(anchors, shown, strict=True):
            question = _visible(item.question.strip())
            items.append(ShownItem(anchor, question, paragraphs(item.answer), item.answer))
            yield
        template = self._environment.get_template(TEMPLATE)
        inside = yield from _joined(map(encodable, template.generate(self._context(faq, look, items))))
        while items:  # to free so much takes time, too
            del items[-MANY:]
            yield
        script = yield from script_steps([faq])
        return (yield from _assembled(faq, look, ordinal, inside, script))

    @staticmethod
    def _context(faq: FAQ, look: Look, items: list[ShownItem]) -> dict[str, object]:
        level = look.heading_level
        return {
            "faq": faq,
            "items": items,
            "title": _visible(faq.title.strip()) if look.show_title else "",
            "title_level": level,
            "question_level": None if level is None else min(level + 1, LOWEST_HEADING),
        }


def _joined(parts: Iterable[str]) -> Steps[str]:
    """Join many short texts, some at a time."""
    whole, few = list[str](), list[str]()
    for part in parts:
        few.append(part)
        if len(few) == MANY:
            whole.append("".join(few))
            few.clear()
            yield
    return "".join(whole + few)


def _assembled(faq: FAQ, look: Look, ordinal: int, inside: str, script: str) -> Steps[Block]:
    # To copy megabytes takes milliseconds: one copy is one step.
    theme_class, rule = theme_rule(look.theme)
    classes = f"faqsvc {theme_class}" if theme_class else "faqsvc"
    root = f'<section class="{classes}" id="{block_id(faq.slug, ordinal)}"{_language(faq.lang)}>'
    html = f"{root}{inside}\n</section>"
    css = (stylesheet(), rule) if rule else (stylesheet(),)
    yield
    alone = f"{style_element(css)}{html}{script}"
    yield
    marked_up = Markup(alone)
    yield
    return Block(faq, html, css, script, marked_up)


def _overlay(host: Environment, loader: BaseLoader) -> Environment:
    plain = Environment(autoescape=True)
    overlay = host.overlay(
        block_start_string=plain.block_start_string,
        block_end_string=plain.block_end_string,
        variable_start_string=plain.variable_start_string,
        variable_end_string=plain.variable_end_string,
        comment_start_string=plain.comment_start_string,
        comment_end_string=plain.comment_end_string,
        line_statement_prefix=plain.line_statement_prefix,
        line_comment_prefix=plain.line_comment_prefix,
        trim_blocks=False,
        lstrip_blocks=False,
        autoescape=True,
        enable_async=False,
        finalize=None,
        loader=loader,
    )
    overlay.template_class = Template
    return overlay


def paragraphs(text: str) -> Markup:
    """Return plain text as HTML: everything escaped, blank lines part paragraphs, line breaks are kept."""
    text = _visible(text.strip().replace("\r\n", "\n").replace("\r", "\n"))
    parts = [str(escape(part)).replace("\n", "<br>\n") for part in _PARAGRAPHS.split(text)]
    return Markup("\n".join(f"<p>{part}</p>" for part in parts))  # every part is escaped above


def _visible(text: str) -> str:
    """U+0000 cannot be written in HTML: parsers drop it or replace it, each in its way."""
    return text.replace("\0", "\ufffd")


def encodable(text: str) -> str:
    """Return text that UTF-8 can encode, whatever an overridden template put into it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _language(lang: str | None) -> str:
    if lang is None:
        return ' dir="auto"'
    direction = "rtl" if lang.partition("-")[0].lower() in _RIGHT_TO_LEFT else "ltr"
    return f' lang="{escape(lang)}" dir="{direction}"'


def theme_rule(theme: Theme) -> tuple[str, str]:
    """Return the class and the CSS rule of a theme; both empty if it sets nothing."""
    declarations = []
    if theme.accent_color is not None:
        declarations.append(f"--faqsvc-accent:{theme.accent_color}")
    if theme.question_size is not None:
        declarations.append(f"--faqsvc-question-size:{css_number(theme.question_size)}px")
    if not declarations:
        return "", ""
    body = ";".join(declarations)
    name = f"faqsvc-{hashlib.sha256(body.encode()).hexdigest()[:8]}"
    return name, f"@layer faqsvc{{.{name}{{{body}}}}}"


@cache
def stylesheet() -> str:
    """Return the component's stylesheet, without comments and spare white space."""
    css = (Path(__file__).parent / "static" / "faqsvc.css").read_text(encoding="utf-8")
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r"\s+", " ", css)
    return re.sub(r" ?([{};,>]) ?", r"\1", css.replace(": ", ":")).strip()


@cache
def stylesheet_name() -> str:
    """Return the file name under which a host serves the stylesheet: it changes when the contents do."""
    return f"faqsvc.{hashlib.sha256(stylesheet().encode()).hexdigest()[:12]}.css"


def style_element(css: Iterable[str], nonce: str | None = None) -> str:
    """Return one style element with these rules, all of them ours; empty without any."""
    text = "".join(css)
    return f"<style{_nonce(nonce)}>{text}</style>\n" if text else ""


def link_element(address: str) -> str:
    """Return the link to a stylesheet that the host serves."""
    return f'<link rel="stylesheet" href="{escape(address)}">\n'


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
