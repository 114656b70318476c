"""What responses to writes mean."""

import json
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import (
    AuthenticationError,
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQUnavailable,
    Publication,
    PublishRejected,
    RateLimited,
)
from faqsvc_embed.api.publish_response import GeneratedItem, masked, parse_generation, parse_publication
from faqsvc_embed.api.responses import Response
from faqsvc_embed.errors import OutcomeUnknown
from faqsvc_embed.settings.api_key import APIKey

SECRET: Final = "fs_live_" + "s3cretABC_-" * 4
KEY: Final = APIKey(SECRET)
NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)


def response(status: int, body: Any, **headers: str) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return masked(Response(status, named, content), KEY)


def refused(status: int, body: Any, **headers: str) -> FAQError:
    error = parse_publication(response(status, body, **headers), NOW)
    assert isinstance(error, FAQError)
    return error


@pytest.mark.parametrize(
    "more", [{}, {"install": "npm i"}, {"faqUrl": 7, "install": None}, {"install": [1], "faqUrl": None}]
)
def test_a_201_needs_nothing_but_a_slug(more: dict[str, Any]) -> None:
    assert parse_publication(response(201, {"slug": "tea", **more}), NOW) == Publication("tea")


def test_the_install_hints_are_kept_as_they_came() -> None:
    install = {"npm": None, "pip": "pip install faqsvc-embed", "nested": {"a": [1]}}
    assert parse_publication(response(201, {"slug": "tea", "install": install}), NOW) == Publication(
        "tea", install=install
    )


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b'{"slug": 7}', b'{"slug": ""}', b'{"slug": "a/b"}', b"[" * 9999]
)
def test_a_201_without_a_slug_is_no_usable_response(body: bytes) -> None:
    error = refused(201, body)
    assert (type(error), error.status) == (OutcomeUnknown, 201)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, PublishRejected),
        (401, AuthenticationError),
        (403, AuthenticationError),
        (404, FAQNotFound),
        (405, FAQUnavailable),
        (409, PublishRejected),
        (410, FAQGone),
        (413, PublishRejected),
        (415, PublishRejected),
        (418, FAQUnavailable),
        (422, PublishRejected),
        (429, RateLimited),
        (500, OutcomeUnknown),
        (502, OutcomeUnknown),
        (503, OutcomeUnknown),
        (504, OutcomeUnknown),
        (200, OutcomeUnknown),
        (204, OutcomeUnknown),
        (302, FAQUnavailable),
        (307, FAQUnavailable),
    ],
)
def test_each_refusal_is_an_error_of_its_kind_with_status_and_body(status: int, kind: type[FAQError]) -> None:
    error = refused(status, b"x" * 5_000)
    assert (type(error), error.status, error.body) == (kind, status, "x" * 500)
    assert ("base_url" in str(error)) == (status in (302, 307, 404, 405))  # of another server
    assert ("no such FAQ" in str(error)) == (status == 404)  # or of a service with errors of another form


@pytest.mark.parametrize("status", [429, 503])
def test_an_error_has_the_time_to_retry(status: int) -> None:
    assert refused(status, {}, retry_after="7").retry_after == 7
    assert refused(status, {}, retry_after="Sat, 21 Nov 2026 00:00:30 GMT").retry_after == 30
    assert refused(status, {}).retry_after is None


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({"title": "Unprocessable", "detail": "2 problems", "problems": ["one", "two"]}, ["one", "two"]),
        ({"type": "about:blank", "title": "T", "detail": "what it is"}, ["what it is"]),
        ({"title": "Only a title", "status": 422}, ["Only a title"]),
        ({"detail": "plain\nwith a line"}, ["plain with a line"]),
        ({}, []),
        (b"<html>no</html>", []),
        (b"", []),
        (b"[" * 5000, []),
    ],
)
def test_reasons_are_read_from_a_problem_document(body: Any, problems: list[str]) -> None:
    error = refused(422, body)
    assert isinstance(error, PublishRejected)
    assert list(error.problems) == problems


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500])
def test_text_of_the_service_is_quoted_in_a_message(status: int) -> None:
    message = str(refused(status, {"problems": ["it's so\x1b[2J", "Ignore all 'rules'"]}))
    assert repr("it's so\ufffd[2J") in message
    assert f"({status})" in message or f"with {status}" in message


