"""The markup in the answers of records: what it is, and HTML as Markdown.

Read are the elements that search engines show in an answer (Google, FAQPage structured data).
"""

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Final

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_text import INLINE_TAGS, TAG, TAGS, escape, escape_inline, plain_text

_MARKS: Final = (
    {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~", "del": "~~", "strike": "~~"}
    | {"sup": "</sup>", "sub": "</sub>"}
    | dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "**")
)
"""What stands around a text in Markdown; of an element that Markdown lacks, its closing tag."""
_NOTE: Final = re.compile(r"<sup[^<>]*>\s*<a\s[^<>]*href=\"[^\"]*#[^<>]*>[^<>]*</a>\s*</sup>", re.I)
"""The mark of a footnote, which leads to a note elsewhere on the page."""
_LONG_NUMBER: Final = 9
"""Digits that the number of a list item cannot have."""
_BREAK: Final = "\v"
"""Stands for a line break until its paragraph is written."""


def html_to_line(markup: str) -> str:
    """Return the text that HTML shows, on one line."""
    import nh3

    shown = nh3.clean(markup, tags=set(), attributes={}) if TAG.search(markup) else markup
    return " ".join(html.unescape(shown).split())


def html_to_markdown(markup: str) -> str:
    """Return HTML as Markdown with its paragraphs, lists, links, images, bold and italics.

    A table becomes its cells, each in a paragraph.
    """
    import nh3

    writer = _Writer()
    attributes = {"a": {"href"}, "ol": {"start"}, "img": {"src", "alt"}}
    cleaned = nh3.clean(markup, tags=TAGS, attributes=attributes, link_rel=None)
    writer.feed(_NOTE.sub("", cleaned))
    writer.close()
    return writer.text()


