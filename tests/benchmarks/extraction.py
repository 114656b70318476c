"""Recall and precision of extraction on the corpus of page layouts."""

from collections.abc import Iterator
from dataclasses import dataclass

import turbohtml

from faqsvc_embed.generation.extraction.extractor import extract
from tests.benchmarks.tables import Table
from tests.generation.corpus import PARTS, Page, pages


@dataclass(frozen=True, slots=True)
class Reading:
    """A page and the pairs that were found on it."""

    page: Page
    found: frozenset[tuple[str, str]]


def readings(part: str) -> list[Reading]:
    """Extract the pairs of all pages in a part of the corpus."""
    return [_read(page) for page in pages(part)]


def _read(page: Page) -> Reading:
    url = f"https://www.example.com/{page.name.partition('.')[0]}"
    found = extract(turbohtml.parse(page.html.encode()), url).pairs
    return Reading(page, frozenset((pair.question, pair.answer) for pair in found))


def rates(measured: list[Reading]) -> tuple[float, float]:
    """Return recall, the share of expected pairs that were found, and precision, the share of found ones."""
    correct = sum(len(reading.page.expected & reading.found) for reading in measured)
    return (
        correct / sum(len(reading.page.expected) for reading in measured),
        correct / sum(len(reading.found) for reading in measured),
    )


def extraction(is_short: bool) -> Iterator[Table]:
    """Measure each part of the corpus; question and answer must be equal to the letter."""
    table = Table(
        "Extraction of questions with their answers from websites",
        {"pages": ".0f", "languages": ".0f", "recall": ".3f", "precision": ".3f"},
    )
    for part, about in list(PARTS.items())[: 1 if is_short else None]:
        measured = readings(part)
        languages = {reading.page.lang for reading in measured}
        table.add(about, len(measured), len(languages), *rates(measured))
        for reading in measured:
            for pair in reading.page.expected - reading.found:
                table.note(f"{reading.page.name}: missing: {pair}")
            for pair in reading.found - reading.page.expected:
                table.note(f"{reading.page.name}: wrong: {pair}")
    yield table
