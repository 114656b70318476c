"""Ids in a page: ASCII, made of slug and question, the same in any order, and never twice."""

import re
import string
from collections import Counter
from hashlib import sha256
from itertools import permutations
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed.rendering import element_ids as anchors
from faqsvc_embed.rendering.element_ids import LONGEST_QUESTION, LONGEST_WORDS, block_id, question_ids
from tests.support.strategies import any_text

FORM = re.compile(r"faq-[a-z0-9_-]+")

plain_slugs = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
slugs = plain_slugs | any_text.filter(bool)
alike = st.text(string.ascii_letters + "0123 ?!-_", max_size=6)
"""Short texts that often read alike without being the same."""


@pytest.mark.parametrize(
    ("slug", "ordinal", "expected"),
    [
        ("pricing", 1, "faq-pricing"),
        ("pricing", 2, "faq-pricing__2"),
        ("my-shop-2", 1, "faq-my-shop-2"),
        ("pricing-2", 12, "faq-pricing-2__12"),
        ("Pricing", 1, "faq-pricing_dfe95783edfef791"),
        ("a b", 1, "faq-a-b_c8687a08aa5d6ed2"),
        ("a--b", 1, "faq-a-b_90827a2e56361a8f"),
    ],
)
def test_a_block_is_found_by_its_slug(slug: str, ordinal: int, expected: str) -> None:  # P3
    assert block_id(slug, ordinal) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does it cost?", "what-does-it-cost"),
        ("  Is there a “free” plan?  ", "is-there-a-free-plan"),
        ("Passé composé?", "passe-compose"),
        ("404?", "404"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
    ],
)
def test_a_question_is_found_by_its_words(question: str, expected: str) -> None:  # P3
    assert question_ids("pricing", [question]) == [f"faq-pricing--{expected}"]


@pytest.mark.parametrize("question", ["비용이 얼마인가요?", "料金は？", "Что?", "?!", "Straße", "1€ в день"])
def test_what_ascii_cannot_say_is_told_apart_by_a_digest(question: str) -> None:  # P3
    (anchor,) = question_ids("pricing", [question])
    assert re.fullmatch(r"faq-pricing--([a-z0-9-]+_)?[0-9a-f]{8}", anchor)
    assert question_ids("pricing", [question + "!"]) != [anchor]


def test_a_long_question_is_cut_and_still_told_apart() -> None:  # P3
    first, second = question_ids("p", ["word " * 100 + "one", "word " * 100 + "two"])
    assert first != second
    assert all(
        len(anchor) <= len("faq-p--") + LONGEST_WORDS + 2 * len("-01234567") for anchor in (first, second)
    )


def test_questions_that_read_alike_keep_their_ids_in_any_order() -> None:  # P3
    questions = ["Why?", "Why!", "why", "How?"]
    ids = dict(zip(questions, question_ids("p", questions), strict=True))
    assert len(set(ids.values())) == 4
    for order in permutations(questions):
        assert question_ids("p", order) == [ids[question] for question in order]


def test_the_same_question_twice_is_told_apart_by_counting() -> None:  # A14, P3
    assert question_ids("p", ["Why?", "How?", "Why?", "Why?"]) == [
        "faq-p--why_5d8a995a",
        "faq-p--how",
        "faq-p--why_5d8a995a__2",
        "faq-p--why_5d8a995a__3",
    ]


@given(slugs, st.lists(any_text, max_size=8), st.integers(1, 30))
def test_ids_are_ascii_and_need_no_escaping_anywhere(
    slug: str, questions: list[str], ordinal: int
) -> None:  # P3
    for anchor in [block_id(slug, ordinal), *question_ids(slug, questions, ordinal)]:
        assert FORM.fullmatch(anchor)


ascii_text = st.text(st.characters(max_codepoint=0x7F), max_size=80)


@given(st.lists(ascii_text | alike, max_size=8))
@example(["a", "???", "", " b ", "c" * 61, "d" + " " * 1000, "-e-"])
@example(["a\0b", "c"])
def test_a_question_in_ascii_has_one_id_whatever_the_script_of_others(questions: list[str]) -> None:  # P3
    assert question_ids("faq", [*questions, "\uac00"])[:-1] == question_ids("faq", questions)


def test_of_a_long_question_only_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:  # D13
    read, words = list[int](), anchors._words

    def noted(text: str) -> str:
        read.append(len(text))
        return words(text)

    monkeypatch.setattr(anchors, "_words", noted)
    question = "a " * 500_000
    digest = sha256(question.encode()).hexdigest()[:8]
    assert question_ids("faq", [question]) == [f"faq-faq--{'a-' * 29}a_{digest}"]
    assert max(read) == LONGEST_QUESTION


@given(slugs, st.lists(any_text | alike, unique=True, max_size=8), st.randoms())
def test_an_id_does_not_depend_on_the_order_of_the_questions(
    slug: str,
    questions: list[str],
    random: Random,
) -> None:  # P3
    ids = dict(zip(questions, question_ids(slug, questions), strict=True))
    random.shuffle(questions)
    assert question_ids(slug, questions) == [ids[question] for question in questions]


@given(st.lists(st.tuples(slugs, st.lists(any_text | alike, max_size=6)), max_size=6), st.data())
@example([("x", ["2?", "b"]), ("x", ["2?", "b"])], None)
@example([("p", ["Why?", "Why?", "Why!", "why 5d8a995a", "why 5d8a995a 2"])] * 3, None)
@example([("Pricing", ["2"]), ("pricing-dfe95783edfef791", ["2"]), ("pricing-2", []), ("pricing", [])], None)
@example([("料金", ["料金"]), ("1", ["b4b09e38"]), ("料金", ["料金", "1"])], None)
def test_no_two_ids_of_one_page_are_the_same(
    blocks: list[tuple[str, list[str]]], data: st.DataObject | None
) -> None:  # A14, P3
    """Whatever is asked, and whichever FAQs stand on a page, however often."""
    if data is not None and blocks:  # the same FAQs again, in any order
        blocks += data.draw(st.lists(st.sampled_from(blocks), max_size=4))
    ids, seen = list[str](), Counter[str]()
    for slug, questions in blocks:
        seen[slug] += 1
        ids += [block_id(slug, seen[slug]), *question_ids(slug, questions, seen[slug])]
    assert len(set(ids)) == len(ids)
    assert all(FORM.fullmatch(anchor) for anchor in ids)


@given(any_text.filter(bool), any_text.filter(bool))
def test_two_slugs_share_no_id(one: str, other: str) -> None:  # A14
    same = one.encode("utf-8", "replace") == other.encode("utf-8", "replace")
    assert (block_id(one) == block_id(other)) is same
