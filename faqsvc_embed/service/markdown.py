"""An FAQ as Markdown (CommonMark), for readers that are no browsers. Its texts stay texts."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from faqsvc_embed.anchors import question_ids
from faqsvc_embed.records import FAQ

# What CommonMark, or GitHub's dialect of it, gives a meaning within a line; `&` only begins a reference.
_SPECIAL = re.compile(r"[\\`*_\[\]<>#~|$]|&(?=[#A-Za-z])")
# And what has one at the beginning of a line: lists, numbered ones too, rules and underlines of headings.
_AT_START = re.compile(r"[-+=]|\d{1,9}[.)](?=\s|$)")
# White space but the two kinds that people mean: the no-break and the ideographic one.
_SPACES = re.compile(r"[^\S\u00a0\u3000]+")
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")
_IN_ADDRESSES: Final = "%/:?#[]@!$&'*+,;=~"


def to_markdown(faq: FAQ, *, title: str, address: str, website_url: str = "") -> str:
    """Return an FAQ with a heading a question, and before them a list that leads to them on its page.

    `address` is where the page is. It has the questions that the page shows, in the page's order.
    """
    shown = [item for item in faq.items if item.question.strip() and item.answer.strip()]
    anchors = question_ids(faq.slug, [item.question for item in shown])
    parts = [f"# {one_line(title)}", _source(faq, address, website_url)]
    links = [link(item.question, f"{address}#{anchor}") for item, anchor in zip(shown, anchors, strict=True)]
    if links:
        parts.append("\n".join(f"- {line}" for line in links))
    for item in shown:
        parts += [f"## {one_line(item.question)}", *_paragraphs(item.answer)]
    return "\n\n".join(parts) + "\n"


def _source(faq: FAQ, address: str, website_url: str) -> str:
    name = faq.website_name.strip()
    website = (link(name, website_url) if website_url else one_line(name)) if name else ""
    return " · ".join(filter(None, (website, f"<{quote(address, safe=_IN_ADDRESSES)}>")))


def link(text: str, address: str) -> str:
    """Return a link; whatever the address holds ends neither it nor the line."""
    return f"[{one_line(text)}]({quote(address, safe=_IN_ADDRESSES)})"


def one_line(text: str) -> str:
    """Return a text that is a text, in one line."""
    return _escaped(_spaced(text))


def _paragraphs(text: str) -> Sequence[str]:
    """Return what blank lines part, with a backslash where a line breaks within."""
    text = text.strip().replace("\r\n", "\n").replace("\r", "\n")
    return [
        "\\\n".join(_escaped(spaced) for line in part.split("\n") if (spaced := _spaced(line)))
        for part in _PARAGRAPHS.split(text)
    ]


def _spaced(line: str) -> str:
    """Return a line that no white space makes to code or to two; Markdown has no U+0000 (CommonMark, 2.3)."""
    return _SPACES.sub(" ", line.replace("\0", "\ufffd")).strip()


def _escaped(line: str) -> str:
    line = _SPECIAL.sub(r"\\\g<0>", line)
    if start := _AT_START.match(line):
        mark = start.end() - 1
        return f"{line[:mark]}\\{line[mark:]}"
    return line
