"""PUT of a file, whose body has the field `revision`: whatever sends it, it undoes nobody's work."""

from collections.abc import Callable
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, publication

Put = Callable[..., Response]


@pytest.fixture
def put(client: TestClient, key: str) -> Put:
    """PUT a text of the FAQ "tea"; without `revision`, as a program does."""

    def send(answer: str, key: str = key, **fields: Any) -> Response:
        items = [{"question": "How much?", "answer": answer}]
        body = {**publication(items=items, lang="en"), **fields}
        body = {name: value for name, value in body.items() if value is not ...}
        return client.put(f"{PATH}/tea", json=body, headers={"X-Plugin-Key": key})

    return send


@pytest.fixture
def mia(storage: Storage, key: str) -> str:
    """The key of another program of the site."""
    assert key
    return storage.keys.create("Mia")


def test_a_file_of_an_older_revision_is_refused_with_the_newest(put: Put) -> None:
    assert [put(answer).status_code for answer in ("Five.", "Seven.")] == [201, 200]
    refused = put("Six.", revision=1)

    assert (refused.status_code, refused.json()["code"]) == (412, "old-file")
    assert refused.json()["current"]["revision"] == 2
    assert put("Six.", revision=2).json()["revision"] == 3
    assert put("Eight.", revision=1, overwrite=True).json()["revision"] == 4


def test_a_file_without_a_revision_replaces_only_what_its_own_key_wrote(put: Put, mia: str) -> None:
    assert [put(answer, revision=None).status_code for answer in ("Five.", "Six.")] == [201, 200]
    assert put("Five.", revision=None).json()["code"] == "old-file"  # the text of revision 1
    assert put("Seven.", key=mia).status_code == 200
    assert put("Eight.", revision=None).json()["code"] == "old-file"
    assert put("Eight.").status_code == 200  # a program that says nothing


def test_a_file_publishes_nothing_that_was_unpublished(client: TestClient, put: Put, key: str) -> None:
    put("Five.")
    client.delete(f"{PATH}/tea", headers={"X-Plugin-Key": key})
    refused = put("Six.", revision=1)

    assert (refused.status_code, refused.json()["code"]) == (409, "unpublished")
    assert client.get(f"{PATH}/tea").status_code == 410
    assert put("Six.", revision=1, draft=True).status_code == 200
    assert put("Six.", revision=2, republish=True).status_code == 200


def test_a_file_keeps_the_website_that_it_leaves_out(client: TestClient, put: Put) -> None:
    lacking = {"websiteUrl": ..., "websiteName": ..., "title": ...}
    problems = put("Five.", revision=None, **lacking).json()["problems"]
    assert problems == ["websiteUrl is missing", "websiteName is missing"]
    put("Five.", title="Tea")
    assert put("Six.", revision=1, **lacking).status_code == 200
    record = client.get(f"{PATH}/tea").json()
    assert (record["title"], record["websiteName"]) == ("Tea", publication()["websiteName"])
    assert put("Seven.", **lacking).status_code == 422  # a program that says nothing


def test_an_unchanged_file_makes_no_revision(put: Put) -> None:
    put("Five.")
    again = put("Five.", revision=None)
    put("Six.", draft=True)
    while_a_draft_waits = put("Five.", revision=1)

    assert [one.json()["revision"] for one in (again, while_a_draft_waits)] == [1, 1]
    assert while_a_draft_waits.json()["state"] == "published"
