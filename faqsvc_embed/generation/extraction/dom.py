"""A parsed page as a tree of elements, prepared for extraction.

Every element knows its position in document order, so that one comparison tells whether it is inside another.
Inline text between blocks gets an element of its own: an element contains either blocks or inline text.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Union

import turbohtml

from faqsvc_embed.generation.data import load

NAMES: Final = {kind: frozenset(names.split()) for kind, names in load("names", dict[str, str]).items()}
"""Sets of names by what they mean; `names.toml` describes them."""

MAX_STEPS: Final = 1_000_000
"""Steps for one page. A step is one visit of one element; ordinary pages take 20 to 40 for each element."""
CHARACTERS_PER_STEP: Final = 32
"""Characters whose reading counts as one step."""
STEPS_PER_ELEMENT: Final = 5
"""Steps to create an element, or to write the text of one."""
STEPS_TO_CONVERT: Final = 8
"""Steps to convert `CHARACTERS_PER_STEP` characters of structured data to text."""

MAX_DEPTH: Final = 100
"""Levels of a tree; deeper elements are read as text."""
MAX_ELEMENTS: Final = 20_000
"""Elements of a page; the rest of the page is not read."""

TEXT_BLOCK: Final = "#text"
"""The tag of the element around inline text between blocks."""
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
BLOCKS: Final = NAMES["block"]

# A letter after a digit is no word: it is mostly part of a random name, as in `x19q`.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[a-z]?(?![a-z])")
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_PROTECTED = "/cdn-cgi/l/email-protection#"
"""The path of the links with which Cloudflare hides addresses."""

Node = Union["Element", str]


class PageTooComplex(Exception):
    """Reading a page takes more steps than its budget has."""


class StepBudget:
    """The steps that remain for a page."""

    def __init__(self) -> None:
        self.remaining: int = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            PageTooComplex: fewer steps remain.
        """
        self.remaining -= steps
        if self.remaining < 0:
            raise PageTooComplex

    def spend_on_data(self, text: str) -> None:
        """Count the steps to convert structured data to text; raises `PageTooComplex` like `spend`."""
        self.spend(1 + STEPS_TO_CONVERT * len(text) // CHARACTERS_PER_STEP)


class Element:
    """An element of a page; `start` and `end` are its first and last position in document order."""

    def __init__(self, tag: str, attrs: dict[str, str], parent: "Element | None", budget: StepBudget) -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.budget = budget
        self.children: list[Node] = []
        self.depth: int = parent.depth + 1 if parent is not None else 1
        self.role: str = attrs.get("role", "").strip().lower()
        self.classes: frozenset[str] = frozenset(attrs.get("class", "").lower().split())
        self.class_words: frozenset[str] = words_of(attrs.get("class", ""))
        self.words: frozenset[str] = self.class_words | words_of(attrs.get("id", ""))
        self.is_boilerplate = False
        self.contains_blocks = False
        self.start = self.end = self.index = 0
        self.weight = 1
        self.document_order: list[Element] = []

    def __contains__(self, other: "Element") -> bool:
        return self.start <= other.start and other.end <= self.end

    @property
    def look(self) -> tuple[str, str]:
        """Equal for elements that look alike: those with the same tag and classes."""
        return self.tag, self.attrs.get("class", "")

    def elements(self) -> Iterator["Element"]:
        """Yield the children that are elements."""
        return (child for child in self.children if isinstance(child, Element))

    def ancestors(self) -> Iterator["Element"]:
        """Yield the parent, its parent, and so on."""
        ancestor = self.parent
        while ancestor is not None:
            self.budget.spend(1)
            yield ancestor
            ancestor = ancestor.parent

    def walk(self) -> list["Element"]:
        """Return this element and all elements inside it, in document order."""
        self.budget.spend(self.end + 1 - self.start)
        return self.document_order[self.start : self.end + 1]

    def following_siblings(self) -> Iterator[Node]:
        """Yield the siblings after this element."""
        siblings = self.parent.children if self.parent is not None else []
        return (siblings[index] for index in range(self.index + 1, len(siblings)))

    def preceding_siblings(self) -> Iterator[Node]:
        """Yield the siblings before this element, the nearest first, without white space between them."""
        siblings = self.parent.children if self.parent is not None else []
        nodes = (siblings[index] for index in range(self.index - 1, -1, -1))
        return (node for node in nodes if isinstance(node, Element) or node.strip())


def by_looks(elements: Iterable[Element]) -> Mapping[object, list[Element]]:
    """Return elements by their looks: groups of those that look alike, up to two levels above."""
    groups = defaultdict[object, list[Element]](list)
    for element in elements:
        groups[tuple(each.look for each in (element, *islice(element.ancestors(), 2)))].append(element)
    return groups


def words_of(names: str) -> frozenset[str]:
    """Return the words of class names and ids, however they are joined: `faqItem_question--open`."""
    return frozenset(word.lower() for word in _WORD.findall(names[:1000]))


def with_headings(
    elements: Iterable[Element], headings: Container[Element]
) -> Iterator[tuple[Element, list[Element]]]:
    """Yield each element with the `headings` above it, at most one of each level."""
    above: list[Element] = []
    for element in elements:
        if element in headings:
            above = [heading for heading in above if HEADINGS[heading.tag] < HEADINGS[element.tag]]
            yield element, above
            above = [*above, element]
        else:
            yield element, above


def table_rows(table: Element) -> list[list[Element]]:
    """Return the cells of each row of a table that has some."""
    rows = (row.elements() for row in table.walk() if row.tag == "tr")
    return [cells for row in rows if (cells := [cell for cell in row if cell.tag in ("td", "th")])]


def build_tree(document: turbohtml.Node, budget: StepBudget) -> Element:
    """Return the tree of a document or fragment."""
    top = Element("html", {}, None, budget)
    pending = [(node, top) for node in reversed(document.children)]
    count = 0
    while pending and count < MAX_ELEMENTS:
        node, parent = pending.pop()
        if isinstance(node, turbohtml.Text):
            parent.children.append(node.data)
        elif isinstance(node, turbohtml.Element) and (
            node.tag not in NAMES["skipped"] or node.attr("itemprop")
        ):
            count += 1
            if parent.depth == MAX_DEPTH:
                parent.children.append(node.text)
                continue
            budget.spend(STEPS_PER_ELEMENT)
            child = Element(node.tag, _attributes(node), parent, budget)
            if node.tag not in BLOCKS and (words := words_of(node.tag)) & NAMES["custom_block"]:
                child.tag, child.words = "div", child.words | words
            if node.tag == "span" and _BOLD.search(child.attrs.get("style", "")):
                child.tag = "b"
            parent.children.append(child)
            if address := _shown_address(child):
                child.tag, child.attrs = "a", {"href": f"mailto:{address}"}
                if "data-cfemail" in node.attrs:
                    child.children.append(address)
                    continue
            pending += [(inner, child) for inner in reversed(node.flattened_children)]
    _wrap_inline_text(_document_order(top))
    _number(_document_order(top))
    return top


def _shown_address(element: Element) -> str:
    """Return the email address that Cloudflare hides in an element until its script runs, if there is one."""
    code = element.attrs.get("data-cfemail") or element.attrs.get("href", "").partition(_PROTECTED)[2]
    try:
        key, *hidden = bytes.fromhex(code[:400])
        return bytes(byte ^ key for byte in hidden).decode()
    except ValueError:
        return ""


def _attributes(element: turbohtml.Element) -> dict[str, str]:
    return {
        name: " ".join(value) if isinstance(value, list) else value or ""
        for name, value in element.attrs.items()
    }


def _document_order(top: Element) -> list[Element]:
    """Return an element and all elements inside it, in document order."""
    order: list[Element] = []
    pending = [top]
    while pending:
        element = pending.pop()
        order.append(element)
        pending += reversed(list(element.elements()))
    return order


def _wrap_inline_text(elements: list[Element]) -> None:
    """Put inline text between blocks, or between blank lines, into elements of its own."""
    for element in reversed(elements):
        element.contains_blocks = any(map(is_block, element.children))
    for element in elements:
        parts = _parts(element.children)
        element.contains_blocks |= len(parts) > 1
        if element.contains_blocks:
            element.children = []
            for part in parts:
                if is_block(part[0]):
                    element.children += part
                elif not all(map(_is_empty, part)):
                    text_block = Element(TEXT_BLOCK, {}, element, element.budget)
                    text_block.children = part
                    element.children.append(text_block)


def _parts(nodes: list[Node]) -> list[list[Node]]:
    """Return each block as a part, and the inline nodes between blocks or blank lines as a part."""
    parts: list[list[Node]] = []
    line_breaks = 0
    after_block = True
    for node in nodes:
        if is_block(node) or after_block or (line_breaks > 1 and not _is_empty(node)):
            parts.append([])
        parts[-1].append(node)
        after_block = is_block(node)
        if isinstance(node, Element) or node.strip():
            line_breaks = line_breaks + 1 if _is_empty(node) else 0
    return parts


def is_block(node: Node) -> bool:
    """Return whether a node is a block or contains one."""
    return isinstance(node, Element) and (node.tag in BLOCKS or node.contains_blocks)


def _is_empty(node: Node) -> bool:
    return node.tag == "br" if isinstance(node, Element) else not node.strip()


def _number(elements: list[Element]) -> None:
    """Set the positions, parents and weights of elements, which are in document order."""
    for position, element in enumerate(elements):
        element.start = element.end = position
        element.document_order = elements
        characters = 0
        for index, child in enumerate(element.children):
            if isinstance(child, Element):
                child.parent, child.index = element, index
            else:
                characters += len(child)
        element.weight = 1 + characters // CHARACTERS_PER_STEP
    for element in reversed(elements):
        if element.parent is not None:
            element.parent.end = max(element.parent.end, element.end)
