"""What is refused before a byte is sent, and what is sent."""

import contextlib
import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import Item, PublishRejected
from faqsvc_embed.api.publishing import Suggestion, generate_request, generation, publication, publish_request
from faqsvc_embed.service import submission
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


def problems(**changes: Any) -> list[str]:
    """Return why a good publication, changed so, is refused."""
    with pytest.raises(PublishRejected) as caught:
        publication(**{**GOOD, **changes})
    return list(caught.value.problems)


@pytest.mark.parametrize(
    "items",
    [
        GOOD["items"],
        [list(pair) for pair in GOOD["items"]],
        [{"question": q, "answer": a, "position": 7, "source": "x"} for q, a in GOOD["items"]],
        [Item(9, q, a) for q, a in GOOD["items"]],
        [Suggestion(9, q, a, "https://www.tea.example/#faq") for q, a in GOOD["items"]],
        iter(GOOD["items"]),
    ],
    ids=["pairs", "lists", "mappings", "items", "suggestions", "an iterator"],
)
def test_items_come_in_many_forms_and_leave_in_one_without_positions(items: Any) -> None:  # W4
    assert publication(**{**GOOD, "items": items}) == BODY


def test_what_is_optional_is_sent_only_if_given() -> None:  # W4
    body = publication(**GOOD, lang="ko", title="Prices", slug="pricing", idempotency_key="one")
    assert body == {**BODY, "lang": "ko", "title": "Prices", "slug": "pricing"}


def test_a_publication_is_one_json_request_whose_key_is_not_in_it_yet() -> None:  # W1, W4
    request = publish_request("https://faq.example", publication(**GOOD), "one")
    assert (request.method, request.url) == ("POST", "https://faq.example/api/v1/faq")
    assert json.loads(request.body) == BODY
    assert request.headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "idempotency-key": "one",
    }
    assert "idempotency-key" not in publish_request("https://faq.example", BODY).headers


def test_every_problem_is_told_at_once_with_the_number_of_its_item() -> None:  # W6
    items = [
        ("", "answer"),
        ("Twice?", " \n"),
        {"question": "No answer?"},
        {"question": 1, "answer": None},
        ("x" * 1001, "y" * 20_001),
        (" Twice? ", "again"),
        "no item",
        ("NUL\0?", "half a pair \ud83d"),
        ("a", "b", "c"),
    ]
    assert problems(items=items, website_url="tea.example", website_name=" ", lang="xx", slug="a/b") == [
        "websiteUrl is 'tea.example': an address such as https://www.example.com is accepted",
        "websiteName is empty",
        "items[0].question is empty",
        "items[1].answer is empty",
        "items[2].answer is missing",
        "items[3].question is 1, not text",
        "items[3].answer is missing",
        "items[4].question has 1001 characters: at most 1000 are accepted",
        "items[4].answer has 20001 characters: at most 20000 are accepted",
        "items[5].question is the same as that of items[1]: ' Twice? '",
        "items[6] is 'no item': an Item, a mapping with question and answer, or a pair of both is accepted",
        "items[7].question has U+0000 at character 3, which no text can hold",
        "items[7].answer has U+D83D at character 12, which no text can hold",
        "items[8] is ('a', 'b', 'c'): an Item, a mapping with question and answer, or a pair of both is "
        "accepted",
        "lang is 'xx': one of en, ko, ja, zh, es, fr, de is accepted",
        "slug is 'a/b': 1 to 200 characters without control characters, '/' and '\\' are accepted, but not "
        "'.' and '..'",
    ]


def test_the_message_names_the_first_problems_and_counts_the_rest() -> None:  # W6
    with pytest.raises(PublishRejected) as caught:
        publication(**{**GOOD, "items": [("", "a")] * 7})
    assert str(caught.value) == (
        "refused: items[0].question is empty; items[1].question is empty; items[2].question is empty; "
        "items[3].question is empty; items[4].question is empty; and 2 more"
    )


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        (None, "items is missing"),
        ([], "items is empty"),
        ("text", "items is 'text': a list of items is accepted"),
        ({"question": "q", "answer": "a"}, "a list of items is accepted"),
        (7, "items is 7: a list of items is accepted"),
        (itertools.repeat(("q", "a")), "items has more than 1000 items, which are accepted at most"),
    ],
)
def test_what_is_no_list_of_items_is_named(items: Any, problem: str) -> None:  # W6
    (found,) = problems(items=items)
    assert found.endswith(problem)


