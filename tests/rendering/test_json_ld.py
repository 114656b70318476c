"""FAQPage JSON-LD: one node, the record's own words, and no way out of a script element."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, ConfigurationError, FAQState, Item, to_json_ld, to_json_ld_string
from faqsvc_embed.rendering import answers
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import faq
from tests.support import parsed, samples
from tests.support.parsed import Parsed
from tests.support.strategies import records, visible_text

FORBIDDEN = ("<", ">", "&", "\u2028", "\u2029")

Pairs = list[tuple[str, str]]


def pairs_of(node: dict[str, Any]) -> Pairs:
    return [(entry["name"], entry["acceptedAnswer"]["text"]) for entry in node["mainEntity"]]


def merged(*faqs: FAQ) -> dict[str, Any]:
    """Return the FAQPage of several FAQs on a page."""
    nodes = parsed.json_ld(fake_embed({}).schema(*faqs))
    assert len(nodes) <= 1
    return nodes[0] if nodes else {}


def values(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [value for inner in node.values() for value in values(inner)]
    return [value for inner in node for value in values(inner)] if isinstance(node, list) else [node]


def test_a_record_is_one_faq_page_of_questions_with_one_answer_each() -> None:
    assert to_json_ld(faq(("Why?", "Because."), ("How?", "So."))) == {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "inLanguage": "en",
        "mainEntity": [
            {"@type": "Question", "name": question, "acceptedAnswer": {"@type": "Answer", "text": answer}}
            for question, answer in (("Why?", "Because."), ("How?", "So."))
        ],
    }


def test_the_words_are_the_records_words_to_the_letter() -> None:
    record = FAQ.from_dict(samples.nasty())
    node = json.loads(to_json_ld_string(record))
    assert pairs_of(node) == [(item.question, item.answer) for item in record.items]
    assert pairs_of(to_json_ld(faq(("A &amp; B", "<b>x</b>")))) == [("A &amp; B", "<b>x</b>")]


@pytest.mark.parametrize("empty", ["", " ", "\n\t ", "\u00a0\u3000"])
def test_an_item_without_question_or_answer_is_left_out(empty: str) -> None:
    assert pairs_of(to_json_ld(faq((empty, "A"), ("Q?", empty), ("Kept?", "Yes")))) == [("Kept?", "Yes")]


def test_an_answer_that_is_only_an_image_without_words_is_left_out_and_named() -> None:
    texts = ("![](/map.png)", "- [![](/way.png)](https://heron.example)", "![Nine to five](/hours.png)")
    items = tuple(map(Item, range(3), ("Where?", "How?", "When?"), texts))
    record = FAQ("p", items=items, answer_format="markdown")
    (shown,) = parsed.json_ld(fake_embed({}).render(record))
    for node in (to_json_ld(record), shown):
        assert pairs_of(node) == [("When?", "<p>Nine to five</p>")]
    assert [index for index, _ in answers.problems(record)] == [0, 1]


@pytest.mark.parametrize("pairs", [[("", "A")], [("Q?", " "), ("\n", "")]])
def test_an_faq_without_questions_has_no_node_and_no_script(pairs: Pairs) -> None:
    record = faq(*pairs)
    assert (to_json_ld(record), to_json_ld_string(record)) == ({}, "")
    assert (to_json_ld(FAQ("p")), to_json_ld_string(FAQ("p"))) == ({}, "")
    assert fake_embed({}).schema(record, record) == fake_embed({}).schema() == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Why?", "Why?"),
        ("Why  not\n?", " Why not ? "),
        ("Caf\u00e9?", "Cafe\u0301?"),
        ("a\u00a0b?", "a b?"),
    ],
)
def test_equal_questions_are_marked_up_once_with_the_first_answer(first: str, second: str) -> None:
    assert pairs_of(to_json_ld(faq((first, "1"), (second, "2")))) == [(first, "1")]


@pytest.mark.parametrize(
    ("first", "second"),
    [("it?", "IT?"), ("x" * 1000 + "a", "x" * 1000 + "b"), ("e" + "\u0301" * 40, "\u00e9" + "\u0301" * 39)],
)
def test_other_questions_are_not_equal(first: str, second: str) -> None:
    assert len(pairs_of(to_json_ld(faq((first, "1"), (second, "2"))))) == 2


def test_an_unanswered_question_does_not_hide_its_answered_twin() -> None:
    assert pairs_of(to_json_ld(faq(("Why?", " "), ("Why?", "Because.")))) == [("Why?", "Because.")]


def test_faqs_of_a_page_are_one_node_in_document_order_each_with_its_questions() -> None:
    one, two = faq(("a?", "1"), ("b?", "2")), faq(("b?", "other"), ("c?", "3"))
    assert pairs_of(merged(one, two)) == [("a?", "1"), ("b?", "2"), ("b?", "other"), ("c?", "3")]
    assert pairs_of(merged(one, one)) == pairs_of(to_json_ld(one))


def test_the_language_is_on_each_question_of_a_page() -> None:
    ko, en, none = faq(("ko?", "1"), lang="ko"), faq(("en?", "2")), faq(("none?", "3"), lang=None)
    assert [entry.get("inLanguage") for entry in merged(ko, en, none)["mainEntity"]] == ["ko", "en", None]
    assert "inLanguage" not in merged(ko)
    assert to_json_ld(ko)["inLanguage"] == "ko"


def test_all_faqs_of_a_page_have_the_id_of_one_page_and_questions_have_that_of_their_element() -> None:
    page = parsed.json_ld(fake_embed({"p": faq()}).render("p"))[0]
    assert page["@id"] == "#faqpage"
    first = page["mainEntity"][0]
    assert (first["@id"], first["acceptedAnswer"]["@id"]) == (
        "#faq-pricing--what",
        "#faq-pricing--what-answer",
    )


@given(records)
def test_no_value_is_null_or_empty(record: dict[str, Any]) -> None:
    node = to_json_ld(FAQ.from_dict({**record, "cta": None}))
    assert all(isinstance(value, str) and value.strip() for value in values(node))
    assert not node or node["mainEntity"]


@given(st.lists(st.tuples(visible_text, visible_text), min_size=1, max_size=6))
def test_the_string_is_safe_and_means_the_same(pairs: Pairs) -> None:
    assert_safe(faq(*pairs))


@pytest.mark.parametrize("breaker", samples.NASTY_TEXTS, ids=ascii)
def test_no_text_can_end_the_script_element(breaker: str) -> None:
    assert_safe(faq((breaker, breaker), (f"x{breaker}y", f"{breaker}{breaker}"), title=breaker, slug=breaker))


def assert_safe(record: FAQ) -> None:
    text = to_json_ld_string(record)
    assert not any(character in text for character in FORBIDDEN)
    text.encode()
    assert json.loads(text) == to_json_ld(record)
    page = Parsed(f'{fake_embed({}).schema(record)}<p id="sentinel">after</p>')
    script, sentinel = page.root
    assert (script.tag, script.attrib) == ("script", {"type": "application/ld+json"})
    assert not any(character in script.text for character in FORBIDDEN)
    assert json.loads(script.text) == {**parsed.nodes_of(record), "@id": "#faqpage"}
    assert (sentinel.tag, sentinel.text) == ("p", "after")


def test_a_long_text_is_escaped_to_its_end() -> None:
    text = "<&>\u2028" * 40_000
    assert_safe(faq(("Q?", text)))


def test_a_node_is_the_callers_own() -> None:
    record = faq(("Q?", "A"))
    to_json_ld(record)["mainEntity"].clear()
    assert len(to_json_ld(record)["mainEntity"]) == 1


@pytest.mark.system
def test_the_same_record_gives_the_same_bytes_in_any_process() -> None:
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


@pytest.mark.parametrize("make", [to_json_ld, to_json_ld_string])
@pytest.mark.parametrize("wrong", [None, "pricing", FAQState(is_fetching=True)])
def test_anything_but_a_record_is_refused(make: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(ConfigurationError, match=type(wrong).__name__):
        make(wrong)
    with pytest.raises(ConfigurationError, match=r"FAQ\.from_dict"):
        make({"slug": "pricing", "items": []})


def test_the_questions_are_in_the_order_of_the_page_in_both_formats() -> None:
    items = (Item(0, "A", "a", "X"), Item(1, "B", "b"), Item(2, "C", "c", "X"))
    for record in (FAQ("p", items=items), FAQ("p", items=items, answer_format="markdown")):
        (shown,) = parsed.json_ld(fake_embed({}).render(record))
        for node in (to_json_ld(record), json.loads(to_json_ld_string(record)), shown):
            assert [name for name, _ in pairs_of(node)] == ["A", "C", "B"]


def test_equal_questions_of_one_section_are_marked_up_once_and_those_of_two_twice() -> None:
    items = (Item(0, "A", "a", "X"), Item(1, "A", "b", "X"), Item(2, "A", "c", "Y"))
    record = FAQ("p", items=items)
    (shown,) = parsed.json_ld(fake_embed({}).render(record))
    for node in (to_json_ld(record), shown):
        assert pairs_of(node) == [("A", "a"), ("A", "c")]