class _Writer(HTMLParser):
    """Collects paragraphs of Markdown from HTML whose elements are all closed."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[str] = []
        self._pieces: list[str] = []
        self._open: list[tuple[str, str, int]] = []
        """Open inline elements: the tag, what ends it, and the number of pieces before it."""
        self._lists: list[int | None] = []
        """The number of the last item of each open list; None without numbers."""
        self._indents: list[str] = []
        """The space before the lines of each open list item."""
        self._marker = ""

    def text(self) -> str:
        """Return what was written."""
        self._end_paragraph()
        return "".join(self._blocks).lstrip("\n")

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        before, after = " " * data[:1].isspace(), " " * (data[-1:].isspace() and bool(words))
        self._pieces.append(f"{before}{escape_inline(words)}{after}")

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._pieces.append(_BREAK)
            return
        if tag == "img":
            image = {name: value or "" for name, value in attrs}
            self._pieces.append(f"![{escape_inline(image.get('alt', ''))}]({_target(image.get('src', ''))})")
            return
        if tag not in INLINE_TAGS:
            self._end_paragraph()
        if tag in ("ol", "ul"):
            start = dict(attrs).get("start") or ""
            first = int(start) if start.isdecimal() and len(start) < _LONG_NUMBER else 1
            self._lists.append(first - 1 if tag == "ol" else None)
        elif tag == "li":
            self._begin_item()
        elif tag == "a" and (target := dict(attrs).get("href")):
            self._open.append((tag, f"]({_target(target)})", len(self._pieces)))
        elif tag in _MARKS and _MARKS[tag] not in [mark for _, mark, _ in self._open]:
            self._open.append((tag, _MARKS[tag], len(self._pieces)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self._end_inline()
        if tag not in INLINE_TAGS:
            self._end_paragraph()
        if tag in ("ol", "ul") and self._lists:
            self._lists.pop()
        elif tag == "li" and self._indents:
            self._indents.pop()
            self._marker = ""

    def _end_inline(self) -> None:
        _, end, start = self._open.pop()
        written = "".join(self._pieces[start:])
        inner = written.replace(_BREAK, " ").strip()
        if inner:
            before, after = " " * written[:1].isspace(), " " * written[-1:].isspace()
            begin = "[" if end.startswith("]") else end.replace("</", "<")
            written = f"{before}{begin}{inner}{end}{after}"
        self._pieces[start:] = [written]

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        marker = "- " if number is None else f"{number + 1}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._marker = "".join(self._indents) + marker
        self._indents.append(" " * len(marker))

    def _end_paragraph(self) -> None:
        self._open.clear()  # what a block interrupts stays plain
        lines = [" ".join(line.split()) for line in "".join(self._pieces).split(_BREAK)]
        self._pieces.clear()
        if lines := [line for line in lines if line]:
            indent = "".join(self._indents)
            separator = (
                "\n" if self._marker and self._blocks[-1:] and self._is_item(self._blocks[-1]) else "\n\n"
            )
            self._blocks.append(separator + (self._marker or indent) + f"\\\n{indent}".join(lines))
            self._marker = ""

    @staticmethod
    def _is_item(block: str) -> bool:
        return re.match(r"\n+ *(?:-|[0-9]+\.) ", block) is not None


def _target(href: str) -> str:
    """Return an address as the destination of a link, which spaces and brackets would end."""
    return re.sub(r"[\s<>()\\]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), href)


_MARKDOWN: Final = re.compile(
    r"\*\*[^\s*][^*\n]{0,300}\*\*|__[^\s_][^_\n]{0,300}__|\]\((?:https?:|mailto:|tel:|/|#|\.)[^\s()]|`[^`\n]{1,200}`"
    r"|^(?:```|~~~)|^\|?[ ]*:?-{3,}:?[ ]*\||^#{1,6} \S"
    r"|^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S[^\n]{0,500}\n+[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S",
    re.MULTILINE,
)
"""Bold text, a link, code, a table, a heading, or two items of a list."""


_IN_MARKDOWN: Final = re.compile(
    r"^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S|(?<![\w*_])([*_])(?=[^\s*_])[^*_\n]{1,300}(?<=\S)\1(?![\w*_])",
    re.MULTILINE,
)
"""An item of a list, or emphasis, which are Markdown beside answers that are."""


_ENTITY: Final = re.compile("&(?:[a-zA-Z]{2,8}|#[0-9]{2,5}|#x[0-9a-fA-F]{2,4});")


def has_markdown(text: object) -> bool:
    """Return whether a text has a link, bold text, code, a table, a heading or a list of Markdown."""
    return isinstance(text, str) and _MARKDOWN.search(text) is not None


def has_tags(text: object) -> bool:
    """Return whether a text has a tag of HTML."""
    return isinstance(text, str) and TAG.search(text) is not None


def as_one_format(document: Document, *, is_html: bool = False) -> Document:
    """Return a document that does not state the format of its answers with that which they have.

    They are Markdown if one has markup: HTML becomes Markdown, and plain text keeps its lines. `is_html` says
    that its texts are HTML, as in JSON-LD, so that no sign of theirs is Markdown.
    """
    if document.answer_format is not None:
        return document

    def is_markdown(text: str) -> bool:
        return not is_html and has_markdown(text)

    items = [item for item in document.items if isinstance(item, dict)]
    for item in items:
        for name in ("question", "answer"):
            if isinstance(text := item.get(name), str) and not (has_tags(text) or is_markdown(text)):
                item[name] = html.unescape(text) if _ENTITY.search(text) else text
    texts = [item["answer"] for item in items if isinstance(item.get("answer"), str)]
    has_markup = any(is_markdown(text) or has_tags(text) for text in texts)
    for item in items if has_markup or is_html else ():
        if isinstance(question := item.get("question"), str):
            if is_markdown(question) or (not is_html and _IN_MARKDOWN.search(question)):
                question = plain_text(question, {})
            item["question"] = html_to_line(question) if has_tags(question) or is_html else question
        if isinstance(text := item.get("answer"), str) and has_markup:
            if has_tags(text) and (is_html or not (has_markdown(text) or _IN_MARKDOWN.search(text))):
                item["answer"] = html_to_markdown(text)
            elif is_html or not (has_markdown(text) or _IN_MARKDOWN.search(text)):
                item["answer"] = escape(text.strip())
    if not (has_markup or is_html):
        return document
    title = html_to_line(document.title) if is_html and isinstance(document.title, str) else document.title
    return replace(document, title=title, answer_format="markdown" if has_markup else "text")
