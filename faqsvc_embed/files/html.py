"""Converts the HTML of records, JSON-LD and pages to Markdown (CommonMark 0.31, the tables of GFM 0.29)."""

import html
import re
import unicodedata
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import chain, pairwise
from typing import Final
from urllib.parse import quote

from faqsvc_embed.files.markdown_text import INLINE_TAGS, TAG, TAGS, escape_characters, escape_start

_MARKS: Final = (
    {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~", "del": "~~", "strike": "~~"}
    | {"sup": "</sup>", "sub": "</sub>", "kbd": "</kbd>"}
    | dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "**")
)
"""The signs around a text in Markdown; for an element that Markdown lacks, its closing tag."""
_NOTE: Final = re.compile(r"<sup[^<>]*>\s*<a\s[^<>]*href=\"[^\"#]*#[^<>]*>[^<>]*</a>\s*</sup>", re.I)
"""The mark of a footnote, which leads to a note elsewhere on the page."""
_LONG_NUMBER: Final = 9
"""The number of a list item has fewer digits than this."""
_MAX_NESTING: Final = 10
"""Maximum levels of lists and quotations; deeper ones become paragraphs."""
_NESTING: Final = re.compile(
    r"<(/?)(?:address|article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|header|main|menu"
    r"|nav|ol|pre|section|table|ul)\b[^<>]*>",
    re.I,
)
"""The tags of elements that can contain each other to any depth."""
_MAX_DEPTH: Final = 100
"""Maximum levels of these elements: parsers of HTML5 take quadratic time for deep ones."""
_ITEM: Final = re.compile(r"-\s\w")
"""The beginning of a line that is the item of a list, as people type it."""
_ABOVE: Final = re.compile(r"\n[\n >]*(?:-|[0-9]+\.) ")
"""The beginning of a block that is the item of a list."""
_BREAK: Final = "\v"
"""Stands for a line break until its paragraph is written."""
_EMPHASIS: Final = re.compile("\x02([*~]+)\x04([^\x02\x03]*)\x03")
"""Emphasis in an open paragraph. Its signs depend on the next character, so they are written at the end."""
_TAG_NAMES: Final = {"**": "strong", "*": "em", "~~": "s"}


def html_to_line(markup: str) -> str:
    """Return the text that HTML shows, on one line."""
    import nh3

    shown = nh3.clean(markup, tags=set(), attributes={}) if TAG.search(markup) else markup
    return " ".join(html.unescape(shown).split())


def html_to_markdown(markup: str) -> str:
    """Return HTML as Markdown with its lists, tables, quotations, code, links, images and emphasis."""
    import nh3

    writer = _Writer()
    attributes = {"a": {"href"}, "ol": {"start"}, "img": {"src", "alt"}}
    cleaned = nh3.clean(_shallow(markup), tags=TAGS, attributes=attributes, link_rel=None)
    writer.feed(_NOTE.sub("", cleaned))
    writer.close()
    return writer.text.written()


def _shallow(markup: str) -> str:
    """Return HTML in which a line break stands for each tag of an element that is nested too deeply."""
    depth = 0

    def kept(tag: re.Match[str]) -> str:
        nonlocal depth
        depth = max(0, depth + (-1 if tag[1] else 1))
        is_deep = depth + len(tag[1]) > _MAX_DEPTH
        return "<br>" if is_deep else tag[0]

    return _NESTING.sub(kept, markup)


