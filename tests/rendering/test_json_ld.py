"""FAQPage JSON-LD: one node, the record's own words, and no way out of a script element."""

import json
import subprocess
import sys
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, Item, to_json_ld, to_json_ld_string
from faqsvc_embed.rendering.json_ld import page_node, serialise, serialised_page
from faqsvc_embed.runtime.steps import MANY, MUCH, finished
from tests.support import samples
from tests.support.strategies import any_text, records, visible_text

FORBIDDEN = ("<", ">", "&", "\u2028", "\u2029")


def faq(*pairs: tuple[str, str], slug: str = "p", lang: str | None = "en") -> FAQ:
    return FAQ(slug, lang=lang, items=tuple(Item(index, q, a) for index, (q, a) in enumerate(pairs)))


def questions(node: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["name"], entry["acceptedAnswer"]["text"]) for entry in node["mainEntity"]]


def values(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [value for inner in node.values() for value in values(inner)]
    if isinstance(node, list):
        return [value for inner in node for value in values(inner)]
    return [node]


def test_a_record_is_one_faq_page_of_questions_with_one_answer_each() -> None:  # J2, J3, J4, J13
    assert to_json_ld(faq(("Why?", "Because."), ("How?", "So."))) == {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "inLanguage": "en",
        "mainEntity": [
            {
                "@type": "Question",
                "name": "Why?",
                "acceptedAnswer": {"@type": "Answer", "text": "Because."},
            },
            {"@type": "Question", "name": "How?", "acceptedAnswer": {"@type": "Answer", "text": "So."}},
        ],
    }


def test_the_words_are_the_records_words_to_the_letter() -> None:  # J7, J10
    record = FAQ.from_dict(samples.nasty())
    node = json.loads(to_json_ld_string(record))
    assert questions(node) == [(item.question, item.answer) for item in record.items]
    assert questions(to_json_ld(faq(("A &amp; B", "<b>x</b>")))) == [("A &amp; B", "<b>x</b>")]


@pytest.mark.parametrize("empty", ["", " ", "\n\t ", "\u00a0\u3000"])
def test_an_item_without_question_or_answer_is_left_out(empty: str) -> None:  # J5
    assert questions(to_json_ld(faq((empty, "A"), ("Q?", empty), ("Kept?", "Yes")))) == [("Kept?", "Yes")]


@pytest.mark.parametrize("record", [faq(), faq(("", "A")), faq(("Q?", " "), ("\n", ""))])
def test_where_nothing_remains_there_is_no_node_and_no_text(record: FAQ) -> None:  # J5, J16
    assert to_json_ld(record) == {}
    assert to_json_ld_string(record) == ""
    assert page_node([record, record]) == {}
    assert page_node([]) == {}


def test_questions_come_in_the_order_of_their_positions() -> None:  # J6
    items = (Item(7, "last?", "A"), Item(0, "first?", "A"), Item(7, "tie?", "A"))
    assert [q for q, _ in questions(to_json_ld(FAQ("p", items=items)))] == ["first?", "last?", "tie?"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Why?", "Why?"),
        ("Why  not\n?", " Why not ? "),
        ("Caf\u00e9?", "Cafe\u0301?"),
        ("a\u00a0b?", "a b?"),
    ],
)
def test_equal_questions_are_marked_up_once_with_the_first_answer(first: str, second: str) -> None:  # J12
    assert questions(to_json_ld(faq((first, "1"), (second, "2")))) == [(first, "1")]
    assert questions(page_node([faq((first, "1")), faq((second, "2"), slug="q")])) == [(first, "1")]


def test_questions_that_differ_in_case_are_two() -> None:  # J12
    assert len(questions(to_json_ld(faq(("it?", "1"), ("IT?", "2"))))) == 2


def test_an_unanswered_question_does_not_hide_its_answered_twin() -> None:  # J5, J12
    assert questions(to_json_ld(faq(("Why?", " "), ("Why?", "Because.")))) == [("Why?", "Because.")]


def test_two_faqs_of_a_page_are_one_node_in_document_order() -> None:  # J1, J12
    one, two = faq(("a?", "1"), ("b?", "2")), faq(("b?", "other"), ("c?", "3"), slug="q")
    assert questions(page_node([one, two])) == [("a?", "1"), ("b?", "2"), ("c?", "3")]
    assert questions(page_node([two, one])) == [("b?", "other"), ("c?", "3"), ("a?", "1")]
    assert page_node([one, one]) == page_node([one])


