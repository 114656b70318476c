"""Questions that are headings: those that ask, and in an FAQ those that state a problem."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Final

from faqsvc_embed.generation.extraction.boilerplate import is_promotional
from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.dom import TEXT_BLOCK, Element
from faqsvc_embed.generation.extraction.outline import Heading, headings_of
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    announces_faq,
    is_question,
    is_section_title,
    starts_like_question,
)

MIN_SHARE_ASKED: Final = 0.1
"""The share of similar headings that must ask for the others to count as questions."""
MANY: Final = 2
"""Questions of other kinds, such as accordions, beside which headings are titles."""
MIN_STATEMENTS: Final = 3
"""Headings of an FAQ that count as questions although none of them asks."""


def heading_questions(
    context: PageContext, free: list[Element], claims: Claims, taken: Claims
) -> Iterator[Element]:
    """Yield the headings that are questions; `taken` are questions of other kinds."""
    headings = headings_of(context, free, claims)
    has_titles = sum(heading.level == 1 for heading in headings) > 1
    candidates = [heading for heading in headings if heading.level > 1 or has_titles]
    candidates = [heading for heading in candidates if not is_promotional(heading.element)]
    is_claimed = claims.count // 2 + taken.count >= MANY
    all_asked = sum(heading.asks for heading in candidates)
    is_open = _is_unannounced_faq(candidates)
    found: list[Element] = []
    for group in _similar_headings(candidates):
        asked = [heading for heading in group if heading.asks]
        in_faq = [heading for heading in group if context.is_in_faq(heading.element)]
        if in_faq:
            found += [heading.element for heading in in_faq if is_question(heading.text)]
            if asked or (not is_claimed and all_asked <= MIN_SHARE_ASKED * len(group)):
                statements = _statements(in_faq, asked)
                if _count_as_questions(statements, group, asked, context, is_claimed=is_claimed):
                    found += [heading.element for heading in statements]
        elif not context.is_article and (is_open or (len(asked) > 1 and len(asked) >= 0.75 * len(group))):
            found += [heading.element for heading in asked]
    yield from sorted(found, key=lambda element: element.start)


def _statements(group: list[Heading], asked: list[Heading]) -> list[Heading]:
    """Return the headings of an FAQ that state a problem or name a topic, and that are answered."""
    statements = [heading for heading in group if _is_answered_statement(heading)]
    if not asked:
        return statements
    first, last = asked[0].element.start, asked[-1].element.start
    return [each for each in statements if not each.text.endswith("!") or first < each.element.start < last]


def _count_as_questions(
    statements: list[Heading],
    group: list[Heading],
    asked: list[Heading],
    context: PageContext,
    *,
    is_claimed: bool,
) -> bool:
    """Return whether statements are questions: some headings that look like them ask, or they fill an FAQ."""
    if is_claimed:
        return 2 * len(asked) >= len(group)
    if len(asked) >= MIN_SHARE_ASKED * len(group) > 0 and asked:
        return True
    is_filled = len(statements) + len(asked) >= max(MIN_STATEMENTS, 0.6 * len(group))
    return context.has_faq_title and is_filled


def _is_answered_statement(heading: Heading) -> bool:
    text = heading.text
    if is_question(text) or not heading.is_answered or heading.is_title:
        return False
    if announces_faq(text) or is_section_title(text):
        return False
    return not any(above.asks for above in heading.ancestors())


def _is_unannounced_faq(headings: list[Heading]) -> bool:
    """Return whether the headings of a page are those of an FAQ although nothing says so: most ask."""
    asked = [heading for heading in headings if heading.asks]
    if len(asked) == 1 and not starts_like_question(asked[0].text):  # `Hungry yet?` is an advertisement
        return False
    others = sum(not (heading.asks or is_section_title(heading.text)) for heading in headings)
    return len(asked) >= 0.6 * (len(asked) + others) > 0


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
    elements = (element, *islice(element.ancestors(), 5))
    visible = (each for each in elements if each.tag != TEXT_BLOCK)
    return tuple((each.tag, each.attrs.get("class", "")) for each in islice(visible, 3))
