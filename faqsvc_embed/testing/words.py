"""The words of a page with the places of its elements, as text that ignores case, spaces and punctuation."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

import turbohtml

from faqsvc_embed.generation.extraction.dom import BLOCKS
from faqsvc_embed.generation.extraction.labels import bare_answer, bare_question
from faqsvc_embed.generation.extraction.words import NAMES
from faqsvc_embed.text import normalized

_BLOCKS = BLOCKS | {"br", "button"}
_SKIPPED = NAMES["skipped"] - {"meta", "link", "head"} | {"s", "strike", "del"}
"""Elements whose text is not for readers: code and deleted text."""
_ICON = re.compile(r"icon|symbol|glyph|chevron", re.IGNORECASE)
_ICON_TEXT = re.compile(r"\s*[^ ]{0,24}\s*")
_LABEL = re.compile(r"\A[^\s.:]{1,4}[.:]\s+")
"""A possible label of a question or an answer, in any language."""


def remove_icons(document: turbohtml.Document) -> None:
    """Remove the elements that only draw a sign, such as the name of an icon or a plus."""
    for element in document.select("i, span, b, em"):
        is_named = _ICON.search(str(element.attr("class") or "")) is not None
        if (is_named or element.attr("aria-hidden") == "true") and _ICON_TEXT.fullmatch(element.text):
            element.decompose()


def fold(text: str) -> str:
    """Return the letters, digits and signs of currencies in a text, without case."""
    text = normalized("NFKC", text).casefold()
    kinds = ((char, unicodedata.category(char)) for char in text if char not in "\ufe0e\ufe0f")
    return "".join(char for char, kind in kinds if kind[0] in "LNM" or kind == "Sc" or char == "%")


@dataclass(eq=False, slots=True)
class Part:
    """An element, or a line of text in one; `start` and `end` are places in the words of its page."""

    tag: str
    classes: frozenset[str]
    parent: "Part | None"
    start: int
    end: int = 0
    text: str = ""
    """What a line says."""

    def path(self) -> Iterator["Part"]:
        """Yield this part, its parent, and so on."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.parent

    def is_in(self, *tags: str) -> bool:
        """Return whether it is an element with one of these tags, or is inside one."""
        return any(part.tag in tags for part in self.path())


@dataclass(eq=False, slots=True)
class Words:
    """The words of a tree, without those of templates, comments and scripts."""

    text: str = ""
    parts: list[Part] = field(default_factory=list)
    """The elements in document order."""
    lines: list[Part] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)
    """The places at which an element or a line begins, also after its number or label."""
    ends: set[int] = field(default_factory=set)

    _places: dict[str, list[int]] = field(default_factory=dict)

    def places(self, wanted: str) -> list[int]:
        """Return where a text is all that an element or line says, or several in a row."""
        if wanted not in self._places:
            self._places[wanted] = self._find(wanted)
        return self._places[wanted]

    def _find(self, wanted: str) -> list[int]:
        found, place = [], self.text.find(wanted) if wanted else -1
        while place >= 0:
            if place in self.starts and place + len(wanted) in self.ends:
                found.append(place)
            place = self.text.find(wanted, place + 1)
        return found

    def lines_between(self, start: int, end: int) -> Iterator[Part]:
        """Yield the lines with words between two places."""
        first = bisect_left(self.lines, start, key=lambda line: line.end)
        for index in range(first, len(self.lines)):
            line = self.lines[index]
            if line.start >= end:
                break
            if max(line.start, start) < min(line.end, end):
                yield line

    def said(self, start: int, end: int) -> str:
        """Return the lines between two places as they are on the page."""
        return " ".join(line.text for line in self.lines_between(start, end))


def read_words(tree: turbohtml.Node) -> Words:
    """Return the words of a document or fragment."""
    words, folded, size = Words(), [], 0
    line: list[str] = []
    owner = Part("#root", frozenset(), None, 0)
    line_start = 0

    def end_line() -> None:
        nonlocal line_start
        if size > line_start:
            text = " ".join("".join(line).split())
            words.lines.append(Part("#line", frozenset(), owner, line_start, size, text))
            for bare in (bare_question(text), bare_answer(text), _LABEL.sub("", text)):
                words.starts.add(size - len(fold(bare)))
        line.clear()
        line_start = size

    pending: list[turbohtml.Node | Part] = list(reversed(tree.children))
    while pending:
        node = pending.pop()
        if isinstance(node, Part):  # it ends here
            if node.tag in _BLOCKS:
                end_line()
            node.end = size
            words.starts.add(node.start)
            words.ends.add(size)
            owner = node.parent or owner
        elif isinstance(node, turbohtml.Text):
            line.append(node.data)
            folded.append(fold(node.data))
            size += len(folded[-1])
        elif isinstance(node, turbohtml.Element) and node.tag not in _SKIPPED:
            if node.tag in _BLOCKS:
                end_line()
            owner = Part(node.tag, frozenset((node.attr("class") or "").split()), owner, size)
            words.parts.append(owner)
            pending.append(owner)
            if node.tag != "head":
                pending.extend(reversed(node.flattened_children))
    end_line()
    words.text = "".join(folded)
    words.starts |= {line.start for line in words.lines}
    words.ends |= {line.end for line in words.lines}
    return words
