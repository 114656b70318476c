"""Request bodies: media type, encoding, size and JSON."""

import json

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.request_body import parse_object
from tests.service.bodies import encoded, is_problem, publication, publish


@pytest.mark.parametrize(
    "media_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/json; charset=utf-16"],
)
def test_a_body_that_is_not_json_is_a_415(client: TestClient, key: str, media_type: str) -> None:
    response = publish(client, key, publication(), Content_Type=media_type)

    assert is_problem(response, 415)
    assert response.headers["accept"] == "application/json"


@pytest.mark.parametrize("media_type", ["Application/JSON", 'application/json; charset="UTF-8"'])
def test_the_media_type_may_be_written_in_other_ways(client: TestClient, key: str, media_type: str) -> None:
    assert publish(client, key, publication(), Content_Type=media_type).status_code == 201


def test_a_compressed_body_is_a_415(client: TestClient, key: str) -> None:
    response = publish(client, key, b"\x1f\x8b", Content_Encoding="gzip")

    assert is_problem(response, 415)
    assert response.headers["accept-encoding"] == "identity"


def test_the_size_of_a_body_is_limited(client: TestClient, key: str) -> None:
    fits = encoded(publication()).ljust(MAX_BODY)

    assert publish(client, key, fits).status_code == 201
    assert is_problem(publish(client, key, fits + b" "), 413)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{",
        b'{"a": NaN}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\\ud800"}',
        b"{} {}",
        encoded(publication()).decode().encode("utf-16"),
        b'{"a": ' + b"1" * 5000 + b"}",
        b"[" * MAX_BODY,
        b"[]",
        b"null",
        b'"text"',
    ],
    ids=lambda body: body[:20],
)
def test_a_body_that_is_not_a_json_object_is_one_problem(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        parse_object(body)

    assert (caught.value.status, len(caught.value.problems)) == (422, 1)


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_object(b"\xef\xbb\xbf" + json.dumps({"a": "ä"}).encode()) == {"a": "ä"}
