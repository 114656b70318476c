"""Extracts the questions and answers of a page from every kind of markup, each question once."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import turbohtml

from faqsvc_embed.api.fields import MAX_QUESTION
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, accepted, with_answers
from faqsvc_embed.generation.extraction.dom import Element, PageTooComplex, StepBudget, build_tree
from faqsvc_embed.generation.extraction.explicit_markup import explicit_pairs
from faqsvc_embed.generation.extraction.heuristics import likely_pairs
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import (
    bare_answer,
    has_words,
    is_asked,
    is_template_code,
    question_key,
)
from faqsvc_embed.generation.extraction.structured_data import (
    embedded_pairs,
    is_article,
    pushed_markup,
    stated_pairs,
    texts_of_value,
)
from faqsvc_embed.generation.extraction.text import base_of, plain, text_of

MIN_REWORDED: Final = 3
"""Minimum number of questions in the data that count as the ones the page shows in other words."""

Reader = Callable[[turbohtml.Document, StepBudget], Iterator[tuple[str, str]]]
"""Reads the questions and answers in the data of a page; an answer is mostly HTML."""

logger: logging.Logger = logging.getLogger("faqsvc_embed.generation")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question of a page and its answer as plain text."""

    question: str
    answer: str
    in_faq: bool
    """Whether the page announces an FAQ around it."""
    section: str | None = field(default=None, compare=False)
    """The heading above the question; None unless the questions of the page have several headings."""
    markdown: str = field(default="", compare=False)
    """The answer as Markdown, with its links, lists and tables."""


@dataclass(frozen=True, slots=True)
class Content:
    """The title, the text without boilerplate, and the questions and answers of a page."""

    title: str
    text: str
    pairs: tuple[Pair, ...]


def extract(document: turbohtml.Document, url: str) -> Content:
    """Return the content of a page, with the questions in the order of the page.

    If a page is too complex to be searched, its content has only the title and the pairs of its FAQPages.
    """
    title_element = document.find("title")
    title = plain(title_element.text) if title_element is not None else ""
    base = base_of(document, url)
    stated = _pairs_in_data(document, base, stated_pairs)
    try:
        top = build_tree(document, StepBudget())
        in_context = partial(PageContext, title=title, url=url, is_article=is_article(document))
        pairs = _merged_pairs(in_context(top), stated, base)
        pairs = pairs or [*_pairs_in_data(document, base, embedded_pairs).values()]
        pairs = pairs or _pushed_pairs(document, base, in_context)
        return Content(title, text_of([top]), tuple(pairs))
    except PageTooComplex:
        logger.info("%r is too complex to be searched for questions", url)
        return Content(title, "", tuple(stated.values()))


def _pairs_in_data(document: turbohtml.Document, base: str, read: Reader) -> dict[str, Pair]:
    """Return the pairs that data of the page states, each question once."""
    pairs: dict[str, Pair] = {}
    budget = StepBudget()
    with suppress(PageTooComplex):
        for question, value in read(document, budget):
            answer, markdown = map(bare_answer, texts_of_value(value, budget, base))
            is_usable = has_words(question) and has_words(answer) and len(question) <= MAX_QUESTION
            if is_usable and not is_template_code(question):
                pair = Pair(question, answer, True, markdown=markdown)
                pairs.setdefault(question_key(question), pair)
    return pairs


def _pushed_pairs(
    document: turbohtml.Document, base: str, in_context: Callable[[Element], PageContext]
) -> list[Pair]:
    """Return the pairs in the elements that React server components push, if most of them ask.

    These lack what is around them: a menu or the properties of a product may seem to be an FAQ.
    """
    found, budget = list[Pair](), StepBudget()
    with suppress(PageTooComplex):
        if markup := pushed_markup(document, budget):
            found = _merged_pairs(in_context(build_tree(turbohtml.parse(markup), budget)), {}, base)
    return found if 2 * sum(is_asked(pair.question) for pair in found) > len(found) else []


def _merged_pairs(context: PageContext, stated: dict[str, Pair], base: str) -> list[Pair]:
    """Return the pairs that a page shows, and those that only its data states."""
    best: dict[str, Candidate] = {}
    for candidate in _accepted_candidates(context):
        key = question_key(candidate.question)
        if key not in best or candidate.evidence.value > best[key].evidence.value:
            best[key] = candidate
    pairs = {
        key: Pair(one.question, one.answer, context.is_in_faq(one.element), one.section, one.markdown(base))
        for key, one in best.items()
    }
    for key, pair in _without_other_wordings(stated, pairs).items():
        pairs[key] = replace(pairs[key], in_faq=True) if key in pairs else pair
    return list(pairs.values())


def _without_other_wordings(stated: dict[str, Pair], shown: dict[str, Pair]) -> dict[str, Pair]:
    """Return the pairs of the data without those that the page shows in other words.

    If the page shows an FAQ with at least as many questions, all that differ count as reworded or translated.
    """
    if MIN_REWORDED <= len(stated) <= sum(pair.in_faq for pair in shown.values()):
        return {key: pair for key, pair in stated.items() if key in shown}
    answers = {question_key(pair.answer) for pair in shown.values()}
    return {
        key: pair for key, pair in stated.items() if key in shown or question_key(pair.answer) not in answers
    }


def _accepted_candidates(context: PageContext) -> list[Candidate]:
    """Return the questions with answers that the page shows, in document order."""
    claims = Claims(context.size)
    found = accepted([*explicit_pairs(context)], context, claims)
    found += accepted([*likely_pairs(context, claims, len(found))], context, claims)
    found = sorted(with_answers(found, context, claims), key=lambda candidate: candidate.element.start)
    sections = context.sections({candidate.element for candidate in found}, claims.overlap)
    for candidate in found:
        candidate.section = sections.get(candidate.element)
    return found
