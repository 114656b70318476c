"""Chooses the candidates that are questions: by their text, by their neighbours, or because of an FAQ."""

from collections import Counter
from typing import Final

from faqsvc_embed.generation.extraction.boilerplate import is_link
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Evidence, Positions
from faqsvc_embed.generation.extraction.dom import HEADINGS, Element
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    MAX_LENGTH,
    announces_faq,
    has_words,
    is_call_to_action,
    is_question,
    is_section_title,
    is_template_code,
    question_key,
)
from faqsvc_embed.generation.extraction.text import inline_text, is_labelled_question

QUESTION_TAGS: Final = (*HEADINGS, "dt", "summary")
MIN_ANSWER: Final = 40
"""Characters of a text before further questions that is more than the introduction of a section."""
MANY: Final = 3
"""Questions that are many: beside them, a single element that opens is a menu or a switch."""


def accepted(candidates: list[Candidate], context: PageContext, claims: Claims) -> list[Candidate]:
    """Return the candidates that are questions, by their text or by their neighbours, and claim them."""
    sizes = Counter(candidate.group for candidate in candidates)
    usable = [c for c in candidates if _is_usable(c, context, is_one_of_many=sizes[c.group] >= MANY)]
    asked = [candidate for candidate in usable if is_question(candidate.question)]
    group_sizes = Counter(candidate.group for candidate in usable)
    group_questions = Counter(candidate.group for candidate in asked)
    elements = Positions(candidate.element for candidate in usable)
    questions = Positions(candidate.element for candidate in asked)
    kinds = Counter(candidate.kind for candidate in usable)
    asked_kinds = {candidate.kind for candidate in asked}
    chosen: list[Candidate] = []
    for candidate in sorted(usable, key=lambda candidate: candidate.evidence):
        group = candidate.group
        is_like_questions = 2 * group_questions[group] >= group_sizes[group]
        # Beside several questions, a single element that opens is a menu or a switch.
        is_odd = len(asked) >= MANY and kinds[candidate.kind] < MANY and candidate.kind not in asked_kinds
        # A term, or an element that opens, is part of an answer below a question, or the label of a value.
        is_part = (
            candidate.evidence is Evidence.MARKUP
            and not group_questions[group]
            and (context.is_below_question(candidate.element) or _is_value(candidate.answer))
        )
        if (
            not claims.overlap(candidate.element)
            and not _is_group(candidate, elements, questions)
            and not is_odd
            and not is_part
            and (is_like_questions or _is_question(candidate, context))
        ):
            chosen.append(candidate)
            for element in (candidate.element, *candidate.answer_elements()):
                claims.claim(element)
    return chosen


def _is_usable(candidate: Candidate, context: PageContext, *, is_one_of_many: bool) -> bool:
    """Return whether a candidate has a question and an answer that could be published."""
    question, answer = candidate.question, candidate.answer
    if not has_words(question) or not has_words(answer) or len(question) > MAX_LENGTH:
        return False
    is_code = any(element.tag == "code" for element in candidate.element.walk())
    if is_template_code("" if is_code else question, answer):
        return False
    if question_key(question) == question_key(answer[:MAX_LENGTH]):
        return False
    if context.is_always_hidden(candidate.element):
        return False
    if candidate.evidence is Evidence.STRUCTURED_DATA:
        return True
    if not is_question(question):
        is_title = candidate.evidence >= Evidence.HEADING and is_section_title(question)
        if is_title or announces_faq(question):
            return False
    # A text that addresses the reader is a question if it is one of several items of an accordion.
    is_item = is_one_of_many and candidate.evidence is Evidence.MARKUP and is_question(question)
    return (is_item or not is_call_to_action(question)) and not _is_menu(candidate)


def _is_value(answer: str) -> bool:
    """Return whether an answer is a number or a single word, as in `Phone` and `Size` beside their values."""
    return answer.isascii() and (" " not in answer or not any(map(str.isalpha, answer)))


def _is_menu(candidate: Candidate) -> bool:
    """Return whether an answer is a list of check boxes or, unless it follows a question, of links."""
    elements = [element for node in candidate.answer_elements() for element in node.walk()]
    if sum(element.tag == "label" for element in elements) > 1:
        return True
    is_asked = is_question(candidate.question) or is_labelled_question(candidate.element)
    if is_asked and not is_link(candidate.element):
        return False
    links = [len(inline_text(element.children)) for element in elements if element.tag == "a"]
    length = len(inline_text(candidate.answer_nodes))
    return sum(links) > 0.8 * length if len(links) > 1 else sum(links) >= length


def _is_question(candidate: Candidate, context: PageContext) -> bool:
    """Return whether text, names, labels or an FAQ around it make a candidate a question."""
    element, evidence = candidate.element, candidate.evidence
    if evidence is Evidence.STRUCTURED_DATA or is_question(candidate.question):
        return True
    return context.is_in_faq(element)


def _is_group(candidate: Candidate, elements: Positions, questions: Positions) -> bool:
    """Return whether a candidate is the title of a group of questions, and its answer that group."""
    answer = candidate.answer_elements()
    if any(questions.count_inside(element) for element in answer):
        return not is_question(candidate.question) or not _has_own_text(answer, questions)
    if is_question(candidate.question):
        return False
    if any(elements.count_inside(element) for element in answer):
        return True
    inside = (inner for element in answer for inner in element.walk())
    emphasised = (inner for inner in inside if inner.tag in (*HEADINGS, "strong", "b"))
    return sum(is_question(inline_text(inner.children)) for inner in emphasised) > 1


def _has_own_text(answer: list[Element], questions: Positions) -> bool:
    """Return whether an answer has text before the first question inside it."""
    for element in (inner for node in answer for inner in node.walk()):
        if not questions.count_inside(element):
            if len(inline_text(element.children)) >= MIN_ANSWER:
                return True
        elif element.tag in QUESTION_TAGS:
            return False
    return False
