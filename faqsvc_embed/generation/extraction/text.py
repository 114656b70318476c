"""Elements as plain text: a blank line between paragraphs, list items on lines that start with "- "."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from faqsvc_embed.generation.extraction.dom import BLOCKS, STEPS_PER_ELEMENT, Element, Node
from faqsvc_embed.generation.extraction.labels import (
    bare_question,
    has_question_label,
    is_label,
    is_question_label,
)
from faqsvc_embed.generation.extraction.questions import ends_page
from faqsvc_embed.generation.extraction.words import NAMES
from faqsvc_embed.text import superscript

_LINE_BREAK: Final = "\v"
_NOTE_MARK = re.compile(r"\s*(?:\[[^\[\]]{1,4}\]|[*†‡§]{1,3})\s*")

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


def plain(text: str) -> str:
    """Return a text on one line, with single spaces and without invisible characters."""
    return " ".join(_INVISIBLE.sub("", text).split())


def raw_text(element: Element) -> str:
    """Return all text in an element, boilerplate and decoration included."""
    texts: list[str] = []
    pending: list[Node] = [element]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            texts.append(node)
        else:
            node.budget.spend(node.weight)
            pending += ["\n"] if node.tag == "br" else reversed(node.children)
    return "".join(texts)


def inline_text(nodes: Sequence[Node]) -> str:
    """Return the text of nodes on one line, buttons included, because a question may be one."""
    texts: list[str] = []
    pending = [*reversed(nodes)]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            texts.append(node)
        elif not node.is_boilerplate and not _is_decoration(node):
            node.budget.spend(node.weight)
            if node.tag == "br" or node.tag in BLOCKS:
                texts.append(" ")
                pending.append(" ")
            pending += reversed(node.children)
    return plain("".join(texts))


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


def is_unwritten(element: Element) -> bool:
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
    if element.tag in ("span", "b", "strong", "i", "em") and _is_first(element):
        return is_label(plain(raw_text(element)))
    return False


def _is_note_mark(element: Element) -> bool:
    """Return whether a superscript is the mark of a footnote: in brackets, or a link to the note."""
    if element.tag != "sup":
        return False
    links = (inner.attrs.get("href", "") for inner in element.walk() if inner.tag == "a")
    return any("#" in link for link in links) or _NOTE_MARK.fullmatch(raw_text(element)) is not None


def _is_first(element: Element) -> bool:
    return not any(isinstance(node, Element) or node.strip() for node in element.preceding_siblings())


def text_of(nodes: Iterable[Node]) -> str:
    """Return the text of nodes as readers see it, without buttons, boilerplate and decoration."""
    return _Writer().written(nodes)


class _Writer:
    """Writes plain text."""

    def __init__(self) -> None:
        self._paragraphs: list[tuple[bool, list[str]]] = []
        """The lines of each paragraph, and whether it is the first of a list item."""
        self._pieces: list[str] = []
        self._list_depth = 0
        self._starts_item = False

    def written(self, nodes: Iterable[Node]) -> str:
        """Return nodes as paragraphs, with no blank lines between list items."""
        for node in nodes:
            self._write(node)
        self._end_paragraph()
        parts: list[str] = []
        follows_item = False
        for is_item, lines in self._paragraphs:
            parts += ["\n" if is_item and follows_item else "\n\n", "\n".join(lines)]
            follows_item = is_item
        return "".join(parts[1:])

    def _write(self, node: Node) -> None:
        if isinstance(node, str):
            self._pieces.append(node)
            return
        node.budget.spend(STEPS_PER_ELEMENT * node.weight)
        if is_unwritten(node):
            return
        if node.tag == "br":
            self._pieces.append(_LINE_BREAK)
        elif node.tag == "sup":
            self._pieces.append(superscript(raw_text(node)))
        elif node.tag in BLOCKS:
            self._end_paragraph()
            self._write_block(node)
            self._end_paragraph()
        else:
            self._write_children(node)

    def _write_children(self, element: Element) -> None:
        for child in element.children:
            self._write(child)

    def _end_paragraph(self) -> None:
        lines = [plain(line) for line in "".join(self._pieces).split(_LINE_BREAK)]
        self._pieces.clear()
        for paragraph in "\n".join(lines).split("\n\n"):
            if shown := [line for line in paragraph.split("\n") if line]:
                self._add_paragraph(shown)

    def _write_block(self, element: Element) -> None:
        if element.tag == "pre":
            self._pieces.append(raw_text(element).replace("\n", _LINE_BREAK))
        elif element.tag == "tr":
            cells = [text for cell in element.elements() if (text := text_of(cell.children))]
            # A row with a single cell is only layout.
            row = cells[0].replace("\n", _LINE_BREAK) if len(cells) == 1 else " | ".join(map(plain, cells))
            self._pieces.append(row)
        elif element.tag == "li":
            self._list_depth += 1
            self._starts_item = True
            self._write_children(element)
            self._end_paragraph()
            self._list_depth -= 1
            self._starts_item = False
        else:
            self._write_children(element)

    def _add_paragraph(self, lines: list[str]) -> None:
        if self._starts_item:
            self._paragraphs.append((True, ["- " + lines[0], *lines[1:]]))
            self._starts_item = False
        elif self._list_depth and self._paragraphs:
            self._paragraphs[-1][1].extend(lines)
        else:
            self._paragraphs.append((False, lines))
