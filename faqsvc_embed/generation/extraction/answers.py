"""The answer to a question: the nodes after it, up to the next question or another end."""

from dataclasses import dataclass

from faqsvc_embed.generation.extraction.candidates import Claims, Positions
from faqsvc_embed.generation.extraction.dom import HEADINGS, TEXT_BLOCK, Element, Node
from faqsvc_embed.generation.extraction.questions import ends_page, has_words, is_call_to_action
from faqsvc_embed.generation.extraction.text import text_of
from faqsvc_embed.generation.extraction.words import NAMES


@dataclass(frozen=True)
class AnswerFinder:
    """Finds answers on a page where the elements of all questions are known."""

    questions: Positions
    claims: Claims

    def after(self, question: Element) -> tuple[Node, ...]:
        """Return the nodes after a question, from the nearest level of the tree that has some.

        If a question is the start of a paragraph, its answer may continue in the paragraphs after that one.
        """
        level = HEADINGS.get(question.tag, 7)
        nodes: list[Node] = []
        found = False
        for element in (question, *question.ancestors()):
            if element is not question and (
                _is_boundary(element) or (found and element.tag not in (TEXT_BLOCK, "p"))
            ):
                break
            siblings, is_complete = self.siblings_after(element, level)
            nodes += siblings
            # A symbol beside a question, such as an arrow that opens it, is no answer.
            found = has_words(text_of(nodes))
            if is_complete:
                break
        return tuple(nodes) if found else ()

    def siblings_after(self, element: Element, level: int = 7) -> tuple[list[Node], bool]:
        """Return the siblings after an element that are in the answer, and whether the answer ends there."""
        nodes: list[Node] = []
        for node in element.following_siblings():
            if isinstance(node, Element):
                is_answered = any(text_of([each]) for each in nodes)
                if self._is_end(node, level, is_answered=is_answered):
                    return nodes, True
            nodes.append(node)
        return nodes, False

    def _is_end(self, element: Element, level: int, *, is_answered: bool) -> bool:
        """Return whether an answer ends before an element, such as a question, a heading or a rule."""
        if self.questions.count_inside(element) or self.claims.overlap(element):
            return True
        if any(HEADINGS.get(inner.tag, 8) <= level for inner in element.walk()):
            return is_answered or not element.words & NAMES["answer"]
        return is_answered and (element.tag == "hr" or _is_quotation(element) or _is_page_end(element))


def _is_page_end(element: Element) -> bool:
    """Return whether an element calls to an action or is a line below the last answer."""
    first = text_of([element]).split("\n", 1)[0]
    return is_call_to_action(first) or ends_page(first)


def _is_boundary(element: Element) -> bool:
    """Return whether an answer inside an element ends with it."""
    if element.tag == "td" and element.parent is not None and len(element.parent.children) == 1:
        return False  # the only cell of a row is layout
    return element.tag in NAMES["boundary"]


def _is_quotation(element: Element) -> bool:
    """Return whether an element is a quotation with its source, such as the praise of a customer."""
    tags = {inner.tag for inner in element.walk()}
    return "blockquote" in tags and not tags.isdisjoint(("cite", "figcaption"))
