"""What an answer is on a page and in JSON-LD: plain text, or Markdown made safe; both of the same tree.

Text is text: every character of it is shown, blank lines part paragraphs. Markdown (CommonMark 0.31) is an
extra and a choice. HTML inside it is text, too; what Markdown makes is cleaned by an HTML5 parser with a
list of what may stay, and the JSON-LD is cut from that, down to the tags that Google listed for answers.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from html import unescape
from typing import TYPE_CHECKING, Final
from weakref import ref

from markupsafe import Markup, escape

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.runtime.steps import MANY, MUCH, Steps, finished, portions
from faqsvc_embed.settings.validators import AnswerFormat

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

logger = logging.getLogger("faqsvc_embed")

SCHEMES: Final = ("http", "https", "mailto", "tel")
"""Of links that mean the same on every page."""
SCHEMA_TAGS: Final = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "br", "ol", "ul", "li", "a", "p", "div", "b", "strong", "i", "em")
)
"""The tags that Google's documentation of FAQPage listed for the text of an answer."""
SHOWN_TAGS: Final = frozenset(
    (
        "h3",
        "h4",
        "h5",
        "h6",
        "br",
        "ol",
        "ul",
        "li",
        "a",
        "p",
        "strong",
        "em",
        "code",
        "pre",
        "blockquote",
        "hr",
    )
)
LOWEST_HEADING: Final = 6
KEPT: Final = 2048
"""Answers whose HTML is kept at hand: a record is shown in several looks, and marked up again with others."""

LONGEST_MARKDOWN: Final = 40_000
"""Characters of an answer that are parsed: what is longer than twenty pages is shown as text."""
_MARKS: Final = "[*_`<&#|\n\r"
"""What makes Markdown; each may take a parser up to 80 us."""
MOST_IN_ANSWER: Final = 3_000
MOST_IN_RECORD: Final = 20_000
"""Marks: an answer with more is shown as text, and so are all of a record with more."""
MOST_TOLD: Final = 1000
SHORT_MARKDOWN: Final = 500
"""Characters that are parsed in a millisecond."""

_BLANK_LINES = re.compile(r"<br>\n[ \t]*(?:<br>\n[ \t]*)+")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-\[\]_a-z~]*")  # ASCII, without quotes and < > ^ ` { | }
_NOT_OF_ADDRESS = re.compile(r"[^!#-;=?-\[\]_a-z~](?=\S)")
_NOT_BLANK = re.compile(r"\S")
_CLOSING: Final = {")": "(", "]": "["}

_markup = partial(str.__new__, Markup)
"""Makes Markup of text, without Markup's own look whether it is something else."""


