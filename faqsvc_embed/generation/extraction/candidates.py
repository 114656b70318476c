"""Possible questions with their answers, and the elements that accepted ones have claimed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.generation.extraction.dom import Element, Node
from faqsvc_embed.generation.extraction.labels import bare_answer
from faqsvc_embed.generation.extraction.markdown import markdown_of
from faqsvc_embed.generation.extraction.questions import ends_page, has_words, is_call_to_action
from faqsvc_embed.generation.extraction.text import question_text, text_of


class Evidence(Enum):
    """Why a text counts as a question; the value says how reliable the reason is, from 0 to 1."""

    MARKUP = 0.95
    """The markup connects it with its answer."""
    NAME = 0.9
    """A class name, a column title or a label such as `Q:` calls it a question."""
    HEADING = 0.85
    """It is a heading, or the title of something that opens."""
    APPEARANCE = 0.75
    """It is emphasised, or looks like other questions."""


@dataclass(eq=False)
class Candidate:
    """A possible question, and the nodes of its answer."""

    element: Element
    """The element whose text is the question."""
    answer_nodes: tuple[Node, ...]
    evidence: Evidence
    group: object = None
    """Equal for candidates that look alike."""
    question: str = ""
    answer: str = ""
    section: str | None = None

    def __post_init__(self) -> None:
        self.question = self.question or question_text(self.element)
        self._stated_answer = self.answer
        self.answer = shortened(cleaned(self.answer or text_of(self.answer_nodes)))

    @property
    def kind(self) -> object:
        """The kind of markup, such as `details`; equal for all candidates of the kind."""
        return self.group[0] if isinstance(self.group, tuple) else None

    def markdown(self, url: str) -> str:
        """Return the answer as Markdown; `url` is the address that its links are relative to."""
        return shortened(cleaned(escape(self._stated_answer) or markdown_of(self.answer_nodes, url)))

    def answer_elements(self) -> list[Element]:
        """Return the nodes of the answer that are elements."""
        return [node for node in self.answer_nodes if isinstance(node, Element)]


def shortened(answer: str, *, is_cut: bool = False) -> str:
    """Return an answer of publishable length, with an ellipsis if something is missing."""
    if len(answer) <= MAX_ANSWER and not is_cut:
        return answer
    return answer[: MAX_ANSWER - 2].rstrip() + " …"


def cleaned(answer: str) -> str:
    """Return an answer without its label, and without `Was this helpful?` and the like at its end."""
    paragraphs = bare_answer(answer).split("\n\n")
    while len(paragraphs) > 1 and (is_call_to_action(paragraphs[-1]) or ends_page(paragraphs[-1])):
        paragraphs.pop()
    while len(paragraphs) > 1 and not has_words(paragraphs[0]):  # an arrow
        del paragraphs[0]
    if len(paragraphs) == 1 and "\n" not in paragraphs[0]:
        return paragraphs[0].removeprefix("- ")  # a list of one item
    return "\n\n".join(paragraphs)


class Positions:
    """The positions of some elements, to count those inside another element."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._starts = sorted(element.start for element in elements)

    def count_inside(self, element: Element) -> int:
        """Return how many of the elements are `element` itself or inside it."""
        return bisect_right(self._starts, element.end) - bisect_left(self._starts, element.start)


class Claims:
    """Elements that already belong to a question or an answer."""

    def __init__(self, size: int) -> None:
        self._claimed = bytearray(size)
        self._around = set[int]()
        self.count: int = 0
        """The number of calls of `claim`."""

    def claim(self, element: Element) -> None:
        """Claim an element and everything inside it."""
        self.count += 1
        self._claimed[element.start : element.end + 1] = b"\1" * (element.end + 1 - element.start)
        for ancestor in element.ancestors():
            if ancestor.start in self._around:
                break
            self._around.add(ancestor.start)

    def include(self, element: Element) -> bool:
        """Return whether an element is claimed."""
        return self._claimed[element.start] == 1

    def overlap(self, element: Element) -> bool:
        """Return whether an element is claimed, or contains a claimed one."""
        return self.include(element) or element.start in self._around
