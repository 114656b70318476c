"""The article of a help centre: its title is the question, and all its text the answer."""

from typing import Final

from faqsvc_embed.generation.extraction.candidates import Candidate, Evidence
from faqsvc_embed.generation.extraction.dom import HEADINGS, Element, Node
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.patterns import LANGUAGES, any_of
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.text import question_text, text_of

MAX_QUESTIONS: Final = 2
"""Headings of an article that are questions, its title included; a page with more is a list of questions."""
ARTICLES: Final = ("article", "main", "body")

_HELP_CENTRE = any_of(language.help_centres for language in LANGUAGES)


def help_article(context: PageContext) -> Candidate | None:
    """Return the question and the answer of a help centre's article, or None for any other page."""
    headings = [element for element in context.elements if element.tag in HEADINGS]
    titles = [heading for heading in headings if heading.tag == "h1"]
    if len(titles) != 1 or not _HELP_CENTRE.search(context.title):
        return None
    question = question_text(titles[0])
    questions = [text for heading in headings if is_question(text := question_text(heading))]
    if question not in questions or len(questions) > MAX_QUESTIONS:
        return None
    candidate = Candidate(titles[0], tuple(_article_after(titles[0])), Evidence.HEADING)
    return candidate if text_of(candidate.answer_nodes) else None


def _article_after(title: Element) -> list[Node]:
    """Return the nodes after a title in its article."""
    nodes: list[Node] = []
    header = next((above for above in title.ancestors() if above.tag == "header"), title)
    for element in (header, *header.ancestors()):
        if element.tag in ARTICLES:
            break
        nodes += element.following_siblings()
    return nodes
