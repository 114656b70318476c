"""Questions that are recognised by a class name, by a label, or as the title of an element that opens."""

from collections.abc import Iterator
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Claims, Positions
from faqsvc_embed.generation.extraction.dom import Element
from faqsvc_embed.generation.extraction.headings import similar_elements
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.text import is_labelled_question, question_text
from faqsvc_embed.generation.extraction.words import NAMES

MAX_MARKER: Final = 7
"""Characters of a number or symbol beside a question; a longer text is a question of its own."""


def named_questions(free: list[Element]) -> Iterator[Element]:
    """Yield the elements that a class name calls a question, and those that start with `Q:`."""
    has_short_names = any("a" in element.words for element in free)
    names = NAMES["question"] | {"q"} if has_short_names else NAMES["question"]
    yield from _innermost([element for element in free if element.words & names])
    yield from (each for each in free if not each.contains_blocks and is_labelled_question(each))


def control_titles(context: PageContext, free: list[Element], claims: Claims) -> Iterator[Element]:
    """Yield the titles of accordions by class name, and the controls and loose terms that are questions."""
    answers = Positions(element for element in free if element.words & NAMES["answer"])
    found: list[Element] = []
    for element in free:
        if element.words & NAMES["accordion"] and element.words & NAMES["accordion_title"]:
            is_beside_claimed = element.parent is not None and claims.overlap(element.parent)
            if not answers.count_inside(element) and not is_beside_claimed:
                found.append(element)
        elif _is_control(element) and is_question(question_text(element)):
            found.append(element)
    found += _controls_among_questions(context, free)
    yield from _innermost(sorted(found, key=lambda element: element.start))


def _is_control(element: Element) -> bool:
    """Return whether an element opens another. A list has claimed its terms, so a term is outside of one."""
    is_button = element.role == "button" or element.tag in ("button", "label")
    return is_button or element.tag == "dt" or "aria-expanded" in element.attrs


def _controls_among_questions(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield controls that are no questions by their text, if most controls that look the same are."""
    controls = [element for element in free if "aria-expanded" in element.attrs or element.tag == "label"]
    for group in similar_elements(controls):
        others = [element for element in group if not is_question(question_text(element))]
        are_few = 2 * len(others) < len(group)
        if len(others) < len(group):
            yield from (element for element in others if are_few or context.is_in_faq(element))


def _innermost(elements: list[Element]) -> Iterator[Element]:
    """Yield the elements that contain no other one, other than a number or a symbol."""
    texts = {element.start: question_text(element) for element in elements}
    longer = Positions(element for element in elements if len(texts[element.start]) > MAX_MARKER)
    yield from (each for each in elements if texts[each.start] and longer.count_inside(each) <= 1)
