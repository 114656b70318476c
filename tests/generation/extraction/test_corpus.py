"""The corpus of page layouts, and the recall and precision of extraction on it."""

from functools import cache

import pytest

from faqsvc_embed.languages import LANGUAGES
from tests.benchmarks import extraction
from tests.generation.corpus import PARTS

readings = cache(extraction.readings)


def test_the_corpus_has_all_languages() -> None:
    assert len(readings("known")) >= 12
    languages = {reading.page.lang for reading in readings("known")}
    assert languages == set(LANGUAGES)


@pytest.mark.parametrize("part", PARTS)
def test_exactly_the_expected_pairs_of_a_layout_are_found(part: str) -> None:
    wrong = {
        reading.page.name: (reading.found - reading.page.expected, reading.page.expected - reading.found)
        for reading in readings(part)
        if reading.found != reading.page.expected
    }
    assert wrong == {}
