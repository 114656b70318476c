"""The corpus of page layouts, and the recall and precision of extraction on it."""

import pytest

from faqsvc_embed.languages import LANGUAGES
from tests.benchmarks.extraction import PARTS, Reading, rates, readings

CORPUS = [reading for part in PARTS for reading in readings(part)]


def test_the_corpus_has_all_languages() -> None:
    assert len(readings("known")) >= 12
    languages = {reading.name.rpartition(".")[2] for reading in readings("known")}
    assert languages == set(LANGUAGES)


def test_recall_and_precision_on_the_corpus_are_high() -> None:
    recall, precision = rates(CORPUS)

    assert recall >= 0.95
    assert precision >= 0.98


@pytest.mark.parametrize("reading", CORPUS, ids=lambda reading: reading.name)
def test_exactly_the_expected_pairs_of_a_layout_are_found(reading: Reading) -> None:
    assert reading.found == reading.expected
