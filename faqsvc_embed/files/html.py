"""Converts the HTML of records, JSON-LD and pages to Markdown (CommonMark 0.31, the tables of GFM 0.29)."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from itertools import chain, pairwise
from typing import Final, NamedTuple
from urllib.parse import quote

from faqsvc_embed.files.markdown_text import INLINE_TAGS, TAG, TAGS, escape_characters, escape_start

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~", "del": "~~", "strike": "~~"} | {
    "sup": "sup",
    "sub": "sub",
    "kbd": "kbd",
}
"""The signs of elements in Markdown; the names of the elements that Markdown lacks."""
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
_BREAK: Final = "\v"
"""Stands for a line break until its paragraph is written."""
_EMPHASIS: Final = re.compile("\x02([*~]+)\x04([^\x02\x03]*)\x03")
"""Emphasis in an open paragraph. Its signs depend on the next character, so they are written at the end."""
_TAG_NAMES: Final = {"**": "strong", "*": "em", "~~": "s"}


@dataclass(eq=False)
class Tag:
    """An element of HTML."""

    name: str
    attrs: dict[str, str]
    children: "list[Tag | str]"

    @cached_property
    def has_blocks(self) -> bool:
        """Whether it contains a block."""
        return any(map(_is_block, self.children))


class _Block(NamedTuple):
    """A paragraph, a table or the like."""

    lines: list[str]
    is_item: bool = False
    """Whether it begins with the marker of a list item."""


def html_to_line(markup: str) -> str:
    """Return the text that HTML shows, on one line."""
    import nh3

    shown = nh3.clean(markup, tags=set(), attributes={}) if TAG.search(markup) else markup
    return " ".join(html.unescape(shown).split())


def html_to_markdown(markup: str, *, is_whole: bool = False) -> str:
    """Return HTML as Markdown with its lists, tables, quotations, code, links, images and emphasis.

    Headings become bold lines, as in an answer, unless it is the HTML of a whole FAQ.
    """
    import nh3

    parser = _Parser(is_whole=is_whole)
    attributes = {"a": {"href"}, "ol": {"start"}, "img": {"src", "alt"}}
    parser.feed(nh3.clean(_shallow(markup), tags=TAGS, attributes=attributes, link_rel=None))
    parser.close()
    return to_markdown(parser.top.children)


def _shallow(markup: str) -> str:
    """Return HTML in which a line break stands for each tag of an element that is nested too deeply."""
    depth = 0

    def kept(tag: re.Match[str]) -> str:
        nonlocal depth
        depth = max(0, depth + (-1 if tag[1] else 1))
        is_deep = depth + len(tag[1]) > _MAX_DEPTH
        return "<br>" if is_deep else tag[0]

    return _NESTING.sub(kept, markup)


def to_markdown(nodes: Iterable[Tag | str]) -> str:
    """Return elements and text as Markdown."""
    return _joined(_blocks(nodes, 0))


def _is_block(node: Tag | str) -> bool:
    is_inline = isinstance(node, str) or node.name in INLINE_TAGS or node.name == "br"
    return not is_inline or (isinstance(node, Tag) and node.has_blocks)


class _Parser(HTMLParser):
    """Makes a tree of HTML whose elements are all closed. In a whole FAQ, headings have a `level`."""

    def __init__(self, *, is_whole: bool) -> None:
        super().__init__()
        self._is_whole = is_whole
        self.top = Tag("div", {}, [])
        self._open = [self.top]

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        level = {"level": tag[1:]} if self._is_whole and tag in _HEADINGS else {}
        one = Tag(tag, level | {name: value or "" for name, value in attrs}, [])
        is_deep = len(self._open) > _MAX_DEPTH
        if not is_deep:
            self._open[-1].children.append(one)
        if tag not in ("br", "hr", "img"):
            self._open.append(self._open[-1] if is_deep else one)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()


def _joined(blocks: Sequence[_Block]) -> str:
    """Return blocks with a blank line between them, except between the items of a list."""
    parts = ["\n".join(block.lines) for block in blocks]
    for place, (above, block) in enumerate(pairwise(blocks), 1):
        parts[place] = ("\n" if above.is_item and block.is_item else "\n\n") + parts[place]
    return "".join(parts)


def _blocks(nodes: Iterable[Tag | str], depth: int) -> list[_Block]:
    """Return the blocks that nodes become; `depth` is the number of lists and quotations around them."""
    found = list[_Block]()
    line = list[Tag | str]()
    for node in nodes:
        if isinstance(node, Tag) and _is_block(node):
            found += [*_paragraph(_inline(line)), *_block(node, depth)]
            line.clear()
        else:
            line.append(node)
    return [*found, *_paragraph(_inline(line))]


def _block(tag: Tag, depth: int) -> list[_Block]:
    if tag.name == "pre":
        written = _code(tag)
        fence = "~~~~" if "```" in written else "```"
        return [_Block([fence, *written.strip("\n").splitlines(), fence])]
    if tag.name in _HEADINGS and not tag.has_blocks:
        title = _inline(tag.children, frozenset({"**"}))
        if level := tag.attrs.get("level"):
            shown = _paragraph(title.replace(_BREAK, " "))
            return [_Block([f"{'#' * int(level)} {line}" for line in block.lines]) for block in shown]
        return _paragraph(_marked(title, "**"))
    if tag.name == "table":
        return _table(tag, depth)
    if tag.name in ("ol", "ul", "li") and depth < _MAX_NESTING:
        return _list(tag if tag.name != "li" else Tag("ul", {}, [tag]), depth)
    inner = _blocks(tag.children, depth + (tag.name == "blockquote"))
    if tag.name == "blockquote" and inner and depth < _MAX_NESTING:
        return [_Block([f"> {line}".rstrip() for line in _joined(inner).split("\n")])]
    return inner


def _list(tag: Tag, depth: int) -> list[_Block]:
    found, start = list[_Block](), tag.attrs.get("start", "")
    number = int(start) if start.isdecimal() and len(start) < _LONG_NUMBER else 1
    for node in tag.children:
        if isinstance(node, str) or node.name != "li":
            found += _blocks([node], depth)
            continue
        marker = f"{number}. " if tag.name == "ol" else "- "
        number += 1
        for place, (lines, is_item) in enumerate(_blocks(node.children, depth + 1)):
            lines = [" " * len(marker) + line if line else line for line in lines]
            if place == 0:
                lines[0] = marker + lines[0][len(marker) :]
            found.append(_Block(lines, is_item or place == 0))
    return found


def _table(tag: Tag, depth: int) -> list[_Block]:
    """Return a table. The cells of a table that is only layout become paragraphs."""
    rows = [
        [node for node in row.children if isinstance(node, Tag) and node.name in ("td", "th")]
        for row in _inside(tag, "tr")
    ]
    rows = [row for row in rows if row]
    width, above = max(map(len, rows), default=0), _blocks(_outside_cells(tag), depth)
    if len(rows) < 2 or width < 2 or any(any(_inside(cell, "table")) for cell in chain.from_iterable(rows)):
        return above + [
            block for cell in chain.from_iterable(rows) for block in _blocks(cell.children, depth)
        ]
    cells = [[_in_one_line(_joined(_blocks(cell.children, depth))) for cell in row] for row in rows]
    # Short rows stay short (GFM, 4.10): one wide row beside thousands would become megabytes.
    cells[0] += [""] * (width - len(cells[0]))
    return [*above, _Block([_row(cells[0]), _row(["---"] * width), *map(_row, cells[1:])])]


def _outside_cells(tag: Tag) -> Iterator[Tag | str]:
    """Yield what a table has besides its cells, such as a caption."""
    for node in tag.children:
        if isinstance(node, str) or (node.name not in ("td", "th", "tr") and not any(_inside(node, "tr"))):
            yield node
        elif node.name not in ("td", "th"):
            yield from _outside_cells(node)


def _inside(tag: Tag, name: str) -> Iterator[Tag]:
    """Yield the outermost elements with a name inside an element."""
    for node in tag.children:
        if isinstance(node, Tag):
            if node.name == name:
                yield node
            else:
                yield from _inside(node, name)


def _inline(nodes: Iterable[Tag | str], marks: frozenset[str] = frozenset()) -> str:
    """Return inline nodes as Markdown whose emphasis is not yet written; `marks` are open around them."""
    return "".join(_escaped(node) if isinstance(node, str) else _inline_tag(node, marks) for node in nodes)


def _escaped(text: str) -> str:
    words = " ".join(text.split())
    before, after = " " * text[:1].isspace(), " " * (text[-1:].isspace() and bool(words))
    return f"{before}{escape_characters(words)}{after}"


def _inline_tag(tag: Tag, marks: frozenset[str]) -> str:
    if tag.name == "br":
        return _BREAK
    if tag.name == "img":
        return f"![{escape_characters(tag.attrs.get('alt', ''))}]({_target(tag.attrs.get('src', ''))})"
    if tag.name == "code":
        code = " ".join(_code(tag).split())
        fence = "``" if "`" in code else "`"
        space = " " if "`" in (code[:1], code[-1:]) else ""
        return f"{fence}{space}{code}{space}{fence}" if code else ""
    if tag.name == "sup" and "sup" not in marks and _is_note(tag):
        return ""
    href = tag.attrs.get("href", "") if tag.name == "a" else ""
    mark = "a" if href else _MARKS.get(tag.name, "")
    inner = _inline(tag.children, marks | {mark})
    return _marked(inner, mark, href) if mark and mark not in marks else inner


def _is_note(tag: Tag) -> bool:
    """Return whether a superscript is only the mark of a footnote, which links to a note on the page."""
    links = list(_inside(tag, "a"))
    letters = [sum(map(str.isalnum, _code(one))) for one in (tag, *links)]
    return all("#" in link.attrs.get("href", "") for link in links) and letters[0] == sum(letters[1:]) > 0


def _marked(inner: str, mark: str, href: str = "") -> str:
    """Return inline Markdown with emphasis or a link around it; white space at its edges stays outside."""
    text = inner.replace(_BREAK, " ").strip()
    if not text:
        return inner
    before, after = " " * inner[:1].isspace(), " " * inner[-1:].isspace()
    if href:
        text = f"[{text}]({_target(href)})"
    else:
        text = f"\x02{mark}\x04{text}\x03" if mark in _TAG_NAMES else f"<{mark}>{text}</{mark}>"
    return f"{before}{text}{after}"


def _code(tag: Tag) -> str:
    return "".join(
        node if isinstance(node, str) else "\n" if node.name == "br" else _code(node) for node in tag.children
    )


def _paragraph(text: str) -> list[_Block]:
    """Return inline Markdown as a paragraph, if it has words."""
    # From the inside out. Emphasis never contains its own kind, so there are no more levels than kinds.
    for _ in _TAG_NAMES:
        text = _EMPHASIS.sub(_emphasis, text)
    lines = [line for line in (" ".join(line.split()) for line in text.split(_BREAK)) if line]
    lines = [line if _ITEM.match(line) else escape_start(line) for line in lines]
    ends = ["" if _ITEM.match(one) or _ITEM.match(other) else "\\" for one, other in pairwise(lines)]
    return [_Block([line + end for line, end in zip(lines, [*ends, ""], strict=True)])] if lines else []


def _emphasis(found: re.Match[str]) -> str:
    """Return emphasis in Markdown, or in HTML where a page would show the signs (CommonMark 0.31, 6.2).

    It shows signs between punctuation inside and a word outside, and signs beside those of other emphasis.
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