class Answers:
    """Makes HTML of answers, in the way that the settings choose.

    `link_urls` makes links of the addresses in plain text; `nofollow` adds that word to the `rel` of links.
    """

    def __init__(
        self, answer_format: AnswerFormat = "text", *, link_urls: bool = False, nofollow: bool = False
    ) -> None:
        self._is_markdown = answer_format == "markdown"
        self._link_urls = link_urls
        self._rel = "noopener nofollow" if nofollow else "noopener"
        self._marked_up = dict[tuple[int, int | None], tuple[ref[FAQ], FAQ | None]]()
        """By the identity of a record and the level of its questions, for as long as the record lives; None
        is the record itself, which would live as long as it stood here."""
        self._too_much = set[str]()

    def shown(self, text: str, question_level: int | None) -> Markup:
        """Return an answer as HTML; headings in it are below `question_level`, or bold if that is None."""
        (html,) = finished(self.steps([text], question_level, self._is_markdown))
        return html

    def steps(
        self, texts: Sequence[str], question_level: int | None, are_parsed: bool
    ) -> Steps[list[Markup]]:
        """Make what `shown` returns of each text, some short ones or a slice of a long one at a time."""
        if not are_parsed:
            return (yield from _paragraph_steps(texts, self._rel if self._link_urls else None))
        shown: list[Markup] = []
        for text in texts:
            shown.append(Markup(_markdown(text, question_level, self._rel)))  # noqa: S704  # sanitised there
            yield
        return shown

    def are_parsed(self, faq: FAQ) -> bool:
        """Tell whether the answers of a record are read as Markdown; it is said once if they are too much."""
        if not self._is_markdown:
            return False
        if sum(_marks(item.answer) for item in faq.items) <= MOST_IN_RECORD:
            return True
        if faq.slug not in self._too_much and len(self._too_much) < MOST_TOLD:
            self._too_much.add(faq.slug)
            logger.warning(
                "FAQ %r is shown as text: more than %d marks of Markdown", faq.slug, MOST_IN_RECORD
            )
        return False

    def takes_long(self, faq: FAQ) -> bool:
        """Tell whether a parser, which makes no short steps, is busy with a record for a while."""
        return self.are_parsed(faq) and sum(len(item.answer) for item in faq.items) > SHORT_MARKDOWN

    async def aparse(self, faq: FAQ, question_level: int | None = 3) -> None:
        """Parse ahead what takes long, as many answers as are kept, in a thread: that holds no loop up."""
        if self.takes_long(faq):
            import asyncio  # whoever awaits this has it already

            with suppress(RuntimeError):  # no thread can be started
                await asyncio.to_thread(self._parse, faq, question_level)

    def _parse(self, faq: FAQ, question_level: int | None) -> None:
        for item in faq.items[:KEPT]:
            _schema(_markdown(item.answer, question_level, self._rel))

    def shown_items(self, faq: FAQ, question_level: int | None = None) -> Steps[list[Item]]:
        """Find the items of a record that have something to ask and something to answer."""
        is_parsed = self.are_parsed(faq)
        shown: list[Item] = []
        for at, item in enumerate(faq.items):
            if item.question.strip() and item.answer.strip():
                # What is parsed here is at hand when it is shown.
                html = _markdown(item.answer, question_level, self._rel) if is_parsed else item.answer
                if not is_parsed or Markup(html).striptags():  # noqa: S704
                    shown.append(item)
            if is_parsed or at % MANY == 0:
                yield
        return shown

    def marked_up(self, faq: FAQ, question_level: int | None = 3) -> FAQ:
        """Return the record as JSON-LD says it: of Markdown, with the answers that were shown, as HTML.

        For one record it is one and the same: page after page is marked up with it.
        """
        if not self._is_markdown:
            return faq
        if (found := self._found(faq, question_level)) is not None:
            return found[1] or faq
        marked_up = self._mark_up(faq, question_level)
        key, known = (id(faq), question_level), self._marked_up
        kept = None if marked_up is faq else marked_up
        known[key] = ref(faq, lambda _: known.pop(key, None)), kept
        return marked_up

    async def amarked_up(self, faq: FAQ, question_level: int | None = 3) -> FAQ:
        """Return what `marked_up` does, without holding an event loop up."""
        if self._found(faq, question_level) is None:
            await self.aparse(faq, question_level)
        return self.marked_up(faq, question_level)

    def _found(self, faq: FAQ, question_level: int | None) -> tuple[ref[FAQ], FAQ | None] | None:
        found = self._marked_up.get((id(faq), question_level))
        return found if found is not None and found[0]() is faq else None

    def _mark_up(self, faq: FAQ, question_level: int | None) -> FAQ:
        if not self.are_parsed(faq):
            return faq
        items = [
            Item(item.position, item.question, _schema(_markdown(item.answer, question_level, self._rel)))
            for item in finished(self.shown_items(faq, question_level))
        ]
        return FAQ(faq.slug, faq.title, faq.website_name, faq.lang, tuple(items), faq.cta)


def paragraphs(text: str, rel: str | None = None) -> Markup:
    """Return plain text as HTML: everything escaped, blank lines part paragraphs, line breaks are kept.

    With `rel`, addresses that begin with http:// or https:// are links.
    """
    (html,) = finished(_paragraph_steps([text], rel))
    return html


def _paragraph_steps(texts: Sequence[str], rel: str | None) -> Steps[list[Markup]]:
    shown: list[Markup] = []
    for some in portions(texts, len):
        # Short texts are written as one. U+0000 parts them: it is not visible, and so in none of them.
        text = "\0".join([visible(text.strip()) for text in some])
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        parts: list[str] = []
        start = 0
        while start < len(text):
            end = _end_of_slice(text, start)
            parts.append(_lines(text[start:end], rel))
            start = end
            yield
        shown += [_markup(f"<p>{html}</p>") for html in "".join(parts).split("\0")]  # escaped
    return shown


