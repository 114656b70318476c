"""Elements as text, and as Markdown with links.

In plain text, there is a blank line between paragraphs, and the items of a list start with "- ".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import parse_qs, urljoin, urlsplit

import turbohtml

from faqsvc_embed.files.html import Tag, to_markdown
from faqsvc_embed.files.markdown_text import TAGS
from faqsvc_embed.generation.extraction.dom import BLOCKS, NAMES, STEPS_PER_ELEMENT, Element, Node, is_block
from faqsvc_embed.generation.extraction.questions import (
    bare_question,
    ends_page,
    has_question_label,
    is_label,
    is_question_label,
)
from faqsvc_embed.text import superscript

SCHEMES: Final = ("http", "https", "mailto", "tel", "")
"""The schemes of links that are kept. Links stay relative if the address of the page is unknown."""

Paragraph = tuple[bool, list[str]]
"""Whether a paragraph is the item of a list, and its lines."""
_LINE_BREAK: Final = "\v"
"""Stands for `<br>` in inline text, whose other line breaks are only white space."""
_NOTE_MARK = re.compile(r"\s*(?:\[[^\[\]]{1,4}\]|[*†‡§]{1,3})\s*")

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


def plain(text: str) -> str:
    """Return a text on one line, with single spaces and without invisible characters."""
    return " ".join(_INVISIBLE.sub("", text).split())


def raw_text(element: Element) -> str:
    """Return all text in an element, boilerplate and decoration included."""
    element.budget.spend(element.weight)
    if element.tag == "br":
        return "\n"
    return "".join(child if isinstance(child, str) else raw_text(child) for child in element.children)


def inline_text(nodes: Sequence[Node]) -> str:
    """Return the text of nodes on one line, buttons included, because a question may be one."""
    return plain("".join(map(_words, nodes)))


def _words(node: Node) -> str:
    """Return the text of a node, without decoration and the keywords beside a question."""
    if isinstance(node, str):
        return node
    is_number = node.words & NAMES["number"] and _is_first(node) and len(raw_text(node).split()) == 1
    is_beside = node.tag == "span" and (is_number or node.words & NAMES["tag"])
    if node.is_boilerplate or _is_decoration(node) or is_beside:
        return ""
    node.budget.spend(node.weight)
    words = "".join(map(_words, node.children))
    return f" {words} " if node.tag == "br" or node.tag in BLOCKS else words


def question_text(element: Element) -> str:
    """Return the text of a question without label, number and symbols."""
    element.budget.spend(element.weight)
    return bare_question(inline_text(element.children) or plain(raw_text(element)))


def is_labelled_question(element: Element) -> bool:
    """Return whether an element starts with a label such as `Q:`, or with an element that is only a label."""
    if has_question_label(inline_text(element.children)):
        return True
    first = next((child for child in element.children if not isinstance(child, str) or child.strip()), None)
    return isinstance(first, Element) and is_question_label(plain(raw_text(first)))


def is_left_out(element: Element) -> bool:
    """Return whether an element is a button, boilerplate or decoration, and so no part of an answer."""
    return element.is_boilerplate or element.tag == "button" or _is_decoration(element)


def _is_decoration(element: Element) -> bool:
    """Return whether an element contains a symbol, a label, or words for screen readers only."""
    if element.classes & NAMES["hidden"] or element.tag in ("s", "strike", "del") or _is_note_mark(element):
        return True
    if element.tag in ("i", "span", "b", "em", "small", "a", "button"):
        if element.attrs.get("aria-hidden") == "true" and element.tag != "a":
            return True
        if element.words & NAMES["ornament"] and len(raw_text(element).split()) <= 1:
            return True
    if element.tag == "a" and element.attrs.get("href", "").startswith("#") and not _is_first(element):
        return ends_page(plain(raw_text(element)))
    following = (node for node in element.following_siblings() if isinstance(node, Element) or node.strip())
    is_beside = element.tag in ("div", "p") and not element.contains_blocks and any(following)
    is_part = element.tag in ("span", "b", "strong", "i", "em") or is_beside
    return is_part and _is_first(element) and is_label(plain(raw_text(element)))


def _is_note_mark(element: Element) -> bool:
    """Return whether an element marks a footnote: by its role, or as superscript in brackets or a link."""
    if element.tag != "sup" or element.role == "doc-noteref":
        return element.role == "doc-noteref"
    links = (inner.attrs.get("href", "") for inner in element.walk() if inner.tag == "a")
    return any("#" in link for link in links) or _NOTE_MARK.fullmatch(raw_text(element)) is not None


def _is_first(element: Element) -> bool:
    return next(element.preceding_siblings(), None) is None


def text_of(nodes: Iterable[Node]) -> str:
    """Return the text of nodes as readers see it, without buttons, boilerplate and decoration.

    There is no blank line between the items of a list.
    """
    parts: list[str] = []
    follows_item = False
    for is_item, lines in _paragraphs(nodes):
        parts += ["\n" if is_item and follows_item else "\n\n", "\n".join(lines)]
        follows_item = is_item
    return "".join(parts[1:])


def _paragraphs(nodes: Iterable[Node]) -> list[Paragraph]:
    """Return the paragraphs of nodes: those of each block, and those of the inline text between blocks."""
    found: list[Paragraph] = []
    for are_blocks, run in groupby(nodes, is_block):
        if are_blocks:
            for node in run:
                found += _block_paragraphs(node) if isinstance(node, Element) else []
        else:
            found += _inline_paragraphs("".join(map(_inline, run)))
    return found


def _inline_paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of a text with line breaks: a blank line ends one."""
    lines = "\n".join(map(plain, text.split(_LINE_BREAK)))
    paragraphs = ([*filter(None, part.split("\n"))] for part in lines.split("\n\n"))
    return [(False, part) for part in paragraphs if part]


