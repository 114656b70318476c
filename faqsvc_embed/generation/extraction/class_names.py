"""Questions that are recognised by a class name, by a label, or as the title of an element that opens."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from faqsvc_embed.generation.extraction.answers import ANSWER_WORDS
from faqsvc_embed.generation.extraction.candidates import Claims, Positions
from faqsvc_embed.generation.extraction.dom import HEADINGS, TEXT_BLOCK, Element
from faqsvc_embed.generation.extraction.headings import similar_elements
from faqsvc_embed.generation.extraction.page_context import FAQ_WORDS, PageContext
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.text import is_labelled_question, question_text
from faqsvc_embed.generation.extraction.words import word_set

QUESTION_WORDS: Final = word_set("question frage pregunta domanda ques")
ACCORDION_WORDS: Final = word_set(
    "faq faqs accordion toggle toggles collapse collapsible qa expand expander expandable disclosure spoiler"
)
TITLE_WORDS: Final = word_set(
    "title header heading head trigger button btn label summary name handle toggler"
)
CONTAINERS: Final = word_set("ul ol section main article body form table")
PARAGRAPHS: Final = frozenset(["p", "div", "li", "dt", TEXT_BLOCK, *HEADINGS])
MAX_MARKER: Final = 7
"""Characters of a number or symbol beside a question; a longer text is a question of its own."""


def is_called_question(element: Element) -> bool:
    """Return whether a class name calls an element a question: `question`, or `q` of an FAQ."""
    return bool(element.words & QUESTION_WORDS) or ("q" in element.words and bool(element.words & FAQ_WORDS))


def named_questions(free: list[Element]) -> Iterator[Element]:
    """Yield the elements that a class name calls a question, and those that start with `Q:`."""
    has_short_names = any("a" in element.words for element in free) and any("q" in e.words for e in free)
    answer_words = ANSWER_WORDS | {"a"} if has_short_names else ANSWER_WORDS
    answers = Positions(element for element in free if element.words & answer_words)
    called = [
        element
        for element in free
        if (is_called_question(element) or (has_short_names and "q" in element.words))
        and element.tag not in CONTAINERS
    ]
    yield from _innermost([element for element in called if not answers.count_inside(element)])
    for element in free:
        if element.tag in PARAGRAPHS and not element.contains_blocks and is_labelled_question(element):
            yield element


def control_titles(context: PageContext, free: list[Element], claims: Claims) -> Iterator[Element]:
    """Yield the titles of accordions by class name, and the controls and loose terms that are questions."""
    answers = Positions(element for element in free if element.words & ANSWER_WORDS)
    named: list[Element] = []
    found: list[Element] = []
    for element in free:
        if element.tag in CONTAINERS:
            continue
        if element.words & ACCORDION_WORDS and element.words & TITLE_WORDS:
            if not answers.count_inside(element) and not _is_title_of_claimed(element, claims):
                named.append(element)
        elif _is_control(element) and is_question(question_text(element)):
            found.append(element)
    looks = Counter((element.tag, element.attrs.get("class", "")) for element in named)
    for element in named:
        # A title that looks like no other is that of the page or of a section.
        is_alone = looks[element.tag, element.attrs.get("class", "")] == 1
        if not is_alone or is_question(question_text(element)):
            found.append(element)
    found += _controls_among_questions(context, free)
    yield from _innermost(sorted(found, key=lambda element: element.start))


def _is_title_of_claimed(element: Element, claims: Claims) -> bool:
    """Return whether an element is no question itself, but stands beside claimed questions."""
    parent = element.parent
    return parent is not None and claims.overlap(parent) and not is_question(question_text(element))


def _is_control(element: Element) -> bool:
    if element.tag == "dt":  # not in a list, which would have claimed it
        return True
    if element.tag in ("button", "label") or element.role == "button" or "aria-expanded" in element.attrs:
        return not any(ancestor.tag == "form" for ancestor in element.ancestors())
    return False


def _controls_among_questions(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield controls that are no questions by their text, if most controls that look the same are."""
    controls = [element for element in free if "aria-expanded" in element.attrs or element.tag == "label"]
    for group in similar_elements([element for element in controls if _is_control(element)]):
        others = [element for element in group if not is_question(question_text(element))]
        if 2 * len(others) < len(group):
            yield from others
        elif len(others) < len(group):
            yield from (element for element in others if context.is_in_faq(element))


def _innermost(elements: list[Element]) -> Iterator[Element]:
    """Yield the elements that contain no other one, other than a number or a symbol."""
    texts = {element.start: question_text(element) for element in elements}
    longer = Positions(element for element in elements if len(texts[element.start]) > MAX_MARKER)
    innermost = {element.start for element in elements if longer.count_inside(element) <= 1}
    for element in elements:
        text = texts[element.start]
        if element.start in innermost and text:
            around = (e.start for e in element.ancestors() if e.start in innermost)
            if not any(len(texts[start]) > len(text) for start in around):
                yield element
