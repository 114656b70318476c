"""What may be published, and what is said of the rest."""

import json

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.fields import MAX_ANSWER, MAX_BODY, MAX_ITEMS, MAX_QUESTION
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.submission import Submission, parse_submission
from faqsvc_embed.settings import Settings
from tests.service.bodies import publication


def problems_of(body: object) -> list[str]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(PublishRejected) as caught:
        parse_submission(content)
    return list(caught.value.problems)


def test_a_good_body_is_read() -> None:
    body = json.dumps(publication(lang="de", title="Preise", slug="preise")).encode()

    assert parse_submission(body) == Submission(
        website_url="https://www.tea.example",
        website_name="Tea & Sons",
        items=(Item(0, "What does it cost?", "Nothing."), Item(1, "May I cancel?", "Any time.")),
        title="Preise",
        lang="de",
        slug="preise",
    )


def test_a_byte_order_mark_and_null_for_what_is_optional_are_no_problem() -> None:
    body = b"\xef\xbb\xbf" + json.dumps(publication(lang=None, title=None, slug=None)).encode()

    assert parse_submission(body).lang is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{",
        b'{"a": NaN}',
        b'{"a": "\xed\xa0\x80"}',
        b"{} {}",
        json.dumps(publication()).encode("utf-16"),
    ],
)
def test_what_is_no_json_is_one_problem(body: bytes) -> None:  # D4
    [problem] = problems_of(body)

    assert problem.startswith("the body is not JSON in UTF-8: ")


@pytest.mark.parametrize("number", [b"1" * 641, b"-" + b"1" * 641, b"[" + b"1" * 641 + b"]"])
def test_a_number_that_is_too_long_is_told_by_its_length(number: bytes) -> None:  # D4
    assert problems_of(b'{"a": ' + number + b"}") == [
        "the body has a number of 641 digits: at most 640 are accepted"
    ]


def test_a_long_number_that_nobody_reads_is_no_problem() -> None:
    body = json.dumps(publication(visits=10**639)).encode()

    assert parse_submission(body).website_name == "Tea & Sons"


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "HTTPS://WWW.Tea.Example:8443/a?b=c#d",
        "https://서울.한국/가게",
        "https://a.example?q",
        "http://10.0.0.1",
    ],
)
def test_a_website_has_an_address_on_the_web(url: str) -> None:
    assert parse_submission(json.dumps(publication(websiteUrl=url)).encode()).website_url == url


def test_deep_nesting_is_a_problem_and_no_accident() -> None:  # D4
    assert problems_of(b"[" * MAX_BODY) == ["the body is nested too deeply"]


@pytest.mark.parametrize("body", [[], None, 1, "text", [publication()]])
def test_what_is_no_object_is_one_problem(body: object) -> None:
    assert problems_of(body) == ["the body is not a JSON object"]


def test_an_empty_object_lacks_everything() -> None:
    assert problems_of({}) == ["websiteUrl is missing", "websiteName is missing", "items is missing"]


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "items is empty"),
        ({}, "items is not an array"),
        ("ab", "items is not an array"),
        ([{}] * (MAX_ITEMS + 1), "items has 1001 items: at most 1000 are accepted"),
        ([{"question": "q", "answer": "a\x00"}], "items[0].answer has U+0000 at character 1"),
        ([{"question": "\ud800q", "answer": "a"}], "items[0].question has U+D800 at character 0"),
        ([{"question": "q" * (MAX_QUESTION + 1), "answer": "a"}], "items[0].question has 1001 characters"),
        ([{"question": "q", "answer": "a" * (MAX_ANSWER + 1)}], "items[0].answer has 20001 characters"),
    ],
)
def test_items_that_cannot_be_are_told_by_number(items: object, problem: str) -> None:  # V3, D12
    [said] = problems_of(publication(items=items))

    assert said.startswith(problem)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("websiteUrl", "www.tea.example", "websiteUrl is 'www.tea.example': an address such as"),
        ("websiteUrl", "javascript:alert(1)", "websiteUrl is 'javascript:alert(1)'"),
        ("websiteUrl", "https://[", "websiteUrl is 'https://['"),
        ("websiteUrl", "https://", "websiteUrl is 'https://'"),
        ("websiteUrl", "https:///path", "websiteUrl is 'https:///path'"),
        ("websiteUrl", "https://me:secret@a.example", "websiteUrl is "),
        ("websiteUrl", "https://a.example/a b", "websiteUrl is "),
        ("websiteUrl", "https://℀.example", "websiteUrl is "),  # which is a slash to some
        ("websiteUrl", "https://a.example/\n", "websiteUrl is "),
        ("websiteUrl", ["https://a.example"], "websiteUrl is ['https://a.example'], not text"),
        ("websiteUrl", "https://a.example/" + "a" * 2000, "websiteUrl has 2018 characters"),
        ("websiteName", "", "websiteName is empty"),
        ("websiteName", "\ud800", "websiteName has U+D800"),
        ("title", "", "title is empty"),
        ("title", "t" * 201, "title has 201 characters: at most 200"),
        ("lang", "EN", "lang is 'EN': one of en, ko, ja, zh, es, fr, de is accepted"),
        ("lang", ["en"], "lang is ['en']"),
        ("slug", "", "slug is ''"),
        ("slug", "a/b", "slug is 'a/b'"),
        ("slug", "\x00", "slug is '\\x00'"),
        ("slug", 7, "slug is 7"),
        ("slug", "s" * 201, "slug is 's"),
    ],
)
def test_fields_that_cannot_be_are_told_by_name(field: str, value: object, problem: str) -> None:
    [said] = problems_of(publication(**{field: value}))

    assert said.startswith(problem)


def test_the_largest_body_makes_a_record_that_clients_accept() -> None:
    def body_of(answer: str) -> bytes:
        items = [{"question": "q", "answer": answer}] * MAX_ITEMS
        return json.dumps(publication(items=items), separators=(",", ":")).encode()

    body = body_of("a" * ((MAX_BODY - len(body_of(""))) // MAX_ITEMS))
    assert MAX_BODY - MAX_ITEMS < len(body) <= MAX_BODY
    submission = parse_submission(body)
    record = FAQ("s" * 200, "t" * 200, submission.website_name, "en", submission.items).to_json()

    assert len(record.encode()) <= Settings(base_url="https://faq.example.com").max_bytes


def test_problems_that_quote_what_was_sent_can_be_sent(client: TestClient, key: str) -> None:
    body = json.dumps(publication(slug="\ud800", lang="\x00\ud83d")).encode()
    headers = {"X-Plugin-Key": key, "Content-Type": "application/json"}
    response = client.post("/api/v1/faq", content=body, headers=headers)

    assert response.status_code == 422
    assert len(response.json()["problems"]) == 2