def test_the_language_is_on_the_page_if_all_agree_else_on_each_question() -> None:  # J13
    ko, en, none = faq(("ko?", "1"), lang="ko"), faq(("en?", "2")), faq(("none?", "3"), lang=None)
    assert page_node([ko])["inLanguage"] == "ko"
    mixed = page_node([ko, en, none])
    assert "inLanguage" not in mixed
    assert [entry.get("inLanguage") for entry in mixed["mainEntity"]] == ["ko", "en", None]
    assert "inLanguage" not in page_node([none])
    # A record that contributes nothing has no say.
    assert page_node([en, faq(("", ""), lang="ko")])["inLanguage"] == "en"


@given(records)
def test_no_value_is_null_or_empty_or_no_number(record: dict[str, Any]) -> None:  # J3, J4, J14
    node = to_json_ld(FAQ.from_dict(record))
    assert all(isinstance(value, str) and value.strip() for value in values(node))
    assert not node or node["mainEntity"]


@given(st.lists(st.tuples(visible_text, visible_text), min_size=1, max_size=6))
def test_the_string_is_safe_and_means_the_same(pairs: list[tuple[str, str]]) -> None:  # E1, E2, E4, J17, J21
    record = faq(*pairs)
    text = to_json_ld_string(record)
    assert not any(character in text for character in FORBIDDEN)
    assert text.encode().decode() == text  # no lone surrogate
    assert json.loads(text) == to_json_ld(record)


@given(st.lists(st.tuples(visible_text, visible_text), max_size=6))
def test_a_parser_finds_one_script_its_text_unchanged_and_the_page_after_it(
    pairs: list[tuple[str, str]],
) -> None:  # E3
    assert_contained(faq(*pairs))


@pytest.mark.parametrize("breaker", samples.NASTY_TEXTS, ids=ascii)
def test_no_known_breaker_leaves_the_script_element(breaker: str) -> None:  # E3
    assert_contained(faq((breaker, breaker), (f"x{breaker}y", f"{breaker}{breaker}")))
    assert_contained(FAQ.from_dict(samples.record(breaker, (breaker, breaker), title=breaker)))


def assert_contained(record: FAQ) -> None:
    text = to_json_ld_string(record)
    page = (
        f'<!doctype html><title>t</title><body><script type="application/ld+json">{text}</script>'
        '<p id="sentinel">after</p>'
    )
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    scripts = list(tree.iter("script"))
    assert len(scripts) == 1
    assert (scripts[0].text or "") == text
    assert [element.text for element in tree.iter("p") if element.get("id") == "sentinel"] == ["after"]
    assert [child.tag for child in tree.find("body")] == ["script", "p"]


@given(st.recursive(any_text, lambda inner: st.lists(inner) | st.dictionaries(any_text, inner)))
def test_the_serialiser_escapes_wherever_a_text_stands(value: Any) -> None:  # E1, E9
    node = {"@type": "FAQPage", "x": value}
    text = serialise(node)
    assert not any(character in text for character in FORBIDDEN)
    assert json.loads(text) == node


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_have_never_leave(number: float) -> None:  # J14
    with pytest.raises(ValueError, match="JSON"):
        serialise({"x": number})


def test_a_node_is_the_callers_own() -> None:
    record = faq(("Q?", "A"))
    to_json_ld(record)["mainEntity"].clear()
    assert len(to_json_ld(record)["mainEntity"]) == 1


def test_the_same_record_gives_the_same_bytes_in_any_process() -> None:  # J15
    code = (
        "from faqsvc_embed import FAQ, to_json_ld_string; from tests.support import samples; import sys;"
        "sys.stdout.buffer.write(to_json_ld_string(FAQ.from_dict(samples.nasty())).encode())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
        ).stdout
        for seed in ("0", "1")
    }
    assert texts == {to_json_ld_string(FAQ.from_dict(samples.nasty())).encode()}


@given(st.lists(records, max_size=3))
def test_a_script_made_in_steps_is_the_page_node_serialised(some: list[dict[str, Any]]) -> None:  # E3
    faqs = [FAQ.from_dict({**record, "cta": None}) for record in some]
    assert finished(serialised_page(faqs)) == serialise(page_node(faqs))


@pytest.mark.parametrize("count", [1, MANY, 2 * MANY + 1])
@pytest.mark.parametrize("length", [1, MUCH // MANY, MUCH - 1, 2 * MUCH + 1])
def test_the_steps_of_a_script_leave_no_trace(count: int, length: int) -> None:
    text = ("<&é\u2028" * length)[:length]
    record = faq(*((f"{number}?", text) for number in range(count if length < MUCH else 2)))
    assert finished(serialised_page([record])) == serialise(page_node([record]))


def test_every_character_is_written_alike_in_steps_and_at_once() -> None:
    record = faq(("Q?", "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000)]))))
    assert finished(serialised_page([record])) == serialise(page_node([record]))
