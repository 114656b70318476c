"""Questions that are recognised by repetition: in similar items, or alternating with their answers."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.dom import BLOCKS, HEADINGS, Element
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.paragraphs import MAX_PARAGRAPH, is_asked, is_cell
from faqsvc_embed.generation.extraction.text import inline_text, question_text

ITEMS: Final = frozenset({"div", "li", "article", "section"})


def first_blocks(context: PageContext, free: list[Element]) -> Iterator[Element]:
    """Yield the first text blocks of three or more similar items, if most of these blocks are questions."""
    blocks = [block for block in context.text_blocks if not is_cell(block)]
    starts = [block.start for block in blocks]
    rows = defaultdict[object, list[Element]](list)
    for element in free:
        first = bisect_left(starts, element.start)
        has_several = first + 1 < len(starts) and starts[first + 1] <= element.end
        if has_several and element.parent is not None and element.tag in ITEMS:
            rows[element.parent.start, _look(element)].append(blocks[first])
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
            if child.tag not in HEADINGS and _look(child) != _look(following) and context.is_in_faq(child):
                pairs[_look(parent), _look(child), _look(following)].append((child, following))
    for rows in pairs.values():
        if len(rows) > 2 and _are_questions(rows):
            yield from (question for question, _ in rows if _is_short(question))


def _is_row(element: Element) -> bool:
    is_block = element.tag in BLOCKS and not element.is_boilerplate
    return is_block and bool(inline_text(element.children))


def _look(element: Element) -> tuple[str, str]:
    return element.tag, element.attrs.get("class", "")


def _is_short(element: Element) -> bool:
    return len(inline_text(element.children)) <= MAX_PARAGRAPH


def _are_questions(rows: list[tuple[Element, Element]]) -> bool:
    """Return whether the first elements of pairs are often questions, and the second nearly never."""
    asked = sum(is_asked(question_text(question)) for question, _ in rows)
    answers = sum(is_asked(question_text(answer)) for _, answer in rows)
    return asked >= 0.3 * len(rows) and answers <= 0.1 * len(rows)
