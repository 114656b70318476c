"""Converts the HTML of records, JSON-LD and pages to Markdown (CommonMark 0.31, the tables of GFM 0.29)."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from itertools import chain, groupby, pairwise
from textwrap import indent
from typing import Final, NamedTuple
from urllib.parse import quote

from faqsvc_embed.files.markdown_text import INLINE_TAGS, TAG, TAGS, escape_characters, escape_start

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_KEPT: Final = {"sup": "sup", "sub": "sub", "kbd": "kbd"}
_STRUCK: Final = {"s": "~~", "del": "~~", "strike": "~~"}
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*"} | _STRUCK | _KEPT
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
_SHOWN: Final = re.compile(r"[^\W_](?:[^\w\s]|_)")
"""A letter outside of emphasis and punctuation inside, between which `**` would be shown as text."""


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

    text: str
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


def to_markdown(nodes: Iterable[Tag | str]) -> str:
    """Return elements and text as Markdown."""
    return _joined(_blocks(nodes, 0))


def _joined(blocks: Sequence[_Block]) -> str:
    """Return blocks with a blank line between them, except between the items of a list."""
    parts = [block.text for block in blocks[:1]]
    for above, block in pairwise(blocks):
        parts += ["\n" if above.is_item and block.is_item else "\n\n", block.text]
    return "".join(parts)


def _blocks(nodes: Iterable[Tag | str], depth: int) -> list[_Block]:
    """Return the blocks that nodes become; `depth` is the number of lists and quotations around them."""
    found = list[_Block]()
    for are_blocks, run in groupby(nodes, _is_block):
        if are_blocks:
            found += [block for tag in run if isinstance(tag, Tag) for block in _block(tag, depth)]
        else:
            found += _paragraph(_inline(run))
    return found


def _is_block(node: Tag | str) -> bool:
    is_inline = isinstance(node, str) or node.name in INLINE_TAGS or node.name == "br"
    return not is_inline or (isinstance(node, Tag) and node.has_blocks)


def _block(tag: Tag, depth: int) -> list[_Block]:
    if tag.name == "pre":
        code = _code(tag).strip("\n")
        fence = "~~~~" if "```" in code else "```"
        return [_Block("\n".join([fence, *code.splitlines(), fence]))]
    if tag.name in _HEADINGS and not tag.has_blocks:
        title = _inline(tag.children, frozenset({"**"}))
        if level := tag.attrs.get("level"):
            signs = "#" * int(level)
            return [_Block(f"{signs} {one.text}") for one in _paragraph(title.replace(_BREAK, " "))]
        return _paragraph(_marked(title, "**"))
    if tag.name == "table":
        return _table(tag, depth)
    if tag.name in ("ol", "ul", "li") and depth < _MAX_NESTING:
        return _list(tag if tag.name != "li" else Tag("ul", {}, [tag]), depth)
    inner = _blocks(tag.children, depth + (tag.name == "blockquote"))
    if tag.name == "blockquote" and inner and depth < _MAX_NESTING:
        return [_Block("\n".join(f"> {line}".rstrip() for line in _joined(inner).split("\n")))]
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
        for place, (text, is_item) in enumerate(_blocks(node.children, depth + 1)):
            text = indent(text, " " * len(marker))
            found.append(_Block(text if place else marker + text[len(marker) :], is_item or place == 0))
    return found


def _table(tag: Tag, depth: int) -> list[_Block]:
    """Return a table. The cells of a table that is only layout become paragraphs."""
    rows = [
        [node for node in row.children if isinstance(node, Tag) and node.name in ("td", "th")]
        for row in _inside(tag, "tr")
    ]
    rows = [row for row in rows if row]
    width = max(map(len, rows), default=0)
    caption = [
        node for node in tag.children if isinstance(node, str) or not any(_inside(Tag("", {}, [node]), "tr"))
    ]
    above, cells = _blocks(caption, depth), [*chain.from_iterable(rows)]
    if len(rows) < 2 or width < 2 or any(any(_inside(cell, "table")) for cell in cells):
        return above + [block for cell in cells for block in _blocks(cell.children, depth)]
    # Short rows stay short (GFM, 4.10): one wide row beside thousands would become megabytes.
    first, *others = [[_in_one_line(_joined(_blocks(cell.children, depth))) for cell in row] for row in rows]
    lines = [first + [""] * (width - len(first)), ["---"] * width, *others]
    return [*above, _Block("\n".join(f"| {' | '.join(line)} |" for line in lines))]


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
    ends = ["\n" if _ITEM.match(one) or _ITEM.match(other) else "\\\n" for one, other in pairwise(lines)]
    return [_Block("".join(map(str.__add__, lines, [*ends, ""])))] if lines else []


def _emphasis(found: re.Match[str]) -> str:
    """Return emphasis in Markdown, or in HTML where a page would show the signs (CommonMark 0.31, 6.2).

    That is between a letter outside and punctuation inside, and beside other emphasis.
    """
    (sign, inner), start, end = found.groups(), found.start(), found.end()
    before, after = found.string[max(start - 1, 0) : start], found.string[end : end + 1]
    is_shown = _SHOWN.match(before + inner[0]) or _SHOWN.match(after + inner[-1])
    if is_shown or not {inner[0], inner[-1], after}.isdisjoint("*~\x02"):
        sign = f"<{_TAG_NAMES[sign]}>"
    return f"{sign}{inner}{sign.replace('<', '</')}"


def _in_one_line(cell: str) -> str:
    return " ".join(cell.replace("\\\n", " ").split()).replace("|", "\\|")


def _target(href: str) -> str:
    """Return an address as the destination of a link, with its spaces and brackets percent-encoded."""
    return re.sub(r"[\s<>()\\]", lambda found: quote(found[0].encode("utf-8", "replace")), href)
