"""What a publish request must contain."""

import json

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.contract import NewItem, PublishBody
from faqsvc_embed.api.fields import MAX_ANSWER, MAX_BODY, MAX_ITEMS, MAX_QUESTION
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.routes.publish import parse_publish_body
from faqsvc_embed.settings import Settings
from tests.service.bodies import encoded, is_problem, publication, publish


def problems_of(body: object) -> list[str]:
    """Return the path of each problem, which its text begins with."""
    with pytest.raises(Problem) as caught:
        parse_publish_body(encoded(body))
    return [problem.split(" ")[0] for problem in caught.value.problems]


def test_a_valid_body_is_parsed() -> None:
    body = publication(lang="de", title="Preise", slug="preise")

    assert parse_publish_body(encoded(body)) == PublishBody(
        website_url="https://www.tea.example",
        website_name="Tea & Sons",
        items=[NewItem("What does it cost?", "Nothing."), NewItem("May I cancel?", "Any time.")],
        title="Preise",
        lang="de",
        slug="preise",
    )


def test_optional_fields_may_be_null() -> None:
    request = parse_publish_body(encoded(publication(lang=None, title=None, slug=None)))

    assert (request.lang, request.title, request.slug) == (None, None, None)


@pytest.mark.parametrize(
    "url",
    ["http://a", "HTTPS://WWW.Tea.Example:8443/a?b=c#d", "https://서울.한국/가게", "http://10.0.0.1"],
)
def test_a_website_url_is_accepted(url: str) -> None:
    assert parse_publish_body(encoded(publication(websiteUrl=url))).website_url == url


def test_required_fields_are_reported() -> None:
    assert problems_of({}) == ["websiteUrl", "websiteName", "items"]


@pytest.mark.parametrize(
    ("items", "path"),
    [
        ([], "items"),
        ({}, "items"),
        ("ab", "items"),
        ([{}] * (MAX_ITEMS + 1), "items"),
        ([{"question": "q" * (MAX_QUESTION + 1), "answer": "a"}], "items[0].question"),
        ([{"question": "q", "answer": "a" * (MAX_ANSWER + 1)}], "items[0].answer"),
    ],
    ids=["empty", "object", "text", "too many", "long question", "long answer"],
)
def test_invalid_items_are_reported(items: object, path: str) -> None:
    assert problems_of(publication(items=items)) == [path]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("websiteUrl", "www.tea.example"),
        ("websiteUrl", "javascript:alert(1)"),
        ("websiteUrl", "https://["),
        ("websiteUrl", "https:///path"),
        ("websiteUrl", "https://me:secret@a.example"),
        ("websiteUrl", "https://a.example/a b"),
        ("websiteUrl", "https://℀.example"),  # which some decompose to one with a slash
        ("websiteUrl", ["https://a.example"]),
        ("websiteUrl", "https://a.example/" + "a" * 2000),
        ("websiteName", ""),
        ("title", ""),
        ("title", "t" * 201),
        ("lang", "EN"),
        ("lang", ["en"]),
        ("slug", ""),
        ("slug", "a/b"),
        ("slug", 7),
        ("slug", "s" * 201),
    ],
)
def test_an_invalid_field_is_reported(field: str, value: object) -> None:
    assert problems_of(publication(**{field: value})) == [field]


def test_all_problems_are_reported_together(client: TestClient, key: str) -> None:
    items = [{"question": "Good?", "answer": "Yes."}, {"question": " ", "answer": 5}, "no object", {}]
    response = publish(client, key, publication(items=items, lang="xx", websiteName=None))

    assert is_problem(response, 422)
    assert [problem.split(" ")[0] for problem in response.json()["problems"]] == [
        "websiteName",
        "items[1].question",
        "items[1].answer",
        "items[2]",
        "items[3].question",
        "items[3].answer",
        "lang",
    ]


def test_the_largest_body_makes_a_record_that_clients_accept() -> None:
    def body_of(answer: str) -> bytes:
        items = [{"question": "q", "answer": answer}] * MAX_ITEMS
        return json.dumps(publication(items=items), separators=(",", ":")).encode()

    body = body_of("a" * ((MAX_BODY - len(body_of(""))) // MAX_ITEMS))
    assert MAX_BODY - MAX_ITEMS < len(body) <= MAX_BODY
    request = parse_publish_body(body)
    items = tuple(Item(index, item.question, item.answer) for index, item in enumerate(request.items))
    record = FAQ("s" * 200, "t" * 200, request.website_name, "en", items).to_json()

    assert len(record.encode()) <= Settings(base_url="https://faq.example.com").max_bytes
