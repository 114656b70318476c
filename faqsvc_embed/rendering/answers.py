"""Answers as HTML and as JSON-LD, from plain text or from Markdown, and the markup that stays as typed."""

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import islice
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup, escape

from faqsvc_embed.models import FAQ, origin, shown
from faqsvc_embed.models.items import Origin
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.text import LINE_END, in_portions

LOWEST_HEADING: Final = 6
QUESTION_LEVEL: Final = 3
"""The level of question headings when answers are rendered without a page."""
INTRODUCTION: Final = -1
"""The place of the introduction among the items of a record."""
REL: Final = "noopener"
"""The `rel` of the links in answers."""
_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n[ \t\n]*")
# ASCII, without quotation marks and < > ^ ` { | }.
_URL: Final = re.compile(r"https?://[A-Za-z0-9\[][!#-;=?-\[\]_a-z~]*")
_OPENING: Final = {")": "(", "]": "["}

_log: Final = LogOnce()


class Dropped(NamedTuple):
    """A part of a Markdown answer that is not shown."""

    line: int
    """Its line in the answer, from 1; 0 is the question."""
    what: str
    is_on_page: bool = False
    """Whether only machines do not read it."""

    def __str__(self) -> str:
        advice = ": write an address after https://, mailto: or tel:, or after /"
        return f"{self.what} is not shown{advice if 'the link' in self.what else ''}"


class Leftover(Dropped):
    """Markup in an answer that is shown as it is typed."""

    def __str__(self) -> str:
        return f"{self.what} is shown as typed"


class RenderedAnswer(NamedTuple):
    """An answer as HTML and for JSON-LD, and the parts of it that are not shown."""

    html: Markup
    json_ld: str
    """The answer in JSON-LD: plain text unchanged, Markdown as HTML."""
    dropped: tuple[Dropped, ...] = ()


class AnsweredItem(msgspec.Struct, frozen=True, gc=False):
    """An item with a question and an answer that are not empty."""

    question: str
    text: str
    """The answer as it is in the record."""
    html: Markup
    json_ld: str
    name: str = ""
    """What the id of its element ends with."""
    place: int = 0
    """Its number in the order in which the FAQ shows its items, from 0."""
    section: str | None = None
    dropped: tuple[Dropped, ...] = ()
    """Parts of the answer that are not shown."""


def items(faq: FAQ, question_level: int | None) -> list[AnsweredItem]:
    """Return the items with a question and an answer, in the order in which the FAQ shows them.

    Headings in answers are below `question_level`, and one lower in a section.
    """
    return [item for item in _answered(faq, question_level) if item.html]


def introduction(faq: FAQ, question_level: int | None) -> RenderedAnswer:
    """Return the text above the questions, empty if there is none."""
    text = faq.introduction or ""
    return _rendered(text, question_level, origin(faq)) if text.strip() else RenderedAnswer(Markup(), "")


def problems(faq: FAQ) -> list[tuple[int, Dropped]]:
    """Return the parts of texts that are not shown, each with the index of its item in the record."""
    return _search(faq, lambda _, rendered: rendered.dropped)


def leftovers(faq: FAQ) -> list[tuple[int, Dropped]]:
    """Return the markup in texts that is shown as typed, each with the index of its item.

    Line 0 is the question with its section, which have no markup of their own.
    """
    pairs = _search(faq, lambda text, rendered: shown_as_typed(rendered.html, text))
    section = None
    for index, item in enumerate(faq.items):
        titles = [item.question] if item.section == section else [item.section or "", item.question]
        section = item.section
        for title in titles:
            pairs += [(index, one._replace(line=0)) for one in shown_as_typed(escape(title), title)]
    return sorted(pairs, key=lambda one: one[0])


def _search(
    faq: FAQ, find: Callable[[str, RenderedAnswer | AnsweredItem], Iterable[Dropped]]
) -> list[tuple[int, Dropped]]:
    """Return what `find` returns for the introduction and the answers of a record."""
    indexes = {id(item): index for index, item in enumerate(faq.items)}
    above = introduction(faq, QUESTION_LEVEL)
    pairs = [(INTRODUCTION, one) for one in find(faq.introduction or "", above)]
    for item, answered in zip(shown(faq).items, _answered(faq, QUESTION_LEVEL), strict=True):
        pairs += [(indexes[id(item)], one) for one in find(item.answer, answered)]
    return sorted(pairs, key=lambda one: one[0])


