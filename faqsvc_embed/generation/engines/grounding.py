"""Keeps what a model wrote if the pages of a site support it, and drops everything else.

A model returns each answer with the sentence that supports it. The sentence must be on a page, and that page
must contain every number, amount and address in the answer. Only the separators of a number may differ.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from faqsvc_embed.api.fields import MAX_ANSWER, MAX_QUESTION
from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.engines.excerpts import Excerpt
from faqsvc_embed.generation.engines.protocol import Dropped, GeneratedItem, Reason, source_of
from faqsvc_embed.generation.extraction.markdown import escaped
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.extraction.text import plain
from faqsvc_embed.text import normalized

CONFIDENCE: Final = 0.8
"""The confidence of items that a model wrote and a page supports."""
MIN_SUPPORT: Final = 8
"""Letters and digits that a supporting sentence must have."""

_CURRENCIES: Final = {
    name: code for code, names in load("currencies", dict[str, str]).items() for name in names.split()
}
_CURRENCY: Final = "|".join(sorted(map(re.escape, _CURRENCIES), key=len, reverse=True))
_NUMBER: Final = r"\d{1,3}(?:[\s\u2019']\d{3}){1,5}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,:]\d{1,15}){0,6}"
_FACT = re.compile(rf"(?:({_CURRENCY})\s?)?({_NUMBER})(?:\s?({_CURRENCY}|[ap]\.?\s?m)(?!\w))?")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\s\u2019']\d{3})+")
_DECIMAL = re.compile(rf"(\d+|{_GROUPED.pattern})[.,](\d+)")

_LABEL: Final = r"[a-z0-9_\u00df-\u024f\u0370-\u052f-]{1,63}"
_HOST: Final = rf"(?:{_LABEL}\.){{1,10}}[^\W\d_][\w-]{{1,62}}"
_ADDRESS = re.compile(rf"[a-z0-9_.+-]{{1,64}}@{_HOST}|https?://[^\s)]+|{_HOST}(?:/[^\s)]*)?")
"""An address in a normalized text."""
_BEFORE_SENTENCE = re.compile(r"""(?:\n|[.!?]['")\]]* |[。؟।]['")\]」』]* ?)(?:[-|] )?['"(\[「『]*$""")
_AFTER_SENTENCE = re.compile(r"""[.!?]+['")\]]*(?:\s|$)|[。؟।]|['")\]」』]*(?:\n|$)""")
_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(?=\S+[ \t]+\S)", re.ASCII | re.MULTILINE)
"""The number of a step, at the start of a line; before a single word it may be a date (`1. May`)."""
_PLAIN_MARKS: Final = str.maketrans("“”„’‘‚«»–—", '"""\'\'\'""--')


class Suggestion(msgspec.Struct):
    """An item that a model suggests; `support` is a sentence of page number `page`."""

    question: str
    answer: str
    support: str
    page: int = 0


@dataclass(frozen=True, slots=True)
class Grounded:
    """The items that pages support, and the suggestions that they do not."""

    items: list[GeneratedItem]
    dropped: list[Dropped]


def supported_items(suggestions: Sequence[Suggestion], excerpts: Sequence[Excerpt]) -> Grounded:
    """Return the suggestions that a page supports, each question once.

    The page need not be the one that the model names.
    """
    texts = [_normalized_lines(excerpt.text) for excerpt in excerpts]
    facts = [_units_of(text) for text in texts]
    items: dict[str, GeneratedItem] = {}
    dropped: list[Dropped] = []
    for suggestion in suggestions:
        if max(map(len, (suggestion.question, suggestion.answer, suggestion.support))) > MAX_ANSWER:
            continue
        question, support = plain(suggestion.question), plain(suggestion.support)
        answer = _plain_paragraphs(suggestion.answer)
        if not question_key(question) or not question_key(answer) or len(question) > MAX_QUESTION:
            continue
        statement = _plain_paragraphs(_without_step_numbers(suggestion.answer))
        order = sorted(range(len(excerpts)), key=lambda number: number != suggestion.page)
        number = next((n for n in order if _supports(texts[n], facts[n], support, statement)), None)
        if number is None:
            dropped.append(Dropped(question, Reason.UNSUPPORTED, "no page says so in the quoted words"))
            continue
        page = excerpts[number].page
        markdown = escaped(answer)
        item = GeneratedItem(
            question,
            answer,
            source_of(page.url, support),
            page.tag,
            CONFIDENCE,
            markdown if markdown != answer else "",
        )
        items.setdefault(question_key(question), item)
    return Grounded(list(items.values()), dropped)


def _supports(text: str, facts: Mapping[str, set[str]], support: str, answer: str) -> bool:
    """Return whether a page contains the supporting sentence and all facts of the answer."""
    if len(question_key(support)) < MIN_SUPPORT or not _contains_sentence(text, _normalized(support)):
        return False
    statement = _normalized(answer)
    addresses = list(_ADDRESS.finditer(statement))
    if not all(_contains_address(text, address[0]) for address in addresses):
        return False
    for readings, unit in _facts(_ADDRESS.sub(" ", statement)):
        known = [facts[reading] for reading in readings if reading in facts]
        if not known or (unit and not any(not units or unit in units for units in known)):
            return False
    return True


def _facts(text: str) -> Iterator[tuple[set[str], str]]:
    """Yield each number of a normalized text, as all that it can mean, with its currency, `am` or `pm`."""
    for before, number, after in _FACT.findall(text):
        readings, unit = {number}, before or after
        if _GROUPED.fullmatch(number):
            readings.add(re.sub(r"\D", "", number))
        if found := _DECIMAL.fullmatch(number):
            readings.add(f"{re.sub(r'[^0-9]', '', found[1])}.{found[2].rstrip('0')}".rstrip("."))
        yield readings, _CURRENCIES.get(unit) or re.sub(r"\W", "", unit)


def _units_of(text: str) -> dict[str, set[str]]:
    """Return the numbers of a normalized text, each with its units."""
    found: dict[str, set[str]] = {}
    for readings, unit in _facts(text):
        for reading in readings:
            found.setdefault(reading, set()).update({unit} - {""})
    return found


def _plain_paragraphs(text: str) -> str:
    return "\n\n".join(filter(None, map(plain, re.split(r"\n\s*\n", text))))


def _without_step_numbers(answer: str) -> str:
    """Return an answer without the numbers of its steps from 1 on, which the page need not have."""
    numbers = [int(number) for number in _STEP.findall(answer)]
    is_list = len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))
    return _STEP.sub("", answer) if is_list else answer


def _contains_sentence(text: str, sentence: str) -> bool:
    """Return whether a text contains a sentence as a whole, not as a part of one that may deny it."""
    unbroken = text.replace("\n", " ")
    start = unbroken.find(sentence)
    while start >= 0:
        # A closing mark may be part of the sentence, or missing from it.
        last = start + len(sentence.rstrip(".!?。؟।'\")]」』"))
        before = f"\n{text}"[max(0, start - 7) : start + 1]
        if _AFTER_SENTENCE.match(text, last) and _BEFORE_SENTENCE.search(before):
            return True
        start = unbroken.find(sentence, start + len(sentence))
    return False


def _contains_address(text: str, address: str) -> bool:
    """Return whether a text contains an address that is not part of a longer one."""
    value = re.escape(address.rstrip(".,:!?"))
    return re.search(rf"(?<![a-z0-9_.+@-]){value}(?![a-z0-9_@-]|\.[a-z0-9])", text) is not None


def _normalized_lines(text: str) -> str:
    return "\n".join(filter(None, map(_normalized, text.splitlines())))


def _normalized(text: str) -> str:
    """Return a text without differences of white space, case and quotation marks."""
    folded = normalized("NFKC", text).casefold()
    return " ".join(folded.translate(_PLAIN_MARKS).split())
