"""What is refused before a byte is sent, and what is sent."""

import contextlib
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import Item, PublishRejected
from faqsvc_embed.api.publish_request import encode, generate_request, publish_body, publish_request
from faqsvc_embed.api.publish_response import GeneratedItem
from tests.service.bodies import parsed
from tests.support.strategies import any_text, odd_values

GOOD: dict[str, Any] = {
    "website_url": "https://www.tea.example",
    "website_name": "Tea & Sons",
    "items": [("What does it cost?", "Nothing."), ("May I cancel?", "Any time.")],
}
BODY = {
    "websiteUrl": "https://www.tea.example",
    "websiteName": "Tea & Sons",
    "items": [
        {"question": "What does it cost?", "answer": "Nothing."},
        {"question": "May I cancel?", "answer": "Any time."},
    ],
}


def body(**changes: Any) -> dict[str, Any]:
    """Return the body of a good publication, changed so."""
    return publish_body(**{**GOOD, **changes})


def problems(**changes: Any) -> list[str]:
    """Return why a good publication, changed so, is refused."""
    with pytest.raises(PublishRejected) as caught:
        body(**changes)
    return list(caught.value.problems)


def fields(problems: list[str]) -> list[str]:
    """Return the names that problems begin with."""
    return [problem.partition(" ")[0] for problem in problems]


@pytest.mark.parametrize(
    "items",
    [
        GOOD["items"],
        [list(pair) for pair in GOOD["items"]],
        [{"question": q, "answer": a, "position": 7, "section": None} for q, a in GOOD["items"]],
        [Item(9, q, a) for q, a in GOOD["items"]],
        [GeneratedItem(9, q, a, source="https://www.tea.example/#faq") for q, a in GOOD["items"]],
        iter(GOOD["items"]),
    ],
    ids=["pairs", "lists", "mappings", "items", "generated items", "an iterator"],
)
def test_items_are_accepted_in_many_forms_and_sent_in_one(items: Any) -> None:
    assert body(items=items) == BODY


def test_the_problem_with_an_item_of_another_form_names_the_required_fields() -> None:
    assert problems(items=[("a", "b", "c")]) == [
        "items[0] is ('a', 'b', 'c'): an object with question and answer is accepted"
    ]


def test_optional_fields_are_sent_only_if_given() -> None:
    assert body() == BODY
    given = {"lang": "ko", "title": "Prices", "slug": "pricing"}
    assert body(**given, idempotency_key="one") == {**BODY, **given}


def test_a_language_with_a_region_is_that_language() -> None:
    assert body(lang="en-US")["lang"] == "en"
    assert json.loads(generate_request("", "https://tea.example", lang="de_CH").body)["lang"] == "de"


def test_an_unknown_field_is_an_error_of_the_caller() -> None:
    with pytest.raises(TypeError):
        publish_body(**GOOD, titel="Prices")  # type: ignore[call-arg]


def test_every_problem_is_reported_at_once_with_the_index_of_its_item() -> None:
    items = [
        ("", "answer"),
        ("Twice?", " \n"),
        {"question": "No answer?"},
        {"question": 1, "answer": None},
        ("x" * 1001, "y" * 20_001),
        ("Once?", "again"),
        "no item",
        ("NUL\0?", "half a pair \ud83d"),
        ("a", "b", "c"),
    ]
    found = problems(items=items, website_url="tea.example", website_name=" ", lang="xx", slug="a/b")
    assert fields(found) == [
        "websiteUrl",
        "websiteName",
        "items[0].question",
        "items[1].answer",
        "items[2].answer",
        "items[3].question",
        "items[3].answer",
        "items[4].question",
        "items[4].answer",
        "items[6]",
        "items[7].question",
        "items[7].answer",
        "items[8]",
        "lang",
        "slug",
    ]
    text = "\n".join(found)
    named = (
        "tea.example",
        "1,001",
        "1,000",
        "20,001",
        "20,000",
        "items[1]",
        "U+0000",
        "U+D83D",
        "'xx'",
        "ko, zh",
        "a/b",
    )
    assert [value for value in named if value not in text] == []


def test_the_message_names_the_first_problems_and_counts_the_others() -> None:
    with pytest.raises(PublishRejected, match=r"items\[4\].*2 more") as caught:
        body(items=[("", "a")] * 7)
    assert "items[5]" not in str(caught.value)


@pytest.mark.parametrize(
    "items", [None, [], "text", {"question": "q", "answer": "a"}, 7, itertools.repeat(("q", "a"))]
)
def test_items_must_be_a_list_of_1_to_1000(items: Any) -> None:
    assert fields(problems(items=items)) == ["items"]


def test_the_same_question_may_be_asked_twice() -> None:
    assert len(body(items=[("How?", "one"), (" How? ", "two")])["items"]) == 2


def test_questions_that_differ_in_case_are_two() -> None:
    body(items=[("Ok?", "a"), ("OK?", "a")])


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        7,
        "tea.example",
        "ftp://tea.example",
        "javascript:alert(1)",
        "https://",
        "https:// tea.example",
        "https://tea.example/a b",
        "https://tea.example/\n",
        "http://[::1",
        "https://tea.example:99999",
        "https://tea.example/" + "x" * 2000,
    ],
)
def test_an_invalid_address_is_refused(url: Any) -> None:
    assert fields(problems(website_url=url)) == ["websiteUrl"]


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "kéy", "a\nb", 7])
def test_an_idempotency_key_that_no_header_could_carry_is_refused(key: Any) -> None:
    assert fields(problems(idempotency_key=key)) == ["idempotency_key"]


def test_a_body_that_is_too_large_is_refused() -> None:
    (found,) = problems(items=[(f"Question {n}?", "x" * 20_000) for n in range(60)])
    assert "1000000" in found


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=4), any_text, any_text)
def test_our_service_accepts_the_requests_of_the_client(
    items: list[tuple[str, str]], name: str, title: str
) -> None:
    try:
        sent = publish_body(website_url="https://tea.example", website_name=name, items=items, title=title)
    except PublishRejected:
        return
    read = parsed(encode(sent))
    assert [(item.question, item.answer) for item in read.items] == items


@given(odd_values, odd_values, odd_values, odd_values)
def test_any_argument_is_refused_or_sent(url: Any, items: Any, name: Any, lang: Any) -> None:
    with contextlib.suppress(PublishRejected):
        publish_request("", website_url=url, website_name=name, items=items, lang=lang)


# Generation


def test_every_problem_of_a_request_to_generate_is_reported_at_once() -> None:
    with pytest.raises(PublishRejected) as caught:
        generate_request("", "tea", lang="xx", count=0)
    assert fields(list(caught.value.problems)) == ["websiteUrl", "lang", "count"]


@pytest.mark.parametrize("count", [0, -1, 1001, True, 1.5, "5"])
def test_an_invalid_count_is_refused(count: Any) -> None:
    with pytest.raises(PublishRejected, match="count"):
        generate_request("", "https://tea.example", count=count)
