"""Finds the questions of a page by their names or by their looks, and the answers that follow them.

A name is a class name, or a label such as `Q:`. Elements that look alike are questions if enough of them ask.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

from faqsvc_embed.generation.extraction.candidates import MANY, Candidate, Claims, Evidence, Positions
from faqsvc_embed.generation.extraction.dom import (
    BLOCKS,
    HEADINGS,
    NAMES,
    TEXT_BLOCK,
    Element,
    Node,
    by_looks,
    with_headings,
)
from faqsvc_embed.generation.extraction.page_context import PageContext, is_link, is_promotional
from faqsvc_embed.generation.extraction.questions import (
    bare_question,
    has_question_mark,
    has_words,
    is_asked,
    is_call_to_action,
    is_question,
    is_section_title,
    split_at_answer_label,
)
from faqsvc_embed.generation.extraction.text import inline_text, is_labelled_question, question_text, text_of

MAX_MARKER: Final = 7
"""Characters of a number or symbol beside a question; a longer text is a question of its own."""
MAX_LINE: Final = 200
"""Characters of a question that is no heading."""
SEVERAL: Final = 2
"""A page with this many questions of other kinds, such as accordions, has headings that are mostly titles."""
MIN_SHARE: Final = 0.1
"""The share of similar headings that must be questions for the others to count as questions."""
_STATEMENT = re.compile(r"[^?？؟]*\w{3}[.!。]\s*\w")
EMPHASIS: Final = frozenset({"strong", "b", "em", "u"})

Question = tuple[Element, Evidence]


def likely_pairs(context: PageContext, claims: Claims, accepted: int) -> Iterator[Candidate]:
    """Yield the likely questions outside of claimed elements, with the answers that follow them.

    `accepted` is the number of questions that are accepted already.
    """
    questions = [] if context.is_interview else _questions(context, claims, accepted)
    ends = Positions(element for element, _ in questions)
    for element, evidence in questions:
        group = (evidence, element.look)
        if parts := _split(element, evidence):
            # In a paragraph with blank lines, the answer continues to the next question.
            rest = _siblings_after(element, 7, ends, claims)[0] if element.tag == TEXT_BLOCK else []
            question = bare_question(" ".join(parts[0].split()))
            answer = "\n\n".join(filter(None, (parts[1], text_of(rest))))
            yield Candidate(element, tuple(rest), evidence, group, (question, answer))
        elif nodes := _answer_after(element, ends, claims):
            yield Candidate(element, nodes, evidence, group)


def _questions(context: PageContext, claims: Claims, accepted: int) -> list[Question]:
    """Return the elements of possible questions in document order; none contains another."""
    free = [element for element in context.elements if not claims.include(element)]
    taken = Claims(context.size)
    found = list[Question]()

    def take(elements: Iterable[Element], evidence: Evidence) -> None:
        for element in elements:
            is_running_text = context.is_article and evidence is Evidence.APPEARANCE
            if is_running_text and not context.is_in_faq(element):
                continue
            is_call = is_call_to_action(question_text(element)) and not is_labelled_question(element)
            if not (is_call or taken.overlap(element)):
                taken.claim(element)
                found.append((element, evidence))

    take(_named(free), Evidence.NAME)
    for question, _ in found:
        following = next((n for n in question.following_siblings() if isinstance(n, Element)), None)
        if following is not None and following.words & NAMES["answer"]:
            taken.claim(following)  # what asks within the answer is part of it
    take(_controls(free, claims), Evidence.HEADING)
    take(_rows(context, free, claims), Evidence.HEADING)
    headings = [element for element in free if element.tag in HEADINGS]
    if sum(heading.tag == "h1" for heading in headings) == 1:  # the title of the page
        headings = [heading for heading in headings if heading.tag != "h1"]
    take(_headings(headings, context, accepted + len(found)), Evidence.HEADING)
    take(_emphasised(free, context), Evidence.APPEARANCE)
    take(_blocks(free, context, len(found)), Evidence.APPEARANCE)
    return _without_rhetorical(sorted(found, key=lambda question: question[0].start), context)


def _named(free: list[Element]) -> Iterator[Element]:
    """Yield the elements that a class name calls a question, and those that start with `Q:`."""
    has_short_names = any("a" in element.class_words for element in free)
    names = NAMES["question"] | {"q"} if has_short_names else NAMES["question"]
    yield from _innermost([element for element in free if element.class_words & names])
    labelled = [element for element in free if not element.contains_blocks and is_labelled_question(element)]
    yield from _innermost(labelled)


def _controls(free: list[Element], claims: Claims) -> Iterator[Element]:
    """Yield the titles of accordions, by class name, and buttons and the like if one of those alike asks.

    The terms of definition lists are claimed already, so a free `<dt>` is used as a button.
    """
    named = [element for element in free if element.tag != "h1" and element.class_words & NAMES["accordion"]]
    titles = _innermost([element for element in named if element.class_words & NAMES["accordion_title"]])
    yield from (title for title in titles if not claims.overlap(title.parent or title))
    for group in by_looks(_innermost([*filter(_is_control, free)])).values():
        if any(is_asked(question_text(element)) for element in group):
            yield from group


def _is_control(element: Element) -> bool:
    is_button = element.role == "button" or element.tag in ("button", "label", "dt")
    return is_button or "aria-expanded" in element.attrs


def _rows(context: PageContext, free: list[Element], claims: Claims) -> Iterator[Element]:
    """Yield the questions where questions and answers alternate and look different."""
    pairs = defaultdict[tuple[bool, object], list[tuple[Element, Element]]](list)
    for parent in free:
        children = [child for child in parent.elements() if not claims.overlap(child) and _is_row(child)]
        for child, following in pairwise(children):
            is_in_faq = context.is_in_faq(child)
            is_list = sum(inner.tag == "li" for inner in child.elements()) > 1
            is_row = child.tag not in HEADINGS and not is_list and child.look != following.look
            if is_row and (is_in_faq or not context.is_article):
                pairs[is_in_faq, (parent.look, child.look, following.look)].append((child, following))
    for (is_in_faq, _), rows in pairs.items():
        asked = sum(is_asked(question_text(question)) for question, _ in rows)
        answers = sum(is_asked(question_text(answer)) for _, answer in rows)
        are_most = asked >= (0.15 if is_in_faq else 0.6) * len(rows) and answers <= 0.1 * len(rows)
        if len(rows) >= MANY and are_most:
            yield from (question for question, _ in rows)


def _is_row(element: Element) -> bool:
    return element.tag in BLOCKS and not element.is_boilerplate and bool(inline_text(element.children))


def _headings(headings: list[Element], context: PageContext, other_questions: int) -> Iterator[Element]:
    """Yield the headings that are questions, in an FAQ or if most headings of the page are.

    In an FAQ, half of the headings that look alike must ask if the page has many questions of other kinds,
    because most headings are then titles. Otherwise a few must ask, or none if there are no other questions
    and the title says FAQ.
    """
    # Outside of an FAQ, a heading that is a link to another page is the title of a post.
    own = (heading for heading in headings if context.is_in_faq(heading) or not is_link(heading))
    texts = {heading: question_text(heading) for heading in own if not is_promotional(heading)}
    asked = {heading for heading, text in texts.items() if is_asked(text)}
    # A heading that does not ask, below one of a higher level that does, is within its answer.
    below = {heading for heading, above in with_headings(texts, texts) if not asked.isdisjoint(above)}
    texts = {heading: text for heading, text in texts.items() if heading not in below - asked}
    others = sum(heading not in asked and not is_section_title(text) for heading, text in texts.items())
    are_most = len(asked) >= 0.6 * (len(asked) + others) > 0 and not context.is_article
    share = 0.5 if other_questions >= SEVERAL else MIN_SHARE
    if context.has_faq_title and not other_questions and len(asked) <= MIN_SHARE * len(texts):
        share = 0
    return _alike(texts, asked, context, share=share, elsewhere=asked if are_most else set())


def _emphasised(free: list[Element], context: PageContext) -> Iterator[Element]:
    """Yield emphasised questions at the start of a line, in an FAQ or if most such lines are questions."""
    marked_up = (e for e in free if e.tag in EMPHASIS or (e.tag == "a" and "href" not in e.attrs))
    lines = [element for element in marked_up if element.children and _starts_line(element)]
    texts = {element: question_text(element) for element in lines}
    asked = {line for line, text in texts.items() if is_asked(text)}
    marked = {line for line in asked if has_question_mark(texts[line])}
    are_most = len(marked) > 1 and 2 * len(marked) >= len(lines)
    whole = [line for line, text in texts.items() if line in asked or _is_line(line, text)]
    return _alike(whole, asked, context, share=0.5, elsewhere=marked if are_most else set())


def _alike(
    elements: Iterable[Element],
    asked: set[Element],
    context: PageContext,
    *,
    share: float,
    elsewhere: set[Element],
) -> Iterator[Element]:
    """Yield the elements of an FAQ that ask, and those that look like them if at least `share` of these ask.

    Outside of an FAQ, yield only the elements in `elsewhere`.
    """
    for group in by_looks(elements).values():
        questions = sum(element in asked for element in group)
        all_count = questions >= share * len(group) and (questions > 0 or len(group) >= MANY)
        for element in group:
            if element in elsewhere or (context.is_in_faq(element) and (all_count or element in asked)):
                yield element


def _is_line(element: Element, text: str) -> bool:
    """Return whether an emphasised text is a line of its own, and no remark such as `Note:`."""
    following = next((n for n in element.following_siblings() if isinstance(n, Element) or n.strip()), None)
    is_alone = following is None or (isinstance(following, Element) and following.tag == "br")
    return is_alone and len(text) <= MAX_LINE and not text.endswith(":")


def _starts_line(element: Element) -> bool:
    """Return whether nothing but a number stands before an element on its line."""
    for node in element.preceding_siblings():
        if isinstance(node, Element):
            return node.tag == "br"
        if node.strip(" \t\r\n0123456789.)"):
            return False
    return True


def _blocks(free: list[Element], context: PageContext, other_questions: int) -> Iterator[Element]:
    """Yield the paragraphs of an FAQ whose first line asks, and that have an answer below.

    Outside of an FAQ, nearly all paragraphs that look alike must ask, and half of them must have an answer.
    Among many questions of other kinds, a paragraph that begins with a statement is no question.
    Items of a list that ask are a checklist, unless every other one answers and nothing else asks.
    """
    unclaimed = {element.start for element in free}
    blocks = [block for block in context.text_blocks if block.start in unclaimed]
    lines = {block: _first_line(block) for block in blocks if not is_promotional(block)}
    asked = {block for block, text in lines.items() if is_asked(text)}
    unanswered = {
        block for block, below in pairwise(lines) if is_question(lines[below]) and not _has_lines(block)
    }
    for group in by_looks(lines).values():
        questions = [block for block in group if block in asked]
        answered = [block for block in questions if block not in unanswered]
        are_most = len(questions) > 1 and len(questions) >= 0.8 * len(group)
        if are_most and 2 * len(answered) >= len(questions):
            yield from questions
            continue
        in_turn = questions == group[::2] and 1 < len(questions) == len(asked) and not other_questions
        for block in answered:
            is_short = len(lines[block]) <= MAX_LINE
            is_line = is_short and (block.tag != "li" or in_turn) and context.is_in_faq(block)
            if is_line and (other_questions <= SEVERAL or not _STATEMENT.match(lines[block])):
                yield block


def _has_lines(block: Element) -> bool:
    return any(element.tag == "br" for element in block.walk())


def _first_line(block: Element) -> str:
    if not _has_lines(block):
        return question_text(block)
    return bare_question(text_of([block]).partition("\n")[0])


def _without_rhetorical(questions: list[Question], context: PageContext) -> list[Question]:
    """Return the questions without those in running text that begin the answer to the previous question."""
    blocks = [block.start for block in context.text_blocks]
    kept: list[Question] = []
    for element, evidence in questions:
        if kept and evidence is Evidence.APPEARANCE and kept[-1][1] is Evidence.HEADING:
            between = bisect_left(blocks, element.start) - bisect_left(blocks, kept[-1][0].end + 1)
            if between <= 0:
                continue
        kept.append((element, evidence))
    return kept


def _split(element: Element, evidence: Evidence) -> tuple[str, str] | None:
    """Return the question and the answer of an element that contains both, else None."""
    if is_labelled_question(element):
        return split_at_answer_label(text_of([element]))
    if evidence is Evidence.APPEARANCE and not is_question(question_text(element)):
        first, _, rest = text_of([element]).partition("\n")
        is_list = is_question(bare_question(rest.partition("\n")[0]))  # of questions, as in an index
        return (first, rest) if rest and not is_list else None
    return None


def _answer_after(question: Element, ends: Positions, claims: Claims) -> tuple[Node, ...]:
    """Return the nodes after a question, from the nearest level of the tree that has some.

    If a question is the start of a paragraph, its answer may continue in the paragraphs after that one.
    """
    level = HEADINGS.get(question.tag, 7)
    nodes: list[Node] = []
    found = False
    for element in (question, *question.ancestors()):
        if element is not question and (
            element.tag in NAMES["boundary"] or (found and element.tag not in (TEXT_BLOCK, "p"))
        ):
            break
        siblings, is_complete = _siblings_after(element, level, ends, claims, is_answered=found)
        nodes += siblings
        found = has_words(text_of(nodes))  # an arrow that opens the answer has none
        if is_complete:
            break
    return tuple(nodes) if found else ()


def _siblings_after(
    element: Element, level: int, ends: Positions, claims: Claims, *, is_answered: bool = False
) -> tuple[list[Node], bool]:
    """Return the siblings after an element that are in the answer, and whether the answer ends there."""
    nodes: list[Node] = []
    # The parent has only a question and its answer.
    is_in_pair = element.parent is not None and len([*islice(element.parent.elements(), 3)]) == 2
    for node in element.following_siblings():
        if isinstance(node, Element):
            if ends.count_inside(node) or claims.overlap(node):
                return nodes, True
            is_answered = is_answered or any(text_of([each]) for each in nodes)
            has_heading = any(HEADINGS.get(inner.tag, 8) <= level for inner in node.walk())
            is_panel = is_in_pair or node.words & NAMES["answer"]
            if (has_heading and not is_panel) or (is_answered and (has_heading or node.tag == "hr")):
                return nodes, True
        nodes.append(node)
    return nodes, False


def _innermost(elements: list[Element]) -> list[Element]:
    """Return the elements that contain no other one, other than a number or a symbol."""
    texts = {element.start: question_text(element) for element in elements}
    longer = Positions(element for element in elements if len(texts[element.start]) > MAX_MARKER)
    return [each for each in elements if texts[each.start] and longer.count_inside(each) <= 1]
