"""Questions in running text: emphasised, on a line of their own, or similar to other questions or rows."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from faqsvc_embed.generation.extraction.boilerplate import is_promotional
from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.dom import BLOCKS, HEADINGS, Element
from faqsvc_embed.generation.extraction.headings import similar_elements
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    has_question_mark,
    is_call_to_action,
    is_question_line,
)
from faqsvc_embed.generation.extraction.text import inline_text, question_text, text_of

ITEMS: Final = frozenset({"div", "li", "article", "section"})
EMPHASIS: Final = frozenset({"strong", "b", "em", "u"})
MAX_PARAGRAPH: Final = 200
"""Characters of a paragraph that is a question."""


def emphasised_questions(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield emphasised questions at the start of a line, in an FAQ or if most such lines are questions.

    In an FAQ, other emphasised lines count too if at least half of those that look the same are questions.
    """
    lines = [element for element in free if element.tag in EMPHASIS and _starts_line(element)]
    texts = {element: question_text(element) for element in lines}
    marked = sum(is_asked(text) and has_question_mark(text) for text in texts.values())
    are_most = marked > 1 and 2 * marked >= len(lines)
    for group in similar_elements(lines):
        questions = [element for element in group if is_question_line(texts[element])]
        for element in questions:
            if context.is_in_faq(element) or (are_most and has_question_mark(texts[element])):
                yield element
        statements = [each for each in group if each not in questions and _is_line(each, texts[each])]
        if len(questions) > 1 and len(questions) >= 0.5 * len(group):
            yield from (element for element in statements if context.is_in_faq(element))


def _is_line(element: Element, text: str) -> bool:
    """Return whether an emphasised text is a line of its own, and no remark such as `Note:`."""
    following = next((n for n in element.following_siblings() if isinstance(n, Element) or n.strip()), None)
    is_alone = following is None or (isinstance(following, Element) and following.tag == "br")
    return is_alone and len(text) <= MAX_PARAGRAPH and not text.endswith(":")


def _starts_line(element: Element) -> bool:
    """Return whether nothing but a number stands before an element on its line."""
    for node in element.preceding_siblings():
        if isinstance(node, Element):
            return node.tag == "br"
        if node.strip(" \t\r\n0123456789.)"):
            return False
    return True


def similar_questions(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield similar text blocks if nearly all are questions, and single questions in an FAQ."""
    unclaimed = {element.start for element in free}
    blocks = [block for block in context.text_blocks if block.start in unclaimed and not is_cell(block)]
    texts = {block.start: question_text(block) for block in blocks}
    for group in similar_elements(blocks):
        questions = [block for block in group if is_asked(texts[block.start])]
        has_mark = any(has_question_mark(texts[block.start]) for block in questions)
        if not has_mark or _is_checklist(questions, blocks):
            continue
        if len(questions) > 1 and len(questions) / len(group) >= 0.8 and not is_promotional(questions[0]):
            yield from questions
    for block, following in pairwise(blocks):
        text = texts[block.start]
        is_short_question = block.tag != "li" and len(text) <= MAX_PARAGRAPH and is_question_line(text)
        is_alone = is_short_question and not is_question_line(texts[following.start])
        if is_alone and context.is_in_faq(block) and not is_promotional(block):
            yield block


def _is_checklist(questions: list[Element], blocks: list[Element]) -> bool:
    """Return whether most questions are followed by another question, and not by an answer."""
    starts = {block.start for block in questions}
    unanswered = sum(
        block.start in starts and following.start in starts for block, following in pairwise(blocks)
    )
    return 2 * unanswered > len(questions)


def first_lines(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield the paragraphs of an FAQ whose first line is a question and whose other lines answer it."""
    unclaimed = {element.start for element in free}
    for block in context.text_blocks:
        if block.start in unclaimed and any(element.tag == "br" for element in block.walk()):
            question, *answer = text_of([block]).split("\n")
            is_short_question = len(question) <= MAX_PARAGRAPH and has_question_mark(question)
            is_answered = bool(answer) and not any(map(has_question_mark, answer))
            if is_short_question and is_answered and context.is_in_faq(block):
                yield block


def is_asked(text: str) -> bool:
    """Return whether a line is a question, and no call to action."""
    return is_question_line(text) and not is_call_to_action(text)


def is_cell(block: Element) -> bool:
    """Return whether a block is one of several cells of a row, or part of a definition list."""
    if block.tag in ("td", "th"):
        return block.parent is not None and len(block.parent.children) > 1
    return block.tag in ("dt", "dd")


def first_blocks(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield the first text blocks of three or more similar items, if most of these blocks are questions."""
    blocks = [block for block in context.text_blocks if not is_cell(block)]
    starts = [block.start for block in blocks]
    rows = defaultdict[object, list[Element]](list)
    for element in free:
        first = bisect_left(starts, element.start)
        has_several = first + 1 < len(starts) and starts[first + 1] <= element.end
        if has_several and element.parent is not None and element.tag in ITEMS:
            rows[element.parent.start, element.look].append(blocks[first])
    for row in rows.values():
        questions = sum(is_asked(question_text(block)) for block in row)
        if len(row) > 2 and questions / len(row) >= 0.6:
            yield from row


def alternating_questions(context: PageContext, free: list[Element], claims: Claims) -> Iterator[Element]:
    """Yield the questions in an FAQ where questions and answers alternate, and look different."""
    pairs = defaultdict[object, list[tuple[Element, Element]]](list)
    for parent in free:
        children = [child for child in parent.elements() if not claims.overlap(child) and _is_row(child)]
        for child, following in pairwise(children):
            if child.tag not in HEADINGS and child.look != following.look and context.is_in_faq(child):
                pairs[parent.look, child.look, following.look].append((child, following))
    for rows in pairs.values():
        if len(rows) > 2 and _are_questions(rows):
            yield from (question for question, _ in rows if _is_short(question))


def _is_row(element: Element) -> bool:
    return element.tag in BLOCKS and not element.is_boilerplate and bool(inline_text(element.children))


def _is_short(element: Element) -> bool:
    return len(inline_text(element.children)) <= MAX_PARAGRAPH


def _are_questions(rows: list[tuple[Element, Element]]) -> bool:
    """Return whether the first elements of pairs are often questions, and the second nearly never."""
    asked = sum(is_asked(question_text(question)) for question, _ in rows)
    answers = sum(is_asked(question_text(answer)) for _, answer in rows)
    return asked >= 0.3 * len(rows) and answers <= 0.1 * len(rows)