class _Text:
    """Paragraphs of Markdown: those of an answer, or of a cell of a table."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        """The text of the open paragraph so far."""
        self._blocks: list[str] = []
        self._open: list[tuple[str, str, int]] = []
        """Open inline elements: the tag, the sign that ends it, and the number of pieces before it."""
        self._lists: list[int | None] = []
        """The number of the last item of each open list; None without numbers."""
        self._indents: list[str] = []
        """The text before each line of an open list item or quotation."""
        self._marker = ""
        self._is_quoted = False
        """Whether the last block belongs to the open quotation."""

    def written(self) -> str:
        """Return the Markdown."""
        self.end_paragraph()
        return "".join(self._blocks).lstrip("\n")

    def begin_inline(self, tag: str, end: str) -> None:
        """Begin emphasis or a link."""
        if end not in [mark for _, mark, _ in self._open]:
            self._open.append((tag, end, len(self.pieces)))

    def end_inline(self, tag: str) -> None:
        """End emphasis or a link, if it is open; white space at its edges stays outside."""
        if not self._open or self._open[-1][0] != tag:
            return
        _, end, start = self._open.pop()
        written = "".join(self.pieces[start:])
        if inner := written.replace(_BREAK, " ").strip():
            before, after = " " * written[:1].isspace(), " " * written[-1:].isspace()
            begin = "[" if end.startswith("]") else end.replace("</", "<")
            if end in _TAG_NAMES:
                begin, end = f"\x02{end}\x04", "\x03"
            written = f"{before}{begin}{inner}{end}{after}"
        self.pieces[start:] = [written]

    def begin_block(self, tag: str, start: str) -> None:
        """Begin a list, an item, a quotation or a heading."""
        if tag in ("ol", "ul"):
            first = int(start) if start.isdecimal() and len(start) < _LONG_NUMBER else 1
            self._lists.append(first - 1 if tag == "ol" else None)
        elif tag == "li":
            number = self._lists.pop() if self._lists else None
            self._lists.append(None if number is None else number + 1)
            marker = "- " if number is None else f"{number + 1}. "
            is_deep = len(self._indents) >= _MAX_NESTING
            self._marker = "" if is_deep else "".join(self._indents) + marker
            self._indents.append("" if is_deep else " " * len(marker))
        elif tag == "blockquote":
            self._indents.append("> " if len(self._indents) < _MAX_NESTING else "")
            self._is_quoted = False
        elif tag in _MARKS:
            self.begin_inline(tag, _MARKS[tag])

    def end_block(self, tag: str) -> None:
        """End a list, an item or a quotation."""
        if tag in ("ol", "ul"):
            del self._lists[-1:]
        elif tag in ("li", "blockquote"):
            del self._indents[-1:]
            self._marker, self._is_quoted = "", False

    def end_paragraph(self) -> None:
        """Write the open paragraph."""
        self._open.clear()  # emphasis that a block interrupts is left out, and its text stays
        text = "".join(self.pieces)
        for _ in _TAG_NAMES:  # the innermost first; emphasis is not nested in emphasis of its kind
            text = _EMPHASIS.sub(_emphasis, text)
        lines = [" ".join(line.split()) for line in text.split(_BREAK)]
        self.pieces.clear()
        if lines := [line if _ITEM.match(line) else escape_start(line) for line in lines if line]:
            ends = ["" if _ITEM.match(one) or _ITEM.match(other) else "\\" for one, other in pairwise(lines)]
            self.add_lines([line + end for line, end in zip(lines, [*ends, ""], strict=True)])

    def add_lines(self, lines: Sequence[str]) -> None:
        """Write lines as a block."""
        indent, marker, self._marker = "".join(self._indents), self._marker, ""
        separator = f"\n{indent.rstrip()}\n" if self._is_quoted else "\n\n"
        if marker and self._blocks and _ABOVE.match(self._blocks[-1]):
            separator = "\n"
        rest = (f"\n{indent}{line}" if line else f"\n{indent.rstrip()}" for line in lines[1:])
        self._blocks.append(separator + (marker or indent) + lines[0] + "".join(rest))
        self._is_quoted = ">" in indent


class _Writer(HTMLParser):
    """Writes Markdown from HTML whose elements are all closed."""

    def __init__(self) -> None:
        super().__init__()
        self.text = _Text()
        self._tables = 0
        """The number of open tables."""
        self._rows: list[list[str]] = []
        """The cells of the rows of the outermost open table."""
        self._around: _Text | None = None
        """The text around its open cell."""
        self._is_layout = False
        """Whether tables are nested, so that they are layout and not data: those inside become paragraphs."""
        self._code_tag = ""
        """The open element of code, `pre` or `code`."""
        self._code: list[str] = []

    def handle_data(self, data: str) -> None:
        if self._code_tag:
            self._code.append(data)
            return
        words = " ".join(data.split())
        before, after = " " * data[:1].isspace(), " " * (data[-1:].isspace() and bool(words))
        self.text.pieces.append(f"{before}{escape_characters(words)}{after}")

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if self._code_tag:
            self._code += ["\n"] if tag == "br" else []
        elif tag in ("code", "pre"):
            self._code_tag = tag
        elif tag == "br":
            self.text.pieces.append(_BREAK)
        elif tag == "img":
            alternative = escape_characters(values.get("alt", ""))
            self.text.pieces.append(f"![{alternative}]({_target(values.get('src', ''))})")
        elif tag == "a" and values.get("href"):
            self.text.begin_inline(tag, f"]({_target(values['href'])})")
        else:
            if tag not in INLINE_TAGS:
                self.text.end_paragraph()
            self._begin_cell(tag)
            self.text.begin_block(tag, values.get("start", ""))

    def _begin_cell(self, tag: str) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self._is_layout = self._tables > 0
            self._tables += 1
        elif self._tables == 1 and tag == "tr":
            self._rows.append([])
        elif self._tables == 1 and tag in ("td", "th") and self._rows:
            self._around, self.text = self.text, _Text()

    def handle_endtag(self, tag: str) -> None:
        if self._code_tag:
            if tag == self._code_tag:
                self._end_code("".join(self._code))
            return
        self.text.end_inline(tag)
        if tag in INLINE_TAGS:
            return
        self.text.end_paragraph()
        self.text.end_block(tag)
        if self._tables == 1 and tag in ("td", "th") and self._around is not None:
            self._rows[-1].append(self.text.written())
            self.text, self._around = self._around, None
        elif tag == "table" and self._tables:
            self._tables -= 1
            if not self._tables:
                self._end_table([row for row in self._rows if row])
                self._rows.clear()

    def _end_code(self, written: str) -> None:
        if self._code_tag == "pre":
            self.text.end_paragraph()
            fence = "~~~~" if "```" in written else "```"
            self.text.add_lines([fence, *written.strip("\n").splitlines(), fence])
        elif code := " ".join(written.split()):
            fence = "``" if "`" in code else "`"
            space = " " if "`" in (code[:1], code[-1:]) else ""
            self.text.pieces.append(f"{fence}{space}{code}{space}{fence}")
        self._code_tag = ""
        self._code.clear()

    def _end_table(self, rows: list[list[str]]) -> None:
        """Write a table. The cells of a table that is only layout become paragraphs."""
        width = max(map(len, rows), default=0)
        if self._is_layout or len(rows) < 2 or width < 2:
            for cell in filter(None, chain.from_iterable(rows)):
                self.text.add_lines(cell.split("\n"))
        else:
            # Short rows stay short (GFM, 4.10): one wide row beside thousands would become megabytes.
            rows[0] += [""] * (width - len(rows[0]))
            lines = [_row([_in_one_line(cell) for cell in row]) for row in rows]
            self.text.add_lines([lines[0], _row(["---"] * width), *lines[1:]])


def _emphasis(found: re.Match[str]) -> str:
    """Return emphasis in Markdown, or in HTML where a page would show the signs (CommonMark 0.31, 6.2).

    It would if punctuation inside of the signs and a word outside meet there, or beside other emphasis.
    """
    sign, inner = found.groups()
    before, after = (
        found.string[max(found.start() - 1, 0) : found.start()],
        found.string[found.end() : found.end() + 1],
    )
    edges = ((inner[0], before), (inner[-1], after))
    if {inner[0], inner[-1], after} & {"*", "~", "\x02"} or any(
        _is_sign(inside) and _is_in_word(outside) for inside, outside in edges
    ):
        return f"<{_TAG_NAMES[sign]}>{inner}</{_TAG_NAMES[sign]}>"
    return f"{sign}{inner}{sign}"


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PSC"


def _is_in_word(character: str) -> bool:
    return bool(character) and not (character.isspace() or _is_sign(character))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_one_line(cell: str) -> str:
    return " ".join(cell.replace("\\\n", " ").split()).replace("|", "\\|")


def _target(href: str) -> str:
    """Return an address as the destination of a link, with its spaces and brackets percent-encoded."""
    return re.sub(r"[\s<>()\\]", lambda found: quote(found[0].encode("utf-8", "replace")), href)
