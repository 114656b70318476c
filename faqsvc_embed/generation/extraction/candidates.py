"""Possible questions with their answers, and the choice among them.

A candidate is accepted because of its text, its neighbours, or an FAQ around it. It then claims its elements:
no later one may use them.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.generation.extraction.dom import Element, Node, by_looks
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    MAX_LENGTH,
    announces_faq,
    bare_answer,
    ends_page,
    has_words,
    is_call_to_action,
    is_question,
    is_section_title,
    is_template_code,
    question_key,
)
from faqsvc_embed.generation.extraction.text import (
    inline_text,
    is_labelled_question,
    markdown_of,
    question_text,
    text_of,
)

MANY: Final = 3
"""The number from which questions are many: beside them, one other element that opens is a menu."""
SHORT: Final = 6
"""Characters of an answer such as `Yes.`, which several questions may have."""
_ASIDE = re.compile(r"[?？؟]|^\[.*\]$")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^\s()]*\)")


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
    group: tuple[object, ...]
    """Equal for candidates that look alike; its first value is the kind of markup, such as `details`."""
    texts: tuple[str, str] | None = None
    """The question and the answer, if they are parts of the text of one element."""
    section: str | None = None
    has_refrain: bool = False
    """Whether the last paragraph is left out, because all answers of the page end with it."""

    def __post_init__(self) -> None:
        question, answer = self.texts or (question_text(self.element), text_of(self.answer_nodes))
        self.question: str = question
        self.answer: str = shortened(cleaned(answer))

    @property
    def kind(self) -> object:
        """Equal for candidates with the same kind of markup and the same tag."""
        return self.group[0], self.element.tag

    def markdown(self, url: str) -> str:
        """Return the answer as Markdown; `url` is the address that its links are relative to."""
        answer = escape(self.texts[1]) if self.texts else markdown_of(self.answer_nodes, url)
        text = shortened(cleaned(answer))
        return text.rpartition("\n\n")[0] if self.has_refrain else text

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
    while len(paragraphs) > 1:
        last = _LINK.sub(r"\1", paragraphs[-1])
        if not (is_call_to_action(last) or ends_page(last)):
            break
        paragraphs.pop()
    while len(paragraphs) > 1 and not has_words(paragraphs[0]):  # an arrow
        del paragraphs[0]
    if len(paragraphs) == 1 and "\n" not in paragraphs[0]:
        return bare_answer(paragraphs[0].removeprefix("- "))  # a list of one item
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

    def claim(self, element: Element) -> None:
        """Claim an element and everything inside it."""
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


def accepted(candidates: list[Candidate], context: PageContext, claims: Claims) -> list[Candidate]:
    """Return the candidates that are questions, by their text or by their neighbours, and claim them."""
    usable = [candidate for candidate in candidates if _is_usable(candidate)]
    asked = {candidate for candidate in usable if is_question(candidate.question)}
    group_sizes = Counter(candidate.group for candidate in usable)
    group_questions = Counter(candidate.group for candidate in asked)
    positions = Positions(candidate.element for candidate in usable)
    kinds = Counter(candidate.kind for candidate in usable)
    asked_kinds = {candidate.kind for candidate in asked}
    titles = map(question_text, context.headings)
    shown_questions = max(len(asked), sum(map(is_question, titles)))
    chosen: list[Candidate] = []
    for candidate in usable:
        questions, size = group_questions[candidate.group], group_sizes[candidate.group]
        # One question among other titles is the title of a piece of news.
        is_news = size >= MANY and size > 3 * questions
        is_likely = 2 * questions >= size or (candidate in asked and not is_news)
        # The title of a group of questions has that group as its answer.
        answer = candidate.answer_elements()
        asks_first = candidate.element.role == "tab" and is_question(candidate.answer.partition("\n")[0])
        is_group = candidate not in asked and (asks_first or any(map(positions.count_inside, answer)))
        # If no element of a kind asks, and they are fewer than the questions, they are a menu or a switch.
        is_rare = kinds[candidate.kind] < shown_questions >= MANY and candidate.kind not in asked_kinds
        if (
            (is_likely or context.is_in_faq(candidate.element))
            and not (is_group or is_rare)
            and not claims.overlap(candidate.element)
        ):
            chosen.append(candidate)
            for element in (candidate.element, *answer):
                claims.claim(element)
    return chosen


def with_answers(found: list[Candidate], context: PageContext, claims: Claims) -> list[Candidate]:
    """Return the questions whose answers are on the page, without those of an index or of empty panels.

    What follows the last link of an index, or the last panel that a script fills, only seems to be an answer.
    """
    by_element = {candidate.element: candidate for candidate in found}
    keys = {question_key(candidate.question) for candidate in found}
    free = [element for element in context.elements if not claims.include(element)]
    others = by_looks(free)
    kept: list[Candidate] = []
    filled_in = set[str]()
    for looks, alike in by_looks(by_element).items():
        candidates = [by_element[element] for element in alike]
        answers = {candidate.answer for candidate in candidates}
        is_filled_in = len(candidates) >= MANY and (
            (len(answers) == 1 and len(candidates[0].answer) > SHORT)
            or not any(any(map(str.isalpha, answer)) for answer in answers)
        )
        # If none of the accepted questions asks, each title like them counts as a question.
        are_titles = not any(is_question(candidate.question) for candidate in candidates)
        texts = map(question_text, others.get(looks, []))
        unanswered = {question_key(text) for text in texts if are_titles or is_question(text)} - keys
        if is_filled_in:
            filled_in |= answers
        elif len(unanswered) < max(2, 2 * len(candidates)):
            kept += candidates
    # A panel that is open may look different from the others, but has the same answer.
    kept = [candidate for candidate in kept if candidate.answer not in filled_in]
    _leave_out_refrain(kept)
    return kept


def _leave_out_refrain(found: list[Candidate]) -> None:
    """Leave out a last paragraph that all answers have, and that asks or is in brackets, as links are."""
    answers = [candidate.answer.rpartition("\n\n") for candidate in found]
    ends = {end for _, _, end in answers}
    is_aside = len(ends) == 1 and all(map(_ASIDE.search, ends))
    if len(found) >= MANY and is_aside and all(text for text, _, _ in answers):
        for candidate, (text, _, _) in zip(found, answers, strict=True):
            candidate.answer, candidate.has_refrain = text, True


def _is_usable(candidate: Candidate) -> bool:
    """Return whether a candidate has a question and an answer that could be published."""
    question, answer = candidate.question, candidate.answer
    if not any(map(str.isalpha, question)) or not has_words(answer) or len(question) > MAX_LENGTH:
        return False
    is_code = any(element.tag == "code" for element in candidate.element.walk())
    if is_template_code(question) and not is_code:
        return False
    if not is_question(question) and (is_section_title(question) or announces_faq(question)):
        return False
    return not _is_menu(candidate)


def _is_menu(candidate: Candidate) -> bool:
    """Return whether an answer is a list of check boxes or, unless it follows a question, of links."""
    inside = (element for node in candidate.answer_elements() for element in node.walk())
    elements = [element for element in inside if not element.is_boilerplate]
    if sum(element.tag == "label" for element in elements) > 1:
        return True
    targets = [inline_text(element.children) for element in elements if element.tag == "a"]
    if len(targets) > 1 and 2 * sum(map(is_question, targets)) > len(targets):
        return True
    if is_question(candidate.question) or is_labelled_question(candidate.element):
        return False
    links = sum(map(len, targets))
    length = len(inline_text(candidate.answer_nodes))
    return links > 0.8 * length if len(targets) > 1 else links >= length
