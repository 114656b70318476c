"""A page as a tree of elements that every shape reads: parsed as browsers do, then tidied once.

Each element knows where it starts and ends in document order, so that "is inside" is a comparison. Inline
text between blocks gets an element of its own: an element holds either blocks or inline text, never both.
"""

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

import turbohtml

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words(names: str) -> frozenset[str]:
    """Return the words of class names and ids, whatever joins them: `faqItem_question--open`."""
    return frozenset(word.lower() for word in _WORD.findall(names[:1000]))


DEEPEST: Final = 100
"""Levels of a tree; what is nested deeper is read as if it were there."""
MOST_ELEMENTS: Final = 20_000
"""Of a page; the rest of it is not read."""

RUN: Final = "#run"
"""The tag of the element that is put around inline text between blocks."""

HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
BLOCKS: Final = (
    words(
        "address article aside blockquote body center dd details dialog dir div dl dt fieldset "
        "figcaption figure footer form header hgroup hr html legend li main menu nav ol p pre search "
        "section summary table tbody td tfoot th thead tr ul caption"
    )
    | HEADINGS.keys()
)
DROPPED: Final = words(
    "audio canvas datalist embed head iframe img input link math meta noscript object optgroup "
    "option picture progress script select source style svg template textarea title track video"
)

_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class Element:
    """An element of a page; `start` and `end` are its place in document order."""

    __slots__ = (
        "attrs",
        "children",
        "end",
        "holds_blocks",
        "noise",
        "parent",
        "place",
        "start",
        "tag",
        "words",
    )

    def __init__(self, tag: str, attrs: dict[str, str], parent: "Element | None") -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.children: list[Element | str] = []
        self.words = words(f"{attrs.get('class', '')} {attrs.get('id', '')}")
        self.start = self.end = self.place = 0
        self.holds_blocks = False
        self.noise: bool = parent is not None and parent.noise
        """What no question or answer is in: navigation, banners, comments."""

    @property
    def role(self) -> str:
        return self.attrs.get("role", "").strip().lower()

    @property
    def is_hidden(self) -> bool:
        return "hidden" in self.attrs or bool(_HIDDEN.search(self.attrs.get("style", "")))

    def __contains__(self, other: "Element") -> bool:
        return self.start <= other.start and other.end <= self.end

    def elements(self) -> Iterator["Element"]:
        """Yield the children that are elements."""
        return (child for child in self.children if isinstance(child, Element))

    def ancestors(self) -> Iterator["Element"]:
        """Yield the parent, its parent, and so on."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator["Element"]:
        """Yield this element and all below it, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(list(element.elements())))

    def after(self) -> Iterator["Element | str"]:
        """Yield the siblings that follow."""
        if self.parent is not None:
            yield from islice(self.parent.children, self.place + 1, None)


def grow(root: turbohtml.Element) -> Element:
    """Return the tree below an element of the parser's, tidied."""
    top = Element(root.tag, _attributes(root), None)
    waiting: deque[tuple[turbohtml.Element, Element, int]] = deque([(root, top, 1)])
    count = 0
    while waiting and count < MOST_ELEMENTS:
        source, target, depth = waiting.popleft()
        for node in source.children:
            if isinstance(node, turbohtml.Text):
                target.children.append(node.data)
            elif isinstance(node, turbohtml.Element) and (node.tag not in DROPPED or _states(node)):
                count += 1
                if depth < DEEPEST:
                    child = Element(node.tag, _attributes(node), target)
                    target.children.append(child)
                    waiting.append((node, child, depth + 1))
                else:
                    target.children.append(node.text)
    _separate(top)
    _number(top)
    return top


def _states(element: turbohtml.Element) -> bool:
    """Tell whether a `<meta>` has a part of the microdata around it."""
    return element.tag == "meta" and element.attr("itemprop") is not None


def _attributes(element: turbohtml.Element) -> dict[str, str]:
    return {
        name: " ".join(value) if isinstance(value, list) else value or ""
        for name, value in element.attrs.items()
    }


def _separate(top: Element) -> None:
    """Put inline text that stands between blocks, or between blank lines, into elements of its own."""
    elements = list(top.walk())
    for element in reversed(elements):
        element.holds_blocks = any(child.tag in BLOCKS or child.holds_blocks for child in element.elements())
    for element in elements:
        if not element.holds_blocks and not _holds_paragraphs(element):
            continue
        element.holds_blocks = True
        tidied: list[Element] = []
        run: Element | None = None
        breaks = 0
        for child in element.children:
            if isinstance(child, Element) and (child.tag in BLOCKS or child.holds_blocks):
                tidied.append(child)
                run, breaks = None, 0
                continue
            if run is None or (breaks > 1 and not _is_blank(child)):
                run = Element(RUN, {}, element)
                tidied.append(run)
            breaks = _breaks(child, breaks)
            run.children.append(child)
            if isinstance(child, Element):
                child.parent = run
        element.children = [
            child for child in tidied if child.tag != RUN or not all(map(_is_blank, child.children))
        ]


def _holds_paragraphs(element: Element) -> bool:
    """Tell whether a block of text has a blank line in it, as two line breaks make one."""
    if element.tag not in BLOCKS or element.tag == "pre":
        return False
    breaks = 0
    for child in element.children:
        if breaks > 1 and not _is_blank(child):
            return True
        breaks = _breaks(child, breaks)
    return False


def _breaks(child: "Element | str", before: int) -> int:
    """Return how many line breaks end the text of a line's children so far."""
    if isinstance(child, Element):
        return before + 1 if child.tag == "br" else 0
    return before if not child.strip() else 0


def _is_blank(child: "Element | str") -> bool:
    return child.tag == "br" if isinstance(child, Element) else not child.strip()


def _number(top: Element) -> None:
    order = list(top.walk())
    for number, element in enumerate(order):
        element.start = element.end = number
        for place, child in enumerate(element.children):
            if isinstance(child, Element):
                child.place = place
    for element in reversed(order):
        if element.parent is not None:
            element.parent.end = max(element.parent.end, element.end)
