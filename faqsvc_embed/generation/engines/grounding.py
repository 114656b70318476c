"""Keeps what a model wrote if the pages of a site support it, and drops everything else.

A model returns each answer with the sentences that support it. These must be on a page, and that page must
contain every number, currency and address in the answer. Only the separators of a number may differ.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.api.fields import MAX_ANSWER, MAX_QUESTION
from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.engines.excerpts import Excerpt
from faqsvc_embed.generation.engines.protocol import Reason, source_of
from faqsvc_embed.generation.extraction.markdown import escaped
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.extraction.text import plain
from faqsvc_embed.text import normalized

CONFIDENCE: Final = 0.8
"""The confidence of items that a model wrote and a page supports."""
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
_GROUPED: Final = r"\d{1,3}(?:[.,\s\u2019']\d{3})+"
_DECIMAL = re.compile(rf"(\d+|{_GROUPED})[.,](\d+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])['\")\]]*(?:\s|$)|[。؟।]|\n|\s\|\s")
_MARKS: Final = " .!?'\"()[]「」『』-|"
_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(?=\S+[ \t]+\S)", re.ASCII | re.MULTILINE)
"""The number of a step, at the start of a line; before a single word it may be a date (`1. May`)."""
_PLAIN_MARKS: Final = str.maketrans("“”„’‘‚«»–—", '"""\'\'\'""--')


class Suggestion(msgspec.Struct):
    """An item that a model suggests; `support` are sentences of page number `page`."""

    question: str
    answer: str
    support: str
    page: int = 0


class _Source:
    """The text of an excerpt, for the search of what supports an answer."""

    def __init__(self, excerpt: Excerpt) -> None:
        self.page = excerpt.page
        paragraphs = re.split(r"\n\s*\n", excerpt.text)
        self._text = "\n".join([_normalized(paragraph) for paragraph in paragraphs])
        lines = "\n".join(map(_normalized, excerpt.text.splitlines()))
        # A sentence may go on in the next line, and a line may be a sentence.
        self._sentences = _sentences(self._text) | _sentences(lines)
        self._facts = set[str]().union(*_facts(self._text))

    def supports(self, support: str, answer: str) -> bool:
        """Return whether the text contains the supporting sentences, and all facts of the answer."""
        return _sentences(_normalized(support)) <= self._sentences and all(
            meanings & self._facts or any(map(self._contains_address, meanings))
            for meanings in _facts(_normalized(answer))
        )

    def _contains_address(self, address: str) -> bool:
        """Return whether the text contains an address that is not part of a longer one."""
        found = re.search(rf"(?<![a-z0-9_.+@-]){re.escape(address)}(?![a-z0-9_@-]|\.[a-z0-9])", self._text)
        return "." in address and found is not None


def supported_items(suggestions: Sequence[Suggestion], excerpts: Sequence[Excerpt]) -> GenerateResponse:
    """Return the suggestions that a page supports, each question once, and what was dropped.

    The page need not be the one that the model names.
    """
    sources = [_Source(excerpt) for excerpt in excerpts]
    items: dict[str, GeneratedEntry] = {}
    dropped: list[DroppedEntry] = []
    for suggestion in suggestions:
        if max(map(len, (suggestion.question, suggestion.answer, suggestion.support))) > MAX_ANSWER:
            continue
        question, support = plain(suggestion.question), plain(suggestion.support)
        answer = _plain_paragraphs(suggestion.answer)
        if not question_key(question) or not question_key(answer) or len(question) > MAX_QUESTION:
            continue
        statement = _plain_paragraphs(_without_step_numbers(suggestion.answer))
        named = sources[suggestion.page : suggestion.page + 1] if suggestion.page >= 0 else []
        is_long = len(question_key(support)) >= MIN_SUPPORT
        source = next(
            (each for each in [*named, *sources] if is_long and each.supports(support, statement)), None
        )
        if source is None:
            dropped.append(DroppedEntry(question, Reason.UNSUPPORTED, "no page says so in the quoted words"))
            continue
        url, markdown = source_of(source.page.url, support), escaped(answer)
        shown = markdown if markdown != answer else None
        item = GeneratedEntry(0, question, answer, url, shown, source.page.tag, CONFIDENCE)
        items.setdefault(question_key(question), item)
    return GenerateResponse(list(items.values()), dropped=dropped)


def _facts(text: str) -> Iterator[set[str]]:
    """Yield each address, number and unit of a normalized text, as all that it can mean."""
    for address, number, unit in _FACT.findall(text):
        meanings = {address.rstrip(".,:!?") or number or _CURRENCIES.get(unit) or re.sub(r"\W", "", unit)}
        if re.fullmatch(_GROUPED, number):
            meanings.add(re.sub(r"\D", "", number))
        if found := _DECIMAL.fullmatch(number):
            whole, decimals = re.sub(r"\D", "", found[1]), found[2].rstrip("0")
            meanings.add(f"{whole}.{decimals}".rstrip("."))
        yield meanings


def _sentences(text: str) -> set[str]:
    """Return the sentences of a normalized text, without the marks around them."""
    return {sentence.strip(_MARKS) for sentence in _SENTENCE_END.split(text)} - {""}


def _plain_paragraphs(text: str) -> str:
    return "\n\n".join(filter(None, map(plain, re.split(r"\n\s*\n", text))))


def _without_step_numbers(answer: str) -> str:
    """Return an answer without the numbers of its steps from 1 on, which the page need not have."""
    numbers = [int(number) for number in _STEP.findall(answer)]
    is_list = len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))
    return _STEP.sub("", answer) if is_list else answer


def _normalized(text: str) -> str:
    """Return a text on one line, without differences of case and quotation marks."""
    folded = normalized("NFKC", text).casefold()
    return " ".join(folded.translate(_PLAIN_MARKS).split())
