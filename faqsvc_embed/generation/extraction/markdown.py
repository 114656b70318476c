"""Elements as Markdown with links, lists and tables (CommonMark 0.31, and the tables of GFM 0.29)."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from faqsvc_embed.generation.extraction.dom import HEADINGS, Element, Node, table_rows
from faqsvc_embed.generation.extraction.text import LINE_BREAK, Writer, is_unwritten, plain, raw_text

SCHEMES: Final = ("http", "https", "mailto", "tel")
EMPHASIS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*"}

_SPECIAL = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[a-zA-Z/!?])|&(?=#?\w{1,31};)")
_BLOCK_START = re.compile(r"(?=[#>+=|~])|(?=-(?!\s\w))|(?P<number>[0-9]{1,9})(?=[.)](?:\s|$))")


def markdown_of(nodes: Iterable[Node], url: str) -> str:
    """Return nodes as Markdown with absolute links, without buttons, boilerplate and decoration."""
    return MarkdownWriter(url).written(nodes)


def escaped(text: str) -> str:
    """Return plain paragraphs as Markdown that shows exactly their text; lists stay lists."""
    lines = _SPECIAL.sub(r"\\\g<0>", text).split("\n")
    return "\n".join(map(_with_plain_start, lines))


def _with_plain_start(line: str) -> str:
    """Return a line whose start is escaped if it would begin a block other than a list item with a dash."""
    start = _BLOCK_START.match(line)
    return f"{start['number'] or ''}\\{line[start.end() :]}" if start is not None else line


def _with_break(line: str, following: str) -> str:
    """Return a line with a backslash, which keeps its end. A list item needs none."""
    return line if line.startswith("- ") or following.startswith("- ") else f"{line}\\"


class MarkdownWriter(Writer):
    """Writes Markdown; `_indent` is the space before the lines of the current list item."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._indent = ""
        self._marker = ""

    def _write_text(self, text: str) -> None:
        self._pieces.append(_SPECIAL.sub(r"\\\g<0>", text))

    def _write_inline(self, element: Element) -> None:
        if element.tag in EMPHASIS:
            self._enclose(element, EMPHASIS[element.tag], EMPHASIS[element.tag])
        elif element.tag == "code":
            self._write_code(element)
        elif element.tag == "a" and (target := self._target(element)):
            self._enclose(element, "[", f"]({target})")
        else:
            self._write_children(element)

    def _enclose(self, element: Element, before: str, after: str) -> None:
        """Write inline text between two marks, without white space beside them."""
        if element.contains_blocks:
            self._write_children(element)
            return
        outer, self._pieces = self._pieces, []
        self._write_children(element)
        written = "".join(self._pieces)
        inner = " ".join(written.replace(LINE_BREAK, " ").split())
        self._pieces = outer
        if inner.strip("*[] ") and not (before in EMPHASIS.values() and before in inner):
            leading = " " if written[:1].isspace() else ""
            trailing = " " if written[-1:].isspace() else ""
            self._pieces.append(f"{leading}{before}{inner}{after}{trailing}")
        else:
            self._pieces.append(written)

    def _write_code(self, element: Element) -> None:
        text = plain(raw_text(element))
        fence = "``" if "`" in text else "`"
        space = " " if "`" in (text[:1], text[-1:]) else ""
        self._pieces.append(f"{fence}{space}{text}{space}{fence}" if text else "")

    def _write_block(self, element: Element) -> None:
        if element.tag == "pre":
            text = raw_text(element).strip("\n")
            fence = "~~~~" if "```" in text else "```"
            self._add_lines([fence, *text.splitlines(), fence])
        elif element.tag == "ol":
            self._write_numbered(element)
        elif element.tag == "li":
            self._write_item(element, "-")
        elif element.tag in HEADINGS:
            self._enclose(element, "**", "**")
        elif element.tag == "table" and (rows := _rows(element)):
            self._write_table(rows)
        elif element.tag == "blockquote":
            self._write_quotation(element)
        else:
            self._write_children(element)

    def _write_numbered(self, element: Element) -> None:
        items = [item for item in element.elements() if not is_unwritten(item)]
        first = element.attrs.get("start", "")
        for number, item in enumerate(items, int(first) if re.fullmatch("[0-9]{1,8}", first) else 1):
            self._write_item(item, f"{number}.")

    def _write_item(self, element: Element, marker: str) -> None:
        outer, self._marker = self._indent, f"{self._indent}{marker} "
        self._indent = outer + " " * (len(marker) + 1)
        self._write_children(element)
        self._end_paragraph()
        self._indent, self._marker = outer, ""

    def _write_quotation(self, element: Element) -> None:
        inner = markdown_of(element.children, self._url)
        self._add_lines([f"> {line}".rstrip() for line in inner.splitlines()])

    def _write_table(self, rows: list[list[Element]]) -> None:
        texts = [[_cell(cell, self._url) for cell in row] for row in rows]
        width = max(map(len, texts))
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in texts]
        lines.insert(1, f"| {' | '.join(['---'] * width)} |")
        self._add_lines(lines)

    def _add_paragraph(self, lines: list[str]) -> None:
        starts = [_with_plain_start(line) for line in lines]
        self._add_lines([*map(_with_break, starts, starts[1:]), starts[-1]])

    def _add_lines(self, lines: list[str]) -> None:
        if not lines:
            return
        marker, self._marker = self._marker, ""
        first = (marker or self._indent) + lines[0]
        rest = [self._indent + line if line else "" for line in lines[1:]]
        self._paragraphs.append((bool(marker), [first, *rest]))

    def _target(self, link: Element) -> str | None:
        """Return the absolute address of a link, or None if it does not lead to another page."""
        href = link.attrs.get("href", "").strip()
        if not href or href.startswith("#"):
            return None
        try:
            target = urljoin(self._url, href)
            is_usable = urlsplit(target).scheme in SCHEMES
        except ValueError:
            return None
        return re.sub(r"[\s<>()\\]", _percent_encoded, target) if is_usable else None


def _percent_encoded(character: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in character[0].encode("utf-8", "replace"))


def _rows(table: Element) -> list[list[Element]]:
    """Return the cells of a table of data by row, or nothing for a table that is only layout."""
    rows = table_rows(table)
    is_nested = sum(element.tag == "table" for element in table.walk()) > 1
    return rows if len(rows) > 1 and max(map(len, rows)) > 1 and not is_nested else []


def _cell(cell: Element, url: str) -> str:
    text = " ".join(markdown_of(cell.children, url).replace("\\\n", " ").split())
    return text.replace("|", "\\|")
