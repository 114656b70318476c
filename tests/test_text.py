"""Foreign text: cleaned, compared and normalized in a time that does not depend on what is in it."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.text import PORTION, clean_text, in_portions, normalized, question_key
from tests.support.growth import grows_linearly
from tests.support.strategies import any_text

FORMS: tuple[Literal["NFC", "NFKD"], ...] = ("NFC", "NFKD")


class Subclass(str):
    """As templates, mappers and loaders make it."""

    __slots__ = ()


@given(any_text)
def test_cleaned_text_can_be_encoded_and_has_the_same_length(text: str) -> None:
    cleaned = clean_text(Subclass(text))
    assert type(cleaned) is str
    assert cleaned.encode().decode() == cleaned
    assert len(cleaned) == len(text)
    assert all(a == b or b == "\ufffd" for a, b in zip(text, cleaned, strict=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["abc", "Cafe\u0301", "料金は？", "각", "ﬁ", "é" * 40, "a" + "\u0301" * 10])
def test_ordinary_text_is_normalized(form: Literal["NFC", "NFKD"], text: str) -> None:
    assert normalized(form, text) == unicodedata.normalize(form, text)


MARKS = ["\u0301", "\u0315\u0301", "\u0300\u0316", "\uff9e", "\u0f71\u0f72", "\u1ab0", "\U0001e8d0"]


@pytest.mark.parametrize("marks", MARKS, ids=ascii)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_combining_marks_costs_no_more_than_its_length(
    form: Literal["NFC", "NFKD"], marks: str
) -> None:
    """Python sorts such a run by insertion: 64 kB take two seconds, in which no other thread runs."""
    assert grows_linearly(
        lambda text: normalized(form, text), lambda count: "a" + marks * (count // len(marks)), 5_000
    )


@given(any_text, any_text)
def test_equal_questions_have_equal_keys(text: str, other: str) -> None:
    assert question_key(f" {text}\n") == question_key(text.strip() if text.strip() else text)
    if " ".join(unicodedata.normalize("NFC", text).split()) != " ".join(
        unicodedata.normalize("NFC", other).split()
    ):
        assert question_key(text) != question_key(other)


@given(st.lists(st.sampled_from(["a", "é", "<", "𝄞", "\ud800"])), st.integers(-2, 2))
def test_a_text_is_converted_portion_by_portion(pieces: list[str], shift: int) -> None:
    text = "x" * (PORTION + shift) + "".join(pieces) + "<" * 10
    parts = list[str]()

    def convert(part: str) -> str:
        parts.append(part)
        return part.replace("<", "&lt;")

    assert in_portions(convert, text) == text.replace("<", "&lt;")
    assert "".join(parts) == text
    assert max(map(len, parts)) <= PORTION
