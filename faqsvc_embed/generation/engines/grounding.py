"""Excerpts of pages for a model, and the check that a page supports the items that the model writes.

A model returns each answer with the sentences that support it. One page must contain these sentences, and
every fact in the answer: numbers, currencies and addresses. Only separators in numbers may differ.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, TypeVar

import msgspec

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.api.fields import MAX_ANSWER, MAX_QUESTION
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.engines.protocol import Reason, source_of
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.extraction.text import plain
from faqsvc_embed.text import letters, normalized

MAX_EXCERPT: Final = 8_000
"""Characters of one excerpt; a longer page becomes several."""
MAX_BATCH: Final = 40_000
"""Characters of the excerpts in one request."""
MAX_BATCHES: Final = 6
"""Requests for one site; the text after that is not read."""
MIN_SUPPORT: Final = 8
"""Letters and digits that the supporting sentences must have."""

_CURRENCIES: Final = {
    name: code for code, names in load("currencies", dict[str, str]).items() for name in names.split()
}
_LABEL: Final = r"[a-z0-9_\u00df-\u024f\u0370-\u052f-]{1,63}"
_HOST: Final = rf"(?:{_LABEL}\.){{1,10}}[^\W\d_][\w-]{{1,62}}"
_ADDRESS: Final = rf"[a-z0-9_.+-]{{1,64}}@{_HOST}|https?://[^\s)]+|{_HOST}(?:/[^\s)]*)?"
_NUMBER: Final = r"\d{1,3}(?:[\s\u2019']\d{3}){1,5}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,:]\d{1,15}){0,6}"
_CURRENCY: Final = "|".join(sorted(map(re.escape, _CURRENCIES), key=len, reverse=True))
_UNIT: Final = rf"(?:{_CURRENCY})(?=\s?\d)|(?:(?<=\d)|(?<=\d\s))(?:{_CURRENCY}|[ap]\.?\s?m)(?!\w)"
_FACT = re.compile(rf"({_ADDRESS})|({_NUMBER})|({_UNIT})")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])['\")\]]*(?:\s|$)|[。؟।]|\s\|\s")
_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(?=\S+[ \t]+\S)", re.ASCII | re.MULTILINE)
"""The number of a step, at the start of a line; before a single word it may be a date (`1. May`)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of the text of a page."""

    page: Page
    text: str


def interleaved(parts: Iterable[Iterable[T]]) -> list[T]:
    """Return the first elements of all parts, then the second ones, and so on."""
    return [element for row in zip_longest(*parts) for element in row if element is not None]


def batches_of(pages: Sequence[Page]) -> list[list[Excerpt]]:
    """Return the text of pages as batches of excerpts; each batch is the data of one request.

    The first excerpts of all pages come first, because the end of a long site is left out.
    """
    batches: list[list[Excerpt]] = []
    size = MAX_BATCH
    for excerpt in interleaved(map(_excerpts, pages)):
        if size + len(excerpt.text) > MAX_BATCH:
            if len(batches) == MAX_BATCHES:
                break
            batches.append([])
            size = 0
        batches[-1].append(excerpt)
        size += len(excerpt.text)
    return batches


def _excerpts(page: Page) -> Iterator[Excerpt]:
    """Yield the text of a page, divided between paragraphs where that is possible."""
    start = 0
    while start < len(page.text):
        end = start + MAX_EXCERPT
        if end < len(page.text):
            paragraph = page.text.rfind("\n\n", start + MAX_EXCERPT // 2, end)
            end = paragraph if paragraph > 0 else end
        if text := page.text[start:end].strip():
            yield Excerpt(page, text)
        start = end


class Suggestion(msgspec.Struct):
    """An item that a model suggests; `support` is the sentences of a page that prove it."""

    question: str
    answer: str
    support: str


def supported_items(suggestions: Sequence[Suggestion], excerpts: Sequence[Excerpt]) -> GenerateResponse:
    """Return the suggestions that a page supports, each question once, and what was dropped."""
    sources = [(each.page, _sentences(each.text), _facts(each.text)) for each in excerpts]
    items: dict[str, GeneratedEntry] = {}
    dropped: list[DroppedEntry] = []
    for one in suggestions:
        question, support = plain(one.question), plain(one.support)
        answer = "\n\n".join(filter(None, map(plain, _PARAGRAPH_END.split(one.answer))))
        is_short = max(map(len, (one.question, one.answer, one.support))) <= MAX_ANSWER
        if not (is_short and question_key(question) and question_key(answer)) or len(question) > MAX_QUESTION:
            continue
        quoted, stated = _sentences(support), _facts(plain(_without_step_numbers(one.answer)))
        pages = [page for page, sentences, facts in sources if quoted <= sentences and stated <= facts]
        if not pages or len(question_key(support)) < MIN_SUPPORT:
            dropped.append(DroppedEntry(question, Reason.UNSUPPORTED, "no page says so in the quoted words"))
            continue
        url, markdown = source_of(pages[0].url, support), escape(answer)
        shown = markdown if markdown != answer else None
        item = GeneratedEntry(0, question, answer, url, None, shown, pages[0].tag)
        items.setdefault(question_key(question), item)
    return GenerateResponse(list(items.values()), dropped=dropped)


def _facts(text: str) -> set[str]:
    """Return the facts in a text: addresses and their hosts, the values of numbers, and units."""
    facts = set[str]()
    for address, number, unit in _FACT.findall(normalized("NFKC", text).casefold()):
        bare = re.sub("^https?://", "", address).rstrip(".,:!?/")
        unit = _CURRENCIES.get(unit) or re.sub(r"\W", "", unit)
        facts |= {bare, bare.partition("/")[0], _value(number), unit} - {""}
    return facts


def _value(number: str) -> str:
    """Return a number without separators of thousands: `1.280` is 1280, and `1 280,50` is 1280.5."""
    whole, _, decimals = re.sub(r"[.,](\d\d?)$", r"|\1", number).partition("|")
    whole, decimals = re.sub(r"[^\d:]", "", whole), decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def _sentences(text: str) -> set[str]:
    """Return the words of each sentence of a text, which may continue on the next line or be a line."""
    parts = [*_PARAGRAPH_END.split(text), *text.splitlines()]
    return {letters(sentence) for part in parts for sentence in _SENTENCE_END.split(plain(part))} - {""}


def _without_step_numbers(answer: str) -> str:
    """Return an answer without the numbers of its steps from 1 on, which the page need not have."""
    steps = _STEP.findall(answer)
    return _STEP.sub("", answer) if steps[1:] and steps == [*map(str, range(1, len(steps) + 1))] else answer
