"""Headings that are questions by their text and, in an FAQ, headings that state a problem."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from faqsvc_embed.generation.extraction.boilerplate import is_promotional
from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.dom import HEADINGS, Element
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    is_call_to_action,
    is_question,
    is_section_title,
    starts_like_question,
)
from faqsvc_embed.generation.extraction.text import question_text

MIN_SHARE_OF_QUESTIONS: Final = 0.1
"""The share of similar headings that must be questions for the others to count as questions."""
MANY: Final = 2
"""Questions of other kinds, such as accordions, from which on headings are titles."""
MIN_STATEMENTS: Final = 3
"""Headings of an FAQ that count as questions although none of them is one by its text."""


@dataclass(eq=False, frozen=True, slots=True)
class Heading:
    """A heading of the page."""

    element: Element
    text: str
    level: int
    is_question: bool
    """Whether the text of the heading is a question, and no call to action."""


def heading_questions(
    context: PageContext, free: list[Element], claims: Claims, taken: Claims
) -> Iterator[Element]:
    """Yield the headings that are questions; `taken` are questions of other kinds."""
    headings = _headings(free)
    has_titles = sum(heading.level == 1 for heading in headings) > 1
    candidates = [heading for heading in headings if heading.level > 1 or has_titles]
    candidates = [heading for heading in candidates if not is_promotional(heading.element)]
    # A claim is for a question or for its answer.
    has_others = claims.count // 2 + taken.count >= MANY
    question_count = sum(heading.is_question for heading in candidates)
    is_unannounced = _is_unannounced_faq(candidates)
    found: list[Element] = []
    for group in _similar_headings(candidates):
        questions = [heading for heading in group if heading.is_question]
        in_faq = [heading for heading in group if context.is_in_faq(heading.element)]
        if in_faq:
            found += [heading.element for heading in in_faq if is_question(heading.text)]
            if questions or question_count <= MIN_SHARE_OF_QUESTIONS * len(group):
                statements = _statements(in_faq, questions, context)
                if _count_as_questions(statements, group, questions, context, has_others=has_others):
                    found += [heading.element for heading in statements]
        elif is_unannounced and not context.is_article:
            found += [heading.element for heading in questions]
    yield from sorted(found, key=lambda element: element.start)


def _headings(free: list[Element]) -> list[Heading]:
    """Return the headings among free elements, in document order."""
    found: list[Heading] = []
    for element in free:
        if (level := HEADINGS.get(element.tag)) is not None:
            text = question_text(element)
            is_asked = is_question(text) and not is_call_to_action(text)
            found.append(Heading(element, text, level, is_asked))
    return found


def _statements(group: list[Heading], questions: list[Heading], context: PageContext) -> list[Heading]:
    """Return the headings of an FAQ that state a problem or name a topic, and are in no answer."""
    statements = [
        heading
        for heading in group
        if not is_question(heading.text) and not context.is_below_question(heading.element)
    ]
    if not questions:
        return statements
    first, last = questions[0].element.start, questions[-1].element.start
    return [each for each in statements if not each.text.endswith("!") or first < each.element.start < last]


def _count_as_questions(
    statements: list[Heading],
    group: list[Heading],
    questions: list[Heading],
    context: PageContext,
    *,
    has_others: bool,
) -> bool:
    """Return whether statements count as questions.

    They do if enough headings that look like them are questions, or if statements and questions together are
    most headings below the title of an FAQ.
    """
    if has_others:
        return 2 * len(questions) >= len(group)
    if questions and len(questions) >= MIN_SHARE_OF_QUESTIONS * len(group):
        return True
    are_most = len(statements) + len(questions) >= max(MIN_STATEMENTS, 0.6 * len(group))
    return context.has_faq_title and are_most


def _is_unannounced_faq(headings: list[Heading]) -> bool:
    """Return whether most headings of a page are questions, so that it is an FAQ without saying so."""
    questions = [heading for heading in headings if heading.is_question]
    if len(questions) == 1 and not starts_like_question(questions[0].text):  # `Hungry yet?` is advertising
        return False
    others = sum(not (heading.is_question or is_section_title(heading.text)) for heading in headings)
    return len(questions) >= 0.6 * (len(questions) + others) > 0


def _similar_headings(headings: list[Heading]) -> list[list[Heading]]:
    by_element = {heading.element: heading for heading in headings}
    groups = similar_elements([heading.element for heading in headings])
    return [[by_element[element] for element in group] for group in groups]


def similar_elements(elements: list[Element]) -> list[list[Element]]:
    """Return groups of elements that look the same."""
    groups = defaultdict[object, list[Element]](list)
    for element in elements:
        groups[_appearance(element)].append(element)
    return list(groups.values())


def _appearance(element: Element) -> object:
    """Return a value that is equal for elements with the same tags and classes, up to two levels above."""
    elements = (element, *islice(element.ancestors(), 2))
    return tuple((each.tag, each.attrs.get("class", "")) for each in elements)
