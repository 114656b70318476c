"""Questions that are recognised by names, headings or appearance, with the answers that follow them."""

from bisect import bisect_left
from collections.abc import Iterator

from faqsvc_embed.generation.extraction.answers import AnswerFinder
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Evidence, Positions
from faqsvc_embed.generation.extraction.class_names import control_titles, named_questions
from faqsvc_embed.generation.extraction.dom import TEXT_BLOCK, Element, Node
from faqsvc_embed.generation.extraction.headings import heading_questions
from faqsvc_embed.generation.extraction.labels import bare_question, split_at_answer_label
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.paragraphs import (
    alternating_questions,
    emphasised_questions,
    first_blocks,
    first_lines,
    similar_questions,
)
from faqsvc_embed.generation.extraction.questions import is_call_to_action, is_question_line
from faqsvc_embed.generation.extraction.text import is_labelled_question, question_text, text_of

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
