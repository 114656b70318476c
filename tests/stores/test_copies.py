"""The document in which a copy outlives the process."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.copies import Copy
from faqsvc_embed.wire import Validators
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
    return Copy.from_json(text, base_url, slug, lang)


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
    assert '        "answer": "So.\\n— “ünïcode”"' in lines


@given(
    strategies.records.map(FAQ.from_dict), st.none() | st.sampled_from(["en", "ko"]), st.integers(0, 10**9)
)
def test_any_record_survives(faq: FAQ, lang: str | None, seconds: int) -> None:
    copy = Copy(faq, lang, EPOCH + timedelta(seconds=seconds), 60.0)
    assert Copy.from_json(copy.to_json(BASE), BASE, faq.slug, lang) == copy


@pytest.mark.parametrize(
    ("base_url", "slug", "lang"),
    [("https://other.example.com", "pricing", "ko"), (BASE, "legal", "ko"), (BASE, "pricing", None)],
)
def test_a_copy_of_another_faq_is_refused(base_url: str, slug: str, lang: str | None) -> None:  # L8, F7
    with pytest.raises(InvalidFAQ, match="it is the copy of another FAQ"):
        read(COPY.to_json(BASE), base_url, slug, lang)


@pytest.mark.parametrize("cut", [0, 1, 100, -3])
def test_a_truncated_copy_is_refused(cut: int) -> None:  # K17
    with pytest.raises(InvalidFAQ, match="not JSON"):
        read(COPY.to_json(BASE)[:cut])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("faq", "items", 0, "answer"), "Otherwise."),
        (("confirmedAt",), "2036-11-21T08:00:00+00:00"),
        (("freshFor",), 10**9),
        (("digest",), None),
    ],
)
def test_an_edited_copy_is_refused(path: tuple[str | int, ...], value: object) -> None:  # K17
    document = json.loads(COPY.to_json(BASE))
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(InvalidFAQ, match="its digest does not fit"):
        read(json.dumps(document))


@pytest.mark.parametrize("text", ["null", "[]", "{}", '{"form": "faqsvc-copy/2"}', "[" * 100_000, "\ufeff{}"])
def test_a_foreign_document_is_refused(text: str) -> None:  # K17
    with pytest.raises(InvalidFAQ):
        read(text)
