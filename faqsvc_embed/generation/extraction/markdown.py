"""Elements as Markdown with links, lists and tables (CommonMark 0.31, and the tables of GFM 0.29)."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from faqsvc_embed.generation.extraction.budget import STEPS_TO_WRITE
from faqsvc_embed.generation.extraction.dom import BLOCKS, HEADINGS, Element, Node
from faqsvc_embed.generation.extraction.text import is_unwritten, plain, raw_text

SCHEMES: Final = ("http", "https", "mailto", "tel")
EMPHASIS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*"}
BREAK: Final = "\v"
"""Stands for a line break until a paragraph is written."""

_SPECIAL = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[a-zA-Z/!?])|&(?=#?\w{1,31};)")
_BLOCK_START = re.compile(r"(?=[#>+=|~])|(?=-(?!\s\w))|(?P<number>[0-9]{1,9})(?=[.)](?:\s|$))")
_SPACES = re.compile(r"[^\S\v\u3000]+")


def markdown_of(nodes: Iterable[Node], url: str) -> str:
    """Return nodes as Markdown with absolute links, without buttons, boilerplate and decoration."""
    writer = _Writer(url)
    for node in nodes:
        writer.write(node)
    return writer.text()


def escaped(text: str) -> str:
    """Return plain paragraphs as Markdown that shows exactly their text; lists stay lists."""
    return "\n".join(
        line if line.startswith("- ") and line == _escaped_line(line, skip=2) else _escaped_line(line)
        for line in text.split("\n")
    )


def _escaped_line(line: str, skip: int = 0) -> str:
    line = line[:skip] + _SPECIAL.sub(r"\\\g<0>", line[skip:])
    return line if skip else _with_plain_start(line)


def _with_plain_start(line: str) -> str:
    """Return a line whose start is escaped if it would begin a block other than a list item with a dash."""
    start = _BLOCK_START.match(line)
    if start is None or line.startswith(("**", "`")):
        return line
    return f"{start['number'] or ''}\\{line[start.end() :]}"


def _with_break(line: str, following: str) -> str:
    """Return a line with a backslash, which keeps its end. A list item needs none."""
    return line if line.startswith("- ") or following.startswith("- ") else f"{line}\\"


class _Writer:
    """Collects blocks of Markdown; `_indent` is the space before the lines of the current list item."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._blocks: list[tuple[bool, str]] = []
        """Each block, and whether it is the first of a list item."""
        self._pieces: list[str] = []
        self._indent = ""
        self._marker = ""

    def text(self) -> str:
        """Return what was written."""
        self._end_paragraph()
        parts: list[str] = []
        for number, (in_list, block) in enumerate(self._blocks):
            is_tight = in_list and number > 0 and self._blocks[number - 1][0]
            parts += ["\n" if is_tight else "\n\n" if number else "", block]
        return "".join(parts)

    def write(self, node: Node) -> None:
        """Add a node."""
        if isinstance(node, str):
            self._pieces.append(_SPECIAL.sub(r"\\\g<0>", node.replace(BREAK, " ")))
            return
        node.budget.spend(STEPS_TO_WRITE * node.weight)
        if is_unwritten(node):
            return
        if node.tag == "br":
            self._pieces.append(BREAK)
        elif node.tag in BLOCKS:
            self._end_paragraph()
            self._write_block(node)
            self._end_paragraph()
        elif node.tag in EMPHASIS:
            self._write_inline(node, EMPHASIS[node.tag], EMPHASIS[node.tag])
        elif node.tag == "code":
            self._write_code(node)
        elif node.tag == "a" and (target := self._target(node)):
            self._write_inline(node, "[", f"]({target})")
        else:
            self._write_children(node)

    def _write_children(self, element: Element) -> None:
        for child in element.children:
            self.write(child)

    def _write_inline(self, element: Element, before: str, after: str) -> None:
        """Write inline text between two marks, without white space beside them."""
        if element.contains_blocks:
            self._write_children(element)
            return
        outer, self._pieces = self._pieces, []
        self._write_children(element)
        written = "".join(self._pieces)
        inner = " ".join(written.replace(BREAK, " ").split())
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
            self._write_inline(element, "**", "**")
        elif element.tag == "table" and (rows := _rows(element)):
            self._write_table(rows)
        elif element.tag == "blockquote":
            self._write_quotation(element)
        else:
            self._write_children(element)

    def _write_numbered(self, element: Element) -> None:
        number = 0
        for child in element.children:
            if isinstance(child, Element) and child.tag == "li" and not is_unwritten(child):
                number += 1
                self._end_paragraph()
                self._write_item(child, f"{number}.")
            else:
                self.write(child)

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

    def _end_paragraph(self) -> None:
        written = "".join(self._pieces)
        self._pieces.clear()
        lines = [_SPACES.sub(" ", line).strip() for line in written.split(BREAK)]
        for paragraph in "\n".join(lines).split("\n\n"):
            if shown := [line for line in paragraph.split("\n") if line]:
                starts = [_with_plain_start(line) for line in shown]
                self._add_lines([*map(_with_break, starts, starts[1:]), starts[-1]])

    def _add_lines(self, lines: list[str]) -> None:
        if not lines:
            return
        marker, self._marker = self._marker, ""
        first = (marker or self._indent) + lines[0]
        rest = [self._indent + line if line else "" for line in lines[1:]]
        self._blocks.append((bool(marker), "\n".join([first, *rest])))

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
    rows = [
        [cell for cell in row.elements() if cell.tag in ("td", "th")]
        for row in table.walk()
        if row.tag == "tr"
    ]
    rows = [row for row in rows if row]
    is_nested = sum(element.tag == "table" for element in table.walk()) > 1
    return rows if len(rows) > 1 and max(map(len, rows)) > 1 and not is_nested else []


def _cell(cell: Element, url: str) -> str:
    text = " ".join(markdown_of(cell.children, url).replace("\\\n", " ").split())
    return text.replace("|", "\\|")