def _inline(node: Node) -> str:
    """Return the text of an inline node, with its line breaks."""
    if isinstance(node, str):
        return node
    node.budget.spend(STEPS_PER_ELEMENT * node.weight)
    if is_left_out(node):
        return ""
    if node.tag == "br":
        return _LINE_BREAK
    return superscript(raw_text(node)) if node.tag == "sup" else "".join(map(_inline, node.children))


def _block_paragraphs(block: Element) -> list[Paragraph]:
    block.budget.spend(STEPS_PER_ELEMENT * block.weight)
    if is_left_out(block):
        return []
    if block.tag == "pre":
        return _inline_paragraphs(raw_text(block).replace("\n", _LINE_BREAK))
    if block.tag == "tr":
        cells = [text for cell in block.elements() if (text := text_of(cell.children))]
        # A row with a single cell is only layout.
        row = cells[0].replace("\n", _LINE_BREAK) if len(cells) == 1 else " | ".join(map(plain, cells))
        return _inline_paragraphs(row)
    inner = _paragraphs(block.children)
    if block.tag != "li":
        return inner
    items: list[Paragraph] = []
    for is_item, lines in inner:
        if items and not is_item:
            items[-1][1].extend(lines)
        else:
            items.append((True, lines if is_item else [f"- {lines[0]}", *lines[1:]]))
    return items


def base_of(document: turbohtml.Document, url: str) -> str:
    """Return the address to which the links of a page are relative, its own or that of its `<base>`."""
    base = document.find("base")
    try:
        return url if base is None else urljoin(url, (base.attr("href") or "").strip())
    except ValueError:
        return url


def markdown_of(nodes: Iterable[Node], url: str) -> str:
    """Return nodes as Markdown with absolute links, without buttons, boilerplate and decoration."""
    return to_markdown(_written(nodes, url))


def _written(nodes: Iterable[Node], url: str) -> Iterator[Tag | str]:
    """Yield the text of nodes, with the elements that Markdown has."""
    for node in nodes:
        if isinstance(node, str):
            yield node
            continue
        node.budget.spend(STEPS_PER_ELEMENT * node.weight)
        name = "div" if node.tag in BLOCKS and node.tag not in TAGS else node.tag
        if is_left_out(node):
            continue
        if name in ("pre", "code"):
            yield Tag(name, {}, [raw_text(node)])
        elif name in TAGS and name != "img":
            attrs = {"href": _target(node, url), "start": node.attrs.get("start", "")}
            yield Tag(name, attrs, [*_written(node.children, url)])
        else:
            yield from _written(node.children, url)


def _target(element: Element, url: str) -> str:
    """Return the absolute address of a link to another page, or an empty text."""
    href = element.attrs.get("href", "").strip()
    try:
        target = urljoin(url, href)
        if target.startswith("https://www.google.com/url?q="):  # as Google Docs writes links
            target = parse_qs(urlsplit(target).query)["q"][0]
        is_here = target.partition("#")[0] == url.partition("#")[0]
        return target if urlsplit(target).scheme in SCHEMES and not is_here else ""
    except (KeyError, ValueError):
        return ""