def _lines(text: str, rel: str | None) -> str:
    written = str(escape(text)) if rel is None else "".join(_linked(text, rel))
    return _BLANK_LINES.sub("</p>\n<p>", written.replace("\n", "<br>\n"))


def _end_of_slice(text: str, start: int) -> int:
    """Return where to cut a long text, in front of what is not blank, and not within an address."""
    if len(text) - start <= 2 * MUCH:
        return len(text)
    before = _NOT_OF_ADDRESS.search(text, start + MUCH, start + 2 * MUCH)
    if before is not None:
        return before.end()
    beyond = _NOT_BLANK.search(text, start + 2 * MUCH)
    return beyond.start() if beyond is not None else len(text)


def visible(text: str) -> str:
    """U+0000 cannot be written in HTML: parsers drop it or replace it, each in its way."""
    return text.replace("\0", "\ufffd")


def _linked(text: str, rel: str) -> Iterator[str]:
    """Yield the text escaped, with its addresses as links; what ends a sentence ends no address."""
    done = 0
    for found in _ADDRESS.finditer(text):
        address = _without_closing(found[0])
        yield str(escape(text[done : found.start()]))
        yield f'<a href="{escape(address)}" rel="{rel}">{escape(address)}</a>'
        done = found.start() + len(address)
    yield str(escape(text[done:]))


def _without_closing(address: str) -> str:
    """Return an address without the punctuation around it; a bracket that it opened itself is its own."""
    opened = {bracket: address.count(bracket) for bracket in "()[]"}
    end = len(address)
    while end > len("https://"):
        last = address[end - 1]
        if last in _CLOSING and opened[last] > opened[_CLOSING[last]]:
            opened[last] -= 1
        elif last not in ".,;:!?'*_":
            break
        end -= 1
    return address[:end]


@lru_cache(maxsize=KEPT)  # each rendering asks several times
def _marks(text: str) -> int:
    return sum(map(text.count, _MARKS))


@lru_cache(maxsize=KEPT)
def _markdown(text: str, question_level: int | None, rel: str) -> str:
    if len(text) > LONGEST_MARKDOWN or _marks(text) > MOST_IN_ANSWER:
        return str(paragraphs(text))
    import nh3

    html: str = _parser().render(visible(text), {"question_level": question_level})
    return nh3.clean(
        html,
        tags=set(SHOWN_TAGS),
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        url_schemes=set(SCHEMES),
        link_rel=rel,
    ).strip()


@lru_cache(maxsize=KEPT)
def _schema(html: str) -> str:
    import nh3

    return nh3.clean(
        html,
        tags=set(SCHEMA_TAGS),
        attributes={"*": set(), "a": {"href"}},
        url_schemes=set(SCHEMES),
        link_rel=None,
    ).strip()


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    parser.core.ruler.push("faqsvc", _settle)
    parser.add_render_rule("image", _alternative)
    parser.render("*a*", {"question_level": None})  # sorts its rules: two threads must not, at the same time
    return parser


def _settle(state: "StateCore") -> None:
    """Move headings below that of the question, and leave no link that leads elsewhere from each page."""
    level, in_heading = state.env["question_level"], False
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            own = int(token.tag[1])
            token.tag = "p" if level is None else f"h{min(level + own, LOWEST_HEADING)}"
            in_heading = token.type == "heading_open"
        elif token.type == "inline":
            token.children = list(_absolute(token.children or []))
            if in_heading and level is None:
                _embolden(token)


def _absolute(tokens: "list[Token]") -> "Iterator[Token]":
    """Yield the parts of a line; of a relative link, only what it says."""
    is_relative = False
    for token in tokens:
        if token.type == "link_open":
            scheme, colon, _ = str(token.attrGet("href")).partition(":")
            is_relative = not colon or scheme.lower() not in SCHEMES
        if not (is_relative and token.type in ("link_open", "link_close")):
            yield token


def _embolden(inline: "Token") -> None:
    from markdown_it.token import Token

    inline.children = [
        Token("strong_open", "strong", 1),
        *(inline.children or []),
        Token("strong_close", "strong", -1),
    ]


def _alternative(renderer: object, tokens: "list[Token]", at: int, options: object, env: object) -> str:
    """Say what an image shows: nothing of an FAQ is loaded from anywhere."""
    return str(escape(unescape(tokens[at].content)))
