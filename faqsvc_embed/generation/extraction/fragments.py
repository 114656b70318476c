"""The ids nearest to questions, for links to them."""

from collections.abc import Iterable
from functools import cached_property
from itertools import chain

from faqsvc_embed.generation.extraction.candidates import Candidate, Positions
from faqsvc_embed.generation.extraction.dom import Element
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.extraction.text import inline_text


class Fragments:
    """Finds the ids nearest to questions."""

    def __init__(self, found: list[Candidate], context: PageContext) -> None:
        self._questions = Positions(candidate.element for candidate in found)
        self._context = context

    def of(self, candidate: Candidate) -> str | None:
        """Return the id nearest to a question, or None.

        The order is: the question, the elements around it without another question, the answer, any others.
        """
        question = candidate.element
        return _first_id(
            chain(
                question.walk(),
                (element for element in question.ancestors() if self._questions.count_inside(element) == 1),
                (element for node in candidate.answer_elements() for element in node.walk()),
                question.ancestors(),
            )
        )

    def of_text(self, question: str) -> str | None:
        """Return the id nearest to the text block that is the question, or None."""
        block = self._blocks.get(question_key(question))
        return _first_id(chain(block.walk(), block.ancestors())) if block is not None else None

    @cached_property
    def _blocks(self) -> dict[str, Element]:
        blocks = reversed(self._context.text_blocks)
        return {question_key(inline_text(block.children)): block for block in blocks}


def _first_id(elements: Iterable[Element]) -> str | None:
    ids = (element.attrs.get("id") for element in elements if element.tag not in ("html", "body"))
    return next((name for name in ids if name), None)
