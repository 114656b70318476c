"""How well extraction reads the corpus: recall and precision of questions with their answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import turbohtml

from faqsvc_embed.generation.extraction.pairs import extract
from tests.benchmarks.tables import Table

CORPUS: Final = Path(__file__).parents[1] / "generation" / "corpus"
PARTS: Final = {
    "known": "layouts that it was made with",
    "held_out": "layouts that it had not seen: recall 0.865 and precision 0.970 when it first did",
    "small": "single shapes, seen later still: recall and precision 0.93 when it first did",
    "web": "builders, help centres, mixed and glued shapes: recall 0.670 and precision 0.869 at first",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of one page, and what there is to be read."""

    name: str
    expected: frozenset[tuple[str, str]]
    found: frozenset[tuple[str, str]]


def readings(part: str) -> list[Reading]:
    """Read all pages of a part of the corpus."""
    return [_read(page) for page in sorted((CORPUS / part).glob("*.html"))]


def _read(page: Path) -> Reading:
    expected = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    found = extract(turbohtml.parse(page.read_bytes()), f"https://www.example.com/{page.name.split('.')[0]}")
    return Reading(
        page.stem,
        frozenset((pair["question"], pair["answer"]) for pair in expected),
        frozenset((pair.question, pair.answer) for pair in found),
    )


def rates(measured: list[Reading]) -> tuple[float, float]:
    """Return recall and precision: the shares of what is there that was found, and of what was found."""
    right = sum(len(reading.expected & reading.found) for reading in measured)
    return (
        right / sum(len(reading.expected) for reading in measured),
        right / sum(len(reading.found) for reading in measured),
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
                table.note(f"{reading.name}: not found: {pair}")
            for pair in reading.found - reading.expected:
                table.note(f"{reading.name}: not there: {pair}")
    yield table
