"""Questions that are recognised by names, headings or appearance, with the answers that follow them.

A name is a class name, a label such as `Q:`, or the title of an element that opens. An answer is the nodes
after its question, up to the next question or another end.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Evidence, Positions
from faqsvc_embed.generation.extraction.dom import HEADINGS, TEXT_BLOCK, Element, Node
from faqsvc_embed.generation.extraction.headings import heading_questions, similar_elements
from faqsvc_embed.generation.extraction.labels import bare_question, split_at_answer_label
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.paragraphs import (
    EMPHASIS,
    alternating_questions,
    emphasised_questions,
    first_blocks,
    first_lines,
    similar_questions,
)
from faqsvc_embed.generation.extraction.questions import (
    ends_page,
    has_words,
    is_call_to_action,
    is_question,
    is_question_line,
)
from faqsvc_embed.generation.extraction.text import is_labelled_question, question_text, text_of
from faqsvc_embed.generation.extraction.words import NAMES

MAX_MARKER: Final = 7
"""Characters of a number or symbol beside a question; a longer text is a question of its own."""

Question = tuple[Element, Evidence]


def likely_pairs(context: PageContext, claims: Claims) -> Iterator[Candidate]:
    """Yield the likely questions outside of claimed elements, with the answers that follow them."""
    questions = _questions(context, claims)
    answers = AnswerFinder(Positions(element for element, _ in questions), claims)
    above: list[Element] = []
    for element, evidence in questions:
        group = (evidence, element.look)
        nodes: tuple[Node, ...] = ()
        if parts := _split(element, evidence):
            question, answer = " ".join(parts[0].split()), parts[1]
            # In a paragraph with blank lines, the answer continues to the next question.
            rest = answers.siblings_after(element)[0] if element.tag == TEXT_BLOCK else []
            answer = "\n\n".join(filter(None, (answer, text_of(rest))))
            yield Candidate(
                element, tuple(rest), evidence, group, question=bare_question(question), answer=answer
            )
        elif nodes := answers.after(element):
            # The question may have several paragraphs, each with the class name of a question.
            first = [each for each in above if (each.look, each.parent) == (element.look, element.parent)]
            texts = [question_text(part) for part in (*first, element)]
            yield Candidate(element, nodes, evidence, group, question=" ".join(texts))
        if parts or nodes or evidence is not Evidence.NAME:
            above.clear()
        else:
            above.append(element)


def _questions(context: PageContext, claims: Claims) -> list[Question]:
    """Return the elements of possible questions in document order; none contains another."""
    if context.is_interview:
        return []
    free = [element for element in context.elements if not claims.include(element)]
    taken = Claims(context.size)
    questions: list[Question] = []
    for evidence, elements in (
        (Evidence.NAME, named_questions(free)),
        (Evidence.HEADING, control_titles(context, free, claims)),
        (Evidence.HEADING, alternating_questions(context, free, claims)),
        (Evidence.HEADING, heading_questions(context, free, claims, taken)),
        (Evidence.APPEARANCE, emphasised_questions(context, free)),
        (Evidence.APPEARANCE, similar_questions(context, free)),
        (Evidence.APPEARANCE, first_lines(context, free)),
        (Evidence.APPEARANCE, first_blocks(context, free)),
    ):
        for element in elements:
            if context.is_article and evidence is Evidence.APPEARANCE and not context.is_in_faq(element):
                continue
            if not taken.overlap(element) and not is_call_to_action(question_text(element)):
                taken.claim(element)
                questions.append((element, evidence))
    return _without_rhetorical(sorted(questions, key=lambda question: question[0].start), context)


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
    if evidence is Evidence.APPEARANCE and not is_question_line(question_text(element)):
        first, _, rest = text_of([element]).partition("\n")
        return (first, rest) if rest else None
    return None


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


def named_questions(free: list[Element]) -> Iterator[Element]:
    """Yield the elements that a class name calls a question, and those that start with `Q:`."""
    has_short_names = any("a" in element.words for element in free)
    names = NAMES["question"] | {"q"} if has_short_names else NAMES["question"]
    yield from _innermost([_asking_cell(element) for element in free if element.words & names])
    yield from _innermost([element for element in free if _is_labelled(element)])


def _is_labelled(element: Element) -> bool:
    """Return whether an element is the question after a label such as `Q:`.

    In `<p><b>Q: Is it big?</b> Yes.</p>`, both elements start with the label, and the question is `<b>`.
    """
    if element.contains_blocks or not is_labelled_question(element):
        return False
    if element.tag not in EMPHASIS or element.parent is None:
        return True
    is_asked = is_question_line(question_text(element))
    return is_asked and split_at_answer_label(text_of([element.parent])) is None


def _asking_cell(element: Element) -> Element:
    """Return the longest cell of a row, whose others are a number and a topic; else the element."""
    cells = [cell for cell in element.elements() if element.tag == "tr"]
    return max(cells, key=lambda cell: len(question_text(cell)), default=element)


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