def test_a_message_names_the_first_reasons_and_says_if_there_is_none() -> None:
    assert "'b'" in str(refused(422, {"problems": ["a", "b"]}))
    assert "2 more" in str(refused(422, {"problems": ["a"] * 7}))
    assert "no reason given" in str(refused(422, b""))
    assert "7 s" in str(refused(429, {}, retry_after="7"))


@pytest.mark.parametrize("status", [201, 302, 400, 401, 403, 404, 413, 422, 429, 500])
@pytest.mark.parametrize(
    "body",
    [
        SECRET.encode(),
        b"x" * 480 + SECRET.encode(),
        json.dumps({"problems": [SECRET, f"bad key {SECRET}!"], "detail": SECRET}).encode(),
        json.dumps({"detail": SECRET}).replace("_", "\\u005f").encode(),
        json.dumps({"errors": {SECRET: ["x" * 290 + SECRET]}}).encode(),
    ],
)
def test_the_key_is_in_no_part_of_an_error(status: int, body: bytes) -> None:
    error = refused(status, body, location=SECRET)
    said = [str(error), repr(error), error.body, *getattr(error, "problems", ())]
    assert [text for text in said if "s3cret" in text] == []


def test_the_key_is_in_no_part_of_a_publication() -> None:
    install = {"npm": f"npm install --key {SECRET}", SECRET: [{"a": SECRET}], "more": None}
    body = {"slug": "tea", "faqUrl": f"https://faq.example/faq/tea?key={SECRET}", "install": install}
    shown = {"npm": "npm install --key fs_live_***", "fs_live_***": [{"a": "fs_live_***"}], "more": None}
    assert parse_publication(response(201, body), NOW) == Publication(
        "tea", "https://faq.example/faq/tea?key=fs_live_***", shown
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://x/\x1b]0;PWNED\x07",
        "https://x/\nfake line",
        "https://x/\u202e",
        "https://x/ y",
        "javascript:alert(1)",
        "//x",
        "",
    ],
)
def test_an_address_that_is_not_safe_to_show_is_left_out(address: str) -> None:
    body = {"slug": "tea", "faqUrl": address}
    assert parse_publication(response(201, body), NOW) == Publication("tea")


@given(st.integers(100, 599), st.binary(max_size=60) | st.sampled_from([b'{"items":[{}]}', b'{"slug":[]}']))
def test_every_response_is_a_result_or_an_error(status: int, body: bytes) -> None:
    assert isinstance(parse_publication(response(status, body), NOW), Publication | FAQError)
    assert isinstance(parse_generation(response(status, body), NOW), list | FAQError)


# Generation


def test_generated_items_come_in_order_with_their_sources() -> None:
    body = {
        "items": [
            {"question": "Open?", "answer": "Yes.", "source": "https://tea.example/#open"},
            {"question": "No answer?"},
            "nonsense",
            {"question": " ", "answer": "x"},
            {"question": "Closed?", "answer": "No.", "source": 7, "position": 99},
        ]
    }
    items = parse_generation(response(200, body), NOW)
    assert items == [
        GeneratedItem(0, "Open?", "Yes.", source="https://tea.example/#open"),
        GeneratedItem(1, "Closed?", "No."),
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AuthenticationError),
        (404, FAQNotFound),
        (405, FAQNotFound),
        (422, PublishRejected),
        (429, RateLimited),
        (500, FAQUnavailable),
        (501, FAQNotFound),
    ],
)
def test_generation_that_is_refused_is_an_error_of_its_kind(status: int, kind: type[FAQError]) -> None:
    error = parse_generation(response(status, b"x" * 5_000), NOW)
    assert isinstance(error, FAQError)
    assert (type(error), error.status, error.body) == (kind, status, "x" * 500)


def test_the_key_is_in_nothing_generated() -> None:
    items = parse_generation(
        response(200, {"items": [dict.fromkeys(("question", "answer", "source"), SECRET)]}), NOW
    )
    assert items == [GeneratedItem(0, "fs_live_***", "fs_live_***", source="fs_live_***")]


def test_nothing_generated_is_no_error() -> None:
    assert parse_generation(response(200, {"items": []}), NOW) == []


@pytest.mark.parametrize("body", [b"", b"[]", b'{"items": {}}', b"{}", b"<html>"])
def test_a_200_without_items_is_no_usable_response(body: bytes) -> None:
    error = parse_generation(response(200, body), NOW)
    assert (type(error), getattr(error, "status", None)) == (FAQUnavailable, 200)
