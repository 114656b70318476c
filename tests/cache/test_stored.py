"""The document in which a copy outlives the process."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.api.reading import Validators
from faqsvc_embed.cache.stored import Copy
from tests.support import samples, strategies
from tests.support.clock import EPOCH

BASE = "https://faq.example.com"
COPY = Copy(
    FAQ.from_dict(samples.record("pricing", ("How?", "So.\n— “ünïcode”"), lang="ko", title="값")),
    "ko",
    EPOCH,
    3600.0,
    Validators('"v1"', "Sat, 21 Nov 2026 08:00:00 GMT"),
    True,
)


def read(text: str, base_url: str = BASE, slug: str = "pricing", lang: str | None = "ko") -> Copy:
    return Copy.from_json(text.encode(), base_url, slug, lang)


def test_a_copy_is_read_as_it_was_written() -> None:
    assert read(COPY.to_json(BASE)) == COPY


def test_the_document_can_be_reviewed_line_by_line() -> None:
    lines = COPY.to_json(BASE).splitlines()
    assert lines[:5] == [
        "{",
        '  "form": "faqsvc-copy/1",',
        '  "baseUrl": "https://faq.example.com",',
        '  "slug": "pricing",',
        '  "lang": "ko",',
    ]
    assert '       "answer": "So.\\n— “ünïcode”"}' in lines


@given(
    strategies.records.map(FAQ.from_dict), st.none() | st.sampled_from(["en", "ko"]), st.integers(0, 10**9)
)
def test_any_record_survives(faq: FAQ, lang: str | None, seconds: int) -> None:
    at = EPOCH + timedelta(seconds=seconds)
    copy = read(Copy(faq, lang, at, 60.0).to_json(BASE), BASE, faq.slug, lang)
    assert copy == Copy(FAQ.from_json(faq.to_json()), lang, at, 60.0)


@pytest.mark.parametrize(
    ("base_url", "slug", "lang"),
    [("https://other.example.com", "pricing", "ko"), (BASE, "legal", "ko"), (BASE, "pricing", None)],
)
def test_a_copy_of_another_faq_is_refused(base_url: str, slug: str, lang: str | None) -> None:  # L8, F7
    with pytest.raises(InvalidFAQ, match="it is the copy of another FAQ"):
        read(COPY.to_json(BASE), base_url, slug, lang)


@pytest.mark.parametrize("cut", [0, 1, 100, -3])
def test_a_truncated_copy_is_refused(cut: int) -> None:  # K17
    with pytest.raises(InvalidFAQ, match="no document"):
        read(COPY.to_json(BASE)[:cut])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("So.", "Otherwise."),
        ("2026-11-21T08", "2036-11-21T08"),
        ('"freshFor": 3600.0', '"freshFor": 9999999'),
        ('"slug": "pricing",\n  "lang"', '"slug":"pricing",\n  "lang"'),
    ],
)
def test_an_edited_copy_is_refused(old: str, new: str) -> None:  # K17
    text = COPY.to_json(BASE)
    assert text.count(old) == 1
    with pytest.raises(InvalidFAQ, match="its digest does not fit"):
        read(text.replace(old, new))


@pytest.mark.parametrize("text", ["null", "[]", "{}", '{"form": "faqsvc-copy/2"}', "[" * 100_000, "\ufeff{}"])
def test_a_foreign_document_is_refused(text: str) -> None:  # K17
    with pytest.raises(InvalidFAQ):
        read(text)
