"""The outline of a page: its headings, which of them are questions, and the text below each of them."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.dom import HEADINGS, Element
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import is_call_to_action, is_question
from faqsvc_embed.generation.extraction.text import inline_text, question_text

MIN_ANSWER: Final = 40
"""Characters of a text below a heading that is more than the introduction of a section."""


@dataclass(eq=False, slots=True)
class Heading:
    """A heading with what is below it, up to the next heading."""

    element: Element
    text: str
    level: int
    is_question: bool
    """Whether the text of the heading is a question, and no call to action."""
    parent: "Heading | None" = None
    text_length: int = 0
    """Characters of the text below it, up to the next heading, without the links of tables of contents."""
    link_length: int = 0
    """Characters of links of tables of contents below it, up to the next heading."""

    @property
    def is_answered(self) -> bool:
        """Whether text follows that is more than a list of links."""
        return self.text_length > self.link_length

    def ancestors(self) -> Iterator["Heading"]:
        """Yield the heading above, the one above that, and so on."""
        heading = self.parent
        while heading is not None:
            yield heading
            heading = heading.parent


def headings_of(context: PageContext, free: list[Element], claims: Claims) -> list[Heading]:
    """Return the headings among free elements, with the text below them, in document order."""
    found: list[Heading] = []
    above: list[Heading] = []
    for element in free:
        if (level := _level(element)) is None:
            continue
        above = [heading for heading in above if heading.level < level]
        text = question_text(element)
        is_asked = is_question(text) and not is_call_to_action(text)
        heading = Heading(element, text, level, is_asked, above[-1] if above else None)
        above.append(heading)
        found.append(heading)
    _count_text(found, context, claims)
    return found


def _level(element: Element) -> int | None:
    if element.role == "heading":
        level = element.attrs.get("aria-level", "")
        return int(level) if level in ("1", "2", "3", "4", "5", "6") else HEADINGS.get(element.tag, 2)
    return HEADINGS.get(element.tag)


def _count_text(headings: list[Heading], context: PageContext, claims: Claims) -> None:
    """Set the lengths of the text below headings."""
    starts = [heading.element.start for heading in headings]
    for block in context.answer_blocks:
        number = bisect_left(starts, block.start + 1) - 1
        if number < 0 or claims.include(block) or block.start <= headings[number].element.end:
            continue
        heading = headings[number]
        text = inline_text(block.children)
        anchors = [each for each in block.walk() if each.tag == "a"]
        links = sum(len(inline_text(each.children)) for each in anchors)
        is_contents = links == len(text) or any(
            each.attrs.get("href", "").startswith("#") for each in anchors
        )
        heading.link_length += links if is_contents else 0
        heading.text_length += len(text) - links if is_contents else len(text)