def _answered(faq: FAQ, question_level: int | None) -> Iterator[AnsweredItem]:
    of_record, parts = origin(faq), shown(faq)
    is_plain = of_record.is_markdown and not _renders_markdown(of_record)
    for place, (item, name) in enumerate(zip(parts.items, parts.names, strict=True)):
        html, json_ld, dropped = _rendered(item.answer, below(question_level, item.section), of_record)
        if is_plain and place == 0:
            dropped = (Dropped(1, "the formatting of all answers, which is too much,"), *dropped)
        yield AnsweredItem(item.question, item.answer, html, json_ld, name, place, item.section, dropped)


def answer_html(answer: str, section: str | None, origin: Origin) -> Markup:
    """Return one answer as HTML, for markup of the host's own; empty if it says nothing."""
    if not answer.strip():
        return Markup()
    html = _rendered(answer, below(QUESTION_LEVEL, section), origin).html
    if len(origin.rendered) < len(origin.texts):  # items with changed answers would fill it
        origin.rendered[answer, section] = html
    return html


def _rendered(text: str, question_level: int | None, origin: Origin) -> RenderedAnswer:
    if not _renders_markdown(origin):
        return RenderedAnswer(paragraphs(text), text)
    from faqsvc_embed.rendering import markdown  # only a host with Markdown needs the parser

    return markdown.to_html(text, question_level, origin.website_url, origin.links)


def _renders_markdown(origin: Origin) -> bool:
    """Return whether the texts of a record are rendered as Markdown: it must not take too long."""
    if origin.is_markdown and origin.is_parsable is None:
        from faqsvc_embed.files.markdown_cost import MAX_RECORD_COST, cost

        origin.is_parsable = sum(map(cost, origin.texts)) <= MAX_RECORD_COST
        if not origin.is_parsable:
            _log.warning(origin.slug, "FAQ %r is shown as text: its Markdown takes too long", origin.slug)
    return origin.is_markdown and origin.is_parsable is True


def below(level: int | None, section: str | None) -> int | None:
    """Return the level of a question's heading, which is one below the heading of its section."""
    return level if level is None or section is None else min(level + 1, LOWEST_HEADING)


def paragraphs(text: str) -> Markup:
    """Return plain text as HTML: escaped, with blank lines as paragraphs and newlines as line breaks.

    URLs that begin with http:// or https:// are links.
    """
    text = LINE_END.sub("\n", visible(text.strip()))
    parts = _between_blank_lines("".join(_linked(text)))
    html = "</p>\n<p>".join(part.replace("\n", "<br>\n") for part in parts)
    return Markup(f"<p>{html}</p>")  # escaped in _linked


def _between_blank_lines(text: str) -> Iterator[str]:
    """Yield the parts one by one: unlike `split`, this lets other threads run, also in a long text."""
    start = 0
    for blank_lines in _BLANK_LINES.finditer(text):
        yield text[start : blank_lines.start()]
        start = blank_lines.end()
    yield text[start:]


def visible(text: str) -> str:
    """Replace U+0000, which HTML cannot contain: parsers drop it or replace it."""
    return text.replace("\0", "\ufffd")


def _linked(text: str) -> Iterator[str]:
    """Yield the text escaped, with its URLs as links."""
    for part, is_url in with_urls(text):
        escaped = in_portions(lambda one: str(escape(one)), part)
        yield f'<a href="{escaped}" rel="{REL}">{escaped}</a>' if is_url else escaped


