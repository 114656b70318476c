"""The document in which a record outlives the process."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.api.cache_control import CacheControl
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ
from tests.support import samples, strategies
from tests.support.clock import EPOCH

BASE = "https://faq.example.com"
STORED = StoredFAQ(
    FAQ.from_dict(samples.record("pricing", ("How?", "So.\n— “ünïcode”"), lang="ko", title="값")),
    "ko",
    EPOCH,
    3600.0,
    Validators('"v1"', "Sat, 21 Nov 2026 08:00:00 GMT"),
    CacheControl(7200.0),
)
DOCUMENT = STORED.to_json(BASE)


def read(text: str, base_url: str = BASE, slug: str = "pricing", lang: str | None = "ko") -> StoredFAQ:
    return StoredFAQ.from_json(text.encode(), base_url, Key(slug, lang))


def test_a_record_is_read_as_it_was_written() -> None:
    assert read(DOCUMENT) == STORED


def test_line_ends_may_be_changed_by_version_control() -> None:
    assert read(DOCUMENT.replace("\n", "\r\n")) == STORED


def test_the_document_can_be_reviewed_line_by_line() -> None:
    lines = [line.strip() for line in DOCUMENT.splitlines()]
    assert '"answer": "So.\\n— “ünïcode”"' in lines
    assert '"slug": "pricing",' in lines


@given(
    strategies.records.map(FAQ.from_dict), st.none() | st.sampled_from(["en", "ko"]), st.integers(0, 10**9)
)
def test_any_record_survives(faq: FAQ, lang: str | None, seconds: int) -> None:
    at = EPOCH + timedelta(seconds=seconds)
    stored = read(StoredFAQ(faq, lang, at, 60.0).to_json(BASE), BASE, faq.slug, lang)
    assert stored == StoredFAQ(FAQ.from_json(faq.to_json()), lang, at, 60.0)


@pytest.mark.parametrize(
    ("base_url", "slug", "lang"),
    [("https://other.example.com", "pricing", "ko"), (BASE, "legal", "ko"), (BASE, "pricing", None)],
)
def test_a_record_of_another_faq_is_refused(base_url: str, slug: str, lang: str | None) -> None:
    with pytest.raises(InvalidFAQ):
        read(DOCUMENT, base_url, slug, lang)


def test_a_document_that_contains_the_record_of_another_faq_is_refused() -> None:
    document = StoredFAQ(FAQ.from_dict(samples.record("legal")), None, EPOCH, 60.0).to_json(BASE)
    with pytest.raises(InvalidFAQ):
        read(document, slug="pricing", lang=None)


@pytest.mark.parametrize("cut", [0, 1, 100, -3])
def test_a_truncated_document_is_refused(cut: int) -> None:
    with pytest.raises(InvalidFAQ):
        read(DOCUMENT[:cut])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("So.", "Otherwise."),
        ("2026-11-21T08", "2036-11-21T08"),
        ('"freshFor": 3600.0', '"freshFor": 9999999'),
        ('"slug": "pricing",\n  "lang"', '"slug":"pricing",\n  "lang"'),
    ],
)
def test_an_edited_document_is_refused(old: str, new: str) -> None:
    assert DOCUMENT.count(old) == 1
    with pytest.raises(InvalidFAQ):
        read(DOCUMENT.replace(old, new))


@pytest.mark.parametrize("text", ["null", "[]", "{}", '{"form": "faqsvc-copy/2"}', "[" * 100_000, "\ufeff{}"])
def test_a_foreign_document_is_refused(text: str) -> None:
    with pytest.raises(InvalidFAQ):
        read(text)
