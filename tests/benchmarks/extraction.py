"""Recall and precision of extraction on the corpus of page layouts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import turbohtml

from faqsvc_embed.generation.extraction.extractor import extract
from tests.benchmarks.tables import Table

CORPUS: Final = Path(__file__).parents[1] / "generation" / "corpus"
PARTS: Final = {
    "known": "layouts that extraction was developed on",
    "held_out": "first set of new layouts: recall 0.865 and precision 0.970 at first",
    "small": "single shapes: recall and precision 0.93 at first",
    "systems": "content management systems in seventeen languages: recall 0.70 at first",
    "web": "page builders, help centres, mixed shapes: recall 0.670 and precision 0.869 at first",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """The pairs that were found on a page, and those that are on it."""

    name: str
    expected: frozenset[tuple[str, str]]
    found: frozenset[tuple[str, str]]


def readings(part: str) -> list[Reading]:
    """Extract the pairs of all pages in a part of the corpus."""
    return [_read(page) for page in sorted((CORPUS / part).glob("*.html"))]


def _read(page: Path) -> Reading:
    expected = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    url = f"https://www.example.com/{page.name.split('.')[0]}"
    found = extract(turbohtml.parse(page.read_bytes()), url).pairs
    return Reading(
        page.stem,
        frozenset((pair["question"], pair["answer"]) for pair in expected),
        frozenset((pair.question, pair.answer) for pair in found),
    )


def rates(measured: list[Reading]) -> tuple[float, float]:
    """Return recall, the share of expected pairs that were found, and precision, the share of found ones."""
    correct = sum(len(reading.expected & reading.found) for reading in measured)
    return (
        correct / sum(len(reading.expected) for reading in measured),
        correct / sum(len(reading.found) for reading in measured),
    )


def extraction() -> Iterator[Table]:
    """Measure each part of the corpus; question and answer must be equal to the letter."""
    table = Table(
        "Extraction of questions with their answers from websites",
        {"pages": ".0f", "languages": ".0f", "recall": ".3f", "precision": ".3f"},
    )
    for part, about in PARTS.items():
        measured = readings(part)
        languages = {reading.name.rpartition(".")[2] for reading in measured}
        table.add(about, len(measured), len(languages), *rates(measured))
        for reading in measured:
            for pair in reading.expected - reading.found:
                table.note(f"{reading.name}: missing: {pair}")
            for pair in reading.found - reading.expected:
                table.note(f"{reading.name}: wrong: {pair}")
    yield table