def with_urls(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is a URL; punctuation after a URL is not part of it."""
    done = 0
    for found in _URL.finditer(text):
        url = _without_punctuation(found[0])
        yield text[done : found.start()], False
        yield url, True
        done = found.start() + len(url)
    yield text[done:], False


def _without_punctuation(url: str) -> str:
    """Return a URL without the punctuation of the sentence around it; balanced brackets stay."""
    brackets = {bracket: url.count(bracket) for bracket in "()[]"}
    end = len(url)
    while end > len("https://"):
        last = url[end - 1]
        if last in _OPENING and brackets[last] > brackets[_OPENING[last]]:
            brackets[last] -= 1
        elif last not in ".,;:!?'*_":
            break
        end -= 1
    return url[:end]


# Markup that a reader would see as typed

_CODE: Final = re.compile(r"<(pre|code)>.*?</\1>", re.DOTALL)
_BREAK: Final = re.compile(r"<br>|</?(?:p|li|d[td]|t[rdh]|h[1-6]|blockquote)>")
_TAGS: Final = re.compile(r"<[^<>]*>")
_KINDS: Final = {
    "Markdown": (
        r"\*\*|__(?=\w)|\]\((?=[^\s()])|\]\[(?=\w)|~~"
        r"|(?m:^[ \t]*\#{2,6}(?!\#))|(?<=[ \t])\#{2,6}(?=[ \t])"
        # A link of a wiki, a key of the keyboard, and marked text.
        r"|\[\[(?=\w[^\[\]\n]*\]\])|(?<![\w+])\+\+(?=[\w+-]{1,40}\+\+)|(?<![=!<>])==(?=\w[^=\n]*==(?!=))"
    ),
    "a footnote mark": r"\[\^[^\[\]\s]+\]",
    "a box": (
        r"(?m:^[ \t]*(?::{2,}[ \t]*\S*|(?:!!!|\?\?\?\+?|={2,3}|@tab(?::active)?)[ \t]+[\w\"].*))"
        r"|\[![A-Z]+\]|(?<=[ \t]):{3,}(?!:)"
        r"|(?<=[ \t])(?:!!!|\?\?\?)[ \t]+(?:note|tip|info|warning|danger|important|caution)\b"
    ),
    "a formula": (
        # x^2^ and H~2~O; a price and a path have neither ^, _ and { nor the second $ at a word.
        r"(?<=[A-Za-z0-9)])(?:\^[+-]?[A-Za-z0-9]{1,10}[+-]?\^(?![\w^])|(?<=[A-Za-z)])~[A-Za-z0-9]{1,10}~(?!~))"
        r"|(?<![\w$])\$(?=[A-Za-z]\$|[^\s$][^$\n]{0,80}[\^_{])[^$\n]{1,100}(?<!\s)\$(?![\w$])"
    ),
    "attributes": r"\{:[^{}\n]*\}?|\{ ?[#.][\w-]+[^{}\n]*\}|\{ ?[\w-]+=[^{}\n]*\}",
    "a template": r"\{\{[^{}\n]{0,60}(?:\}\})?|\{%[^{}\n]{0,60}\}?",
    "a table": r"(?m:^[ \t]*\|[^\n|]+\|(?=[^\n]*\|[ \t]*$))",
    "an icon": r"(?<![\w:/]):[a-z][a-z0-9+_-]*[a-z0-9]:(?![\w:/])",
    "a mark of a program": (
        r"(?m:^=[A-Z]{2,12}\([^\n]{0,60}|^'[=+@-]\S|^(?:NULL|null|\\N|NaN|undefined)$)"
        r"|\#(?:REF!|VALUE!|NAME\?|DIV/0!)|_?x000D_?|\[object Object\]"
        r"|\\n(?=(?:\\r)?\\n|[-*•–0-9A-ZÀ-Þ\u0400-\uffff]|$)|(?<=\w)\\['’](?=\w)"  # a line break, a quote
    ),
    "a wrong encoding": r"Ã[\xa0-\xbfƒˆ‰Š‹Œ™š›œ\u2013-\u203a]|â€.|Â[\xa0-\xbf]",
    "HTML": r"</?[A-Za-z][\w.-]*(?:\s[^<>]*)?/?>|</[0-9]+>|<!--|&(?:amp|nbsp|lt|gt|quot|#39);",
}
_LEFTOVER: Final = re.compile("|".join(f"(?P<k{n}>{pattern})" for n, pattern in enumerate(_KINDS.values())))

_MAX: Final = 1_000
"""Maximum signs that are looked for in one answer."""
_CONTEXT: Final = 3
"""Characters after a sign that are compared, too, to find the sign in the typed text."""


def shown_as_typed(html: str, answer: str) -> Iterator[Leftover]:
    """Yield each kind of markup that the HTML of an answer shows as text, outside code, with its line."""
    text = unescape(_TAGS.sub("", _BREAK.sub("\n", _CODE.sub("", html))))
    typed = answer.replace("\\", "")
    seen, place = set[tuple[int, str]](), 0
    for found in islice(_LEFTOVER.finditer(text), _MAX):
        kind = list(_KINDS)[int((found.lastgroup or "k0")[1:])]
        sign = found[0].strip()
        # The characters after a sign tell equal signs apart, unless they are rendered, as links are.
        longer = text[found.start() : found.end() + _CONTEXT].strip().split("\n", 1)[0]
        wanted = [one.replace("\\", "") for one in (longer, sign, sign.split(maxsplit=1)[0])]
        starts = (typed.find(one, start) for start in (place, 0) for one in wanted)
        place = next((start for start in starts if start >= 0), place) + 1
        line = typed.count("\n", 0, place) + 1
        if (line, kind) not in seen:
            seen.add((line, kind))
            yield Leftover(line, f"{kind} (`{sign[:30]}`)")
