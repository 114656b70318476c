"""Headings that are questions: by their text, as statements in an FAQ, or as titles in a help centre."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from faqsvc_embed.generation.extraction.boilerplate import is_promotional
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Evidence
from faqsvc_embed.generation.extraction.dom import HEADINGS, Element, Node
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.patterns import LANGUAGES, any_of
from faqsvc_embed.generation.extraction.questions import (
    announces_faq,
    is_call_to_action,
    is_question,
    is_section_title,
    starts_like_question,
)
from faqsvc_embed.generation.extraction.text import question_text, text_of
from faqsvc_embed.models.wire import MAX_SECTION

MIN_SHARE_OF_QUESTIONS: Final = 0.1
"""The share of similar headings that must be questions for the others to count as questions."""
MANY: Final = 2
"""Questions of other kinds, such as accordions, from which on headings are titles."""
MAX_QUESTIONS: Final = 2
"""Headings of an article that are questions, its title included; a page with more is a list of questions."""
MIN_STATEMENTS: Final = 3
"""Headings of an FAQ that count as questions although none of them is one by its text."""

_HELP_CENTRE = any_of(language.help_centres for language in LANGUAGES)


def heading_questions(
    context: PageContext, free: list[Element], claims: Claims, taken: Claims
) -> Iterator[Element]:
    """Yield the headings that are questions; `taken` are questions of other kinds."""
    headings = [element for element in free if element.tag in HEADINGS]
    has_titles = sum(heading.tag == "h1" for heading in headings) > 1
    headings = [heading for heading in headings if heading.tag != "h1" or has_titles]
    texts = {heading: question_text(heading) for heading in headings if not is_promotional(heading)}
    asked = {heading for heading, text in texts.items() if is_question(text) and not is_call_to_action(text)}
    # A claim is for a question or for its answer.
    has_others = claims.count // 2 + taken.count >= MANY
    is_unannounced = not context.is_article and _are_most_questions(texts, asked)
    found: list[Element] = []
    for group in similar_elements(list(texts)):
        questions = [heading for heading in group if heading in asked]
        in_faq = [heading for heading in group if context.is_in_faq(heading)]
        if in_faq:
            found += [heading for heading in in_faq if is_question(texts[heading])]
            if questions or len(asked) <= MIN_SHARE_OF_QUESTIONS * len(group):
                statements = _statements(in_faq, questions, texts, context)
                share = len(questions) / len(group)
                are_most = len(questions) + len(statements) >= max(MIN_STATEMENTS, 0.6 * len(group))
                is_faq = share >= MIN_SHARE_OF_QUESTIONS or (context.has_faq_title and are_most)
                found += statements if (share >= 0.5 if has_others else is_faq) else []
        elif is_unannounced:
            found += questions
    yield from sorted(found, key=lambda element: element.start)


def _statements(
    headings: list[Element], questions: list[Element], texts: dict[Element, str], context: PageContext
) -> list[Element]:
    """Return the headings of an FAQ that state a problem or name a topic, and are in no answer."""
    statements = [
        heading
        for heading in headings
        if not is_question(texts[heading]) and heading.start not in context.below_questions
    ]
    if not questions:
        return statements
    first, last = questions[0].start, questions[-1].start
    return [each for each in statements if not texts[each].endswith("!") or first < each.start < last]


def _are_most_questions(texts: dict[Element, str], asked: set[Element]) -> bool:
    """Return whether most headings of a page are questions, so that it is an FAQ without saying so."""
    if len(asked) == 1 and not starts_like_question(texts[next(iter(asked))]):  # `Hungry yet?` is advertising
        return False
    others = sum(heading not in asked and not is_section_title(text) for heading, text in texts.items())
    return len(asked) >= 0.6 * (len(asked) + others) > 0


def similar_elements(elements: list[Element]) -> list[list[Element]]:
    """Return groups of elements that have the same tags and classes, up to two levels above."""
    groups = defaultdict[object, list[Element]](list)
    for element in elements:
        groups[kind_of(element)].append(element)
    return list(groups.values())


def kind_of(element: Element) -> object:
    """Return a value that is equal for elements with the same tags and classes, up to two levels above."""
    return tuple(each.look for each in (element, *islice(element.ancestors(), 2)))


def set_sections(found: list[Candidate], context: PageContext, claims: Claims) -> None:
    """Set the section of each question to the heading above it, if there are several such headings.

    `found` is in document order.
    """
    titles = [
        element
        for element in context.elements
        if element.tag in HEADINGS and element.tag != "h1" and not claims.overlap(element)
    ]
    sections, read = dict[Candidate, str](), cache(question_text)
    titles, above = titles[::-1], list[Element]()  # `above` has at most one of each level
    for candidate in found:
        while titles and titles[-1].start < candidate.element.start:
            title = titles.pop()
            above = [*(one for one in above if HEADINGS[one.tag] < HEADINGS[title.tag]), title]
        level = HEADINGS.get(candidate.element.tag, 7)
        nearest = next((one for one in reversed(above) if HEADINGS[one.tag] < level), None)
        text = read(nearest) if nearest is not None else ""
        if 0 < len(text) <= MAX_SECTION and not announces_faq(text):
            sections[candidate] = text
    if len(set(sections.values())) > 1:
        for candidate, text in sections.items():
            candidate.section = text


def help_article(context: PageContext) -> Candidate | None:
    """Return the question and the answer of a help centre's article, or None for any other page."""
    headings = [element for element in context.elements if element.tag in HEADINGS]
    titles = [heading for heading in headings if heading.tag == "h1"]
    if len(titles) != 1 or not _HELP_CENTRE.search(context.title):
        return None
    question = question_text(titles[0])
    questions = [text for heading in headings if is_question(text := question_text(heading))]
    if question not in questions or len(questions) > MAX_QUESTIONS or is_call_to_action(question):
        return None
    candidate = Candidate(titles[0], tuple(_article_after(titles[0])), Evidence.HEADING)
    return candidate if text_of(candidate.answer_nodes) else None


def _article_after(title: Element) -> list[Node]:
    """Return the nodes after a title in its article, up to the footer of the article."""
    nodes: list[Node] = []
    header = next((above for above in title.ancestors() if above.tag == "header"), title)
    for element in (header, *header.ancestors()):
        if element.tag in ("article", "main", "body"):
            break
        for node in element.following_siblings():
            if isinstance(node, Element) and node.tag == "footer":
                return nodes
            nodes.append(node)
    return nodes
