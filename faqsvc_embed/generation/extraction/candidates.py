"""What a shape finds: something that may be a question, and where its answer is."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.generation.extraction.questions import is_come_on
from faqsvc_embed.generation.extraction.text import bare_answer, question_text, text_of
from faqsvc_embed.generation.extraction.tree import Element

LONGEST_ANSWER: Final = MAX_ANSWER
"""Characters; what is longer could not be published."""


class Shape(IntEnum):
    """How a page says that a text is a question; the ones before are believed more."""

    STATED = 1
    """Structured data says so."""
    LINKED = 2
    """Markup connects it with its answer."""
    NAMED = 3
    """A class name says so, or `Q:` and `A:`."""
    HEADED = 4
    """It stands above its answer, as a heading or as the title of something that opens."""
    PLAIN = 5
    """It is emphasised, or of a look in which there are only questions."""


@dataclass(eq=False)
class Candidate:
    """A question, the nodes of its answer, and the shape that connects them."""

    mark: Element
    """The element whose text is the question."""
    answer_nodes: tuple[Element | str, ...]
    shape: Shape
    group: object = None
    """What is equal for candidates that look alike."""
    question: str = ""
    answer: str = ""

    def __post_init__(self) -> None:
        self.question = self.question or question_text(self.mark)
        self.answer = shortened(_without_invitation(self.answer or text_of(self.answer_nodes)))

    def answer_elements(self) -> list[Element]:
        """Return the nodes of the answer that are elements."""
        return [node for node in self.answer_nodes if isinstance(node, Element)]


def shortened(answer: str, *, goes_on: bool = False) -> str:
    """Return an answer that is not too long, and says so if there is more of it."""
    if len(answer) <= LONGEST_ANSWER and not goes_on:
        return answer
    return answer[: LONGEST_ANSWER - 2].rstrip() + " …"


def _without_invitation(answer: str) -> str:
    """Return an answer without `A:` before it, and without `Was this helpful?` and the like after it."""
    paragraphs = bare_answer(answer).split("\n\n")
    while len(paragraphs) > 1 and is_come_on(paragraphs[-1]):
        paragraphs.pop()
    if len(paragraphs) == 1 and "\n" not in paragraphs[0]:
        return paragraphs[0].removeprefix("- ")  # a list of one is none
    return "\n\n".join(paragraphs)


class Places:
    """Elements by where they are, so that what is inside what is a look-up."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._starts = sorted(element.start for element in elements)

    def inside(self, element: Element) -> int:
        """Return how many of them are in an element, itself included."""
        return bisect_right(self._starts, element.end) - bisect_left(self._starts, element.start)


class Claims:
    """Parts of a page that are spoken for: whole questions and whole answers."""

    def __init__(self, size: int) -> None:
        self._claimed = bytearray(size)
        self._around = set[int]()

    def claim(self, element: Element) -> None:
        """Speak for an element and all in it."""
        self._claimed[element.start : element.end + 1] = b"\1" * (element.end + 1 - element.start)
        for above in element.ancestors():
            if above.start in self._around:
                break
            self._around.add(above.start)

    def has(self, element: Element) -> bool:
        """Tell whether an element is in what is spoken for."""
        return self._claimed[element.start] == 1

    def has_part_of(self, element: Element) -> bool:
        """Tell whether an element is in what is spoken for, or around some of it."""
        return self.has(element) or element.start in self._around