@pytest.mark.parametrize("first", ["e\u0301t\u00e9?", "  What   now?", "Tab\tor space?"])
def test_a_question_that_json_ld_would_merge_is_a_duplicate(first: str) -> None:  # W6, J12
    import unicodedata

    second = " ".join(unicodedata.normalize("NFC", first).split())
    (found,) = problems(items=[(first, "one"), (second, "two")])
    assert found.startswith("items[1].question is the same as that of items[0]")


def test_questions_that_differ_in_case_are_two() -> None:  # J12
    publication(**{**GOOD, "items": [("Ok?", "a"), ("OK?", "a")]})


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
def test_an_address_that_can_be_none_is_refused(url: Any) -> None:  # W6
    assert [problem.partition(" ")[0] for problem in problems(website_url=url)] == ["websiteUrl"]


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "kéy", "a\nb", 7])
def test_an_idempotency_key_that_no_header_could_carry_is_refused(key: Any) -> None:  # W5
    (found,) = problems(idempotency_key=key)
    assert found.endswith("1 to 255 visible ASCII characters are accepted")


def test_a_body_that_no_client_would_read_again_is_refused() -> None:
    items = [(f"Question {n}?", "x" * 20_000) for n in range(60)]
    (found,) = problems(items=items)
    assert re.fullmatch(r"the body has 120\d{4} bytes: at most 1000000 are accepted", found)


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=4), any_text, any_text)
def test_what_is_let_through_is_taken_by_our_service(
    items: list[tuple[str, str]], name: str, title: str
) -> None:  # W6, D12
    try:
        body = publication(website_url="https://tea.example", website_name=name, items=items, title=title)
    except PublishRejected:
        return
    read = submission.parse_submission(publish_request("", body).body)
    assert [(item.question, item.answer) for item in read.items] == items


@given(odd_values, odd_values, odd_values, odd_values)
def test_whatever_is_given_is_refused_as_a_whole_or_sent(url: Any, items: Any, name: Any, lang: Any) -> None:
    with contextlib.suppress(PublishRejected):
        publish_request("", publication(website_url=url, website_name=name, items=items, lang=lang))


# Generation


def test_a_request_to_generate_has_what_was_given() -> None:
    body = generation("https://tea.example", lang="ko", count=5, topic="Prices")
    assert body == {"websiteUrl": "https://tea.example", "lang": "ko", "count": 5, "topic": "Prices"}
    assert generation("https://tea.example", lang=None, count=None, topic=None) == {
        "websiteUrl": "https://tea.example"
    }
    request = generate_request("https://faq.example", body)
    assert (request.method, request.url) == ("POST", "https://faq.example/api/v1/faq/generate")


def test_every_problem_of_a_request_to_generate_is_told_at_once() -> None:
    with pytest.raises(PublishRejected) as caught:
        generation("tea", lang="xx", count=0, topic="")
    assert [problem.partition(" ")[0] for problem in caught.value.problems] == [
        "websiteUrl",
        "lang",
        "count",
        "topic",
    ]


@pytest.mark.parametrize("count", [0, -1, 1001, True, 1.5, "5"])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    with pytest.raises(PublishRejected, match="a whole number from 1 to 1000 is accepted"):
        generation("https://tea.example", lang=None, count=count, topic=None)


def test_a_suggestion_is_equal_to_an_item_that_says_the_same() -> None:
    suggestion = Suggestion(0, "Open?", "Yes.", "https://tea.example/#open")
    assert suggestion == Item(0, "Open?", "Yes.")
    assert Item(0, "Open?", "Yes.") == suggestion
    assert suggestion != Item(1, "Open?", "Yes.")
    assert hash(suggestion) == hash(Suggestion(0, "Open?", "Yes."))
