"""Requests that are meant to break something."""

import json
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, encoded, is_problem, parsed, publication, publish
from tests.support import strategies


def nearly_valid() -> st.SearchStrategy[Any]:
    """Bodies with all fields, most of them valid."""
    text = strategies.any_text | strategies.json_values
    item = st.fixed_dictionaries({}, optional={"question": text, "answer": text, "position": text})
    fields = {
        "websiteUrl": st.just("https://www.tea.example") | text,
        "websiteName": st.just("Tea & Sons") | text,
        "items": strategies.items | st.lists(item, max_size=3) | strategies.json_values,
    }
    optional = {"lang": st.just("de") | text, "slug": text, "title": text, "x": strategies.json_values}
    return st.fixed_dictionaries(fields, optional=optional)


def bodies() -> st.SearchStrategy[bytes]:
    return (nearly_valid() | strategies.json_values).map(encoded) | st.binary()


def damaged(body: bytes, random: Random) -> Iterator[bytes]:
    """Yield a body, and others that are cut off, or have random bytes or a piece of it twice."""
    yield body
    for _ in range(10):
        start, end = sorted(random.randrange(len(body) + 1) for _ in range(2))
        yield body[:start]
        yield body[:end] + random.randbytes(2) + body[start:]


@given(body=bodies(), random=st.randoms(use_true_random=False))
def test_any_body_is_parsed_or_refused(body: bytes, random: Random) -> None:
    for variant in damaged(body, random):
        try:
            request = parsed(variant)
        except Problem as problem:
            assert problem.problems  # noqa: PT017  # it need not be raised
        else:
            texts = [text for item in request.items for text in (item.question, item.answer)]
            texts += [str(request.website_name), str(request.website_url), request.title or ""]
            assert all("\x00" not in text and text.encode() is not None for text in texts)


def test_any_body_gets_a_response_and_what_was_stored_can_be_read(storage: Storage, key: str) -> None:
    app = create_app(storage, reads_per_minute=None, writes_per_minute=None)

    @given(body=bodies())
    def check(body: bytes) -> None:
        response = publish(client, key, body)
        if response.status_code == 201:
            slug = response.json()["slug"]
            sent = json.loads(body)["items"]
            read = client.get(f"{PATH}/{slug}").json()["items"]
            texts = [(item["question"], item["answer"]) for item in read]
            assert texts == [(item["question"], item["answer"]) for item in sent]
            assert client.get(f"/faq/{slug}").status_code == 200
        else:
            assert response.status_code in (404, 422)
            assert response.json()["status"] == response.status_code

    with TestClient(app) as client:
        check()


@pytest.mark.parametrize("slug", ["caf%E9", "%FF", "%ED%A0%80", "caf%EF%BF%BD"])
def test_a_path_that_is_not_utf_8_names_no_faq(client: TestClient, key: str, slug: str) -> None:
    headers = {"X-Plugin-Key": key}
    assert client.put(f"{PATH}/{slug}", json=publication(), headers=headers).status_code == 404
    assert client.delete(f"{PATH}/{slug}", headers=headers).status_code == 404
    for path in (PATH, "/faq"):
        assert client.get(f"{path}/{slug}").status_code == 404


def test_text_that_cannot_be_stored_is_refused(client: TestClient, key: str) -> None:
    item = {"question": "Q?", "answer": "A."}
    for field, text in product(("title", "websiteName", "slug", *item), ("a\x00b", "a\ud800b")):
        changes = {"items": [{**item, field: text}]} if field in item else {field: text}
        response = publish(client, key, publication(**changes))
        assert is_problem(response, 422), field
        assert len(response.json()["problems"]) == 1
