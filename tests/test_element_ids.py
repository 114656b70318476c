"""Ids in a page: ASCII, made of slug and question, the same in any order, and never twice."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed import Item
from faqsvc_embed.models.element_ids import MAX_WORDS, question_names, root_id
from tests.support.strategies import any_text

FORM = re.compile(r"faq-[a-z0-9_-]+")

plain_slugs = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
slugs = plain_slugs | any_text.filter(bool)
alike = st.text(string.ascii_letters + "0123 ?!-_", max_size=6)
"""Short texts that often have the same words without being equal."""


@pytest.mark.parametrize(
    ("slug", "ordinal", "expected"),
    [
        ("pricing", 0, "faq-pricing"),
        ("pricing", 2, "faq-pricing__2"),
        ("my-shop-2", 0, "faq-my-shop-2"),
        ("pricing-2", 12, "faq-pricing-2__12"),
        ("Pricing", 0, "faq-pricing_dfe95783edfef791"),
        ("a b", 0, "faq-a-b_c8687a08aa5d6ed2"),
        ("a--b", 0, "faq-a-b_90827a2e56361a8f"),
    ],
)
def test_an_faq_is_found_by_its_slug(slug: str, ordinal: int, expected: str) -> None:
    assert root_id(slug, ordinal) == expected


def item(question: str, item_id: str | None = None) -> Item:
    return Item(0, question, "Yes.", id=item_id)


def ids_of(slug: str, items: Sequence[Item], ordinal: int = 0) -> list[str]:
    return [f"{root_id(slug, ordinal)}--{name}" for name in question_names(items)]


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 0) -> list[str]:
    """Return the ids of questions whose items have none."""
    return ids_of(slug, [item(question) for question in questions], ordinal)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does it cost?", "what-does-it-cost"),
        ("  Is there a “free” plan?  ", "is-there-a-free-plan"),
        ("Passé composé?", "passe-compose"),
        ("Kann ich zurückgeben? Äpfel, O\u0308l, Straße", "kann-ich-zurueckgeben-aepfel-oel-strasse"),
        ("Où êtes-vous situés ? Au cœur", "ou-etes-vous-situes-au-coeur"),
        ("¿Cuánto cuesta el envío a España?", "cuanto-cuesta-el-envio-a-espana"),
        ("404?", "404"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
    ],
)
def test_a_question_is_found_by_its_words(question: str, expected: str) -> None:
    assert question_ids("pricing", [question]) == [f"faq-pricing--{expected}"]


@pytest.mark.parametrize("question", ["비용이 얼마인가요?", "料金は？", "Что?", "?!", "1€ в день"])
def test_words_beyond_ascii_are_told_apart_by_a_digest(question: str) -> None:
    (found,) = question_ids("pricing", [question])
    assert re.fullmatch(r"faq-pricing--([a-z0-9-]+_)?[0-9a-f]{8}", found)
    assert question_ids("pricing", [question + "!"]) != [found]


@pytest.mark.parametrize("words", ["word " * 100, "x" * 50, "word " * 1_000, "語" * 2_000])
def test_a_long_question_has_a_short_id_of_its_own(words: str) -> None:
    ids = question_ids("p", [f"{words}one one one", f"{words}two two two"])
    assert len(set(ids)) == 2
    assert all(len(found) <= len("faq-p--") + MAX_WORDS + 2 * len("-01234567") for found in ids)


def test_identical_questions_are_numbered() -> None:
    assert question_ids("p", ["Why?", "How?", "Why?", "Why?"]) == [
        "faq-p--why_5d8a995a",
        "faq-p--how",
        "faq-p--why_5d8a995a__2",
        "faq-p--why_5d8a995a__3",
    ]


def test_the_id_of_a_question_does_not_change_with_the_release() -> None:
    """Links to questions are published: in llms.txt, in mails, in search results."""
    assert question_ids("p", ["料金は？", "a" * 70, "é" * 1_500, "x" + "y " * 4_000]) == [
        "faq-p--be290667",
        f"faq-p--{'a' * 60}_6bd5e503",
        f"faq-p--{'e' * 60}_3a3a2d04",
        f"faq-p--x{'y-' * 29}y_83e45c7a",
    ]


def test_a_long_question_is_cut_between_words() -> None:
    question = "How long does it usually take until my order arrives in another country?"
    (found,) = question_ids("p", [question])
    assert found.startswith("faq-p--how-long-does-it-usually-take-until-my-order-arrives-in_")


def test_an_item_keeps_its_id_when_its_question_changes() -> None:
    items = [item("Ship"), item("How?", "ship"), item("ship!")]
    ids = ids_of("p", items)
    assert ids[1] == "faq-p--ship"
    assert len(set(ids)) == 3
    edited = [items[0], item("Do you ship?", "ship")]
    assert ids_of("p", edited)[1] == "faq-p--ship"


ascii_text = st.text(st.characters(max_codepoint=0x7F), max_size=80)


@given(st.lists(ascii_text | alike, max_size=8))
@example(["a", "???", "", " b ", "c" * 61, "d" + " " * 1000, "-e-"])
@example(["a\0b", "c"])
def test_a_question_in_ascii_has_one_id_whatever_the_script_of_others(questions: list[str]) -> None:
    assert question_ids("faq", [*questions, "\uac00"])[:-1] == question_ids("faq", questions)


@given(slugs, st.lists(any_text | alike, unique=True, max_size=8), st.randoms())
def test_an_id_does_not_depend_on_the_order_of_the_questions(
    slug: str, questions: list[str], random: Random
) -> None:
    ids = dict(zip(questions, question_ids(slug, questions), strict=True))
    random.shuffle(questions)
    assert question_ids(slug, questions) == [ids[question] for question in questions]


@given(st.lists(st.tuples(slugs, st.lists(any_text | alike, max_size=6)), max_size=6), st.data())
@example([("x", ["2?", "b"]), ("x", ["2?", "b"])], None)
@example([("p", ["Why?", "Why?", "Why!", "why 5d8a995a", "why 5d8a995a 2"])] * 3, None)
@example([("Pricing", ["2"]), ("pricing-dfe95783edfef791", ["2"]), ("pricing-2", []), ("pricing", [])], None)
@example([("料金", ["料金"]), ("1", ["b4b09e38"]), ("料金", ["料金", "1"])], None)
def test_no_two_ids_of_a_page_are_the_same(
    faqs: list[tuple[str, list[str]]], data: st.DataObject | None
) -> None:
    if data is not None and faqs:  # the same FAQs again, in any order
        faqs += data.draw(st.lists(st.sampled_from(faqs), max_size=4))
    ids, seen = list[str](), Counter[str]()
    for slug, questions in faqs:
        seen[slug] += 1
        ids += [root_id(slug, seen[slug]), *question_ids(slug, questions, seen[slug])]
    assert len(set(ids)) == len(ids)
    assert all(FORM.fullmatch(found) for found in ids)


@given(any_text.filter(bool), any_text.filter(bool))
def test_two_slugs_share_no_id(one: str, other: str) -> None:
    same = one.encode("utf-8", "replace") == other.encode("utf-8", "replace")
    assert (root_id(one) == root_id(other)) is same
