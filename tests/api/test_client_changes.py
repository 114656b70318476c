"""`FAQClient.change_faq`: a small request, checked before it is sent, and conflicts with the current text."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from faqsvc_embed import FAQClient, PublishRejected
from faqsvc_embed.errors import OutcomeUnknown, RevisionConflict
from tests.api.support import SECRET
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer

CHANGE: Final = {"question": "How much is a poster?", "answer": "Six euros."}
CURRENT: Final[dict[str, Any]] = {
    "revision": 3,
    "etag": '"new"',
    "state": "published",
    "createdAt": "2026-11-25T12:00:00Z",
    "key": "Mia",
    "items": [{"position": 0, "question": "How much is a poster?", "answer": "Seven euros."}],
}


@pytest.fixture
def client(faulty: FaultyServer) -> Iterator[FAQClient]:
    """A client of a faulty service."""
    with FAQClient(faulty.base_url, SECRET) as client:
        yield client


def conflict(current: Any) -> behaviours.Behaviour:
    """Respond with a conflict."""
    problem = {"code": "revision-conflict", "revision": 3, "current": current}
    return behaviours.body(json.dumps(problem).encode(), status=412)


def test_one_answer_is_a_small_request(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.body(b'{"slug": "prices", "revision": 2, "state": "draft"}'))
    written = client.change_faq("prices", iter([CHANGE]), if_match='"old"', lang="de-CH", draft=True)
    assert (written.revision, written.state) == (2, "draft")
    (request,) = faulty.log
    assert (request.method, request.target) == ("PATCH", "/api/v1/faq/prices?lang=de")
    assert request.headers["if-match"] == '"old"'
    assert json.loads(request.body) == {"changes": [CHANGE], "draft": True}
    headers = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
    assert headers + len(request.body) < 1_000


def test_a_conflict_has_the_current_text(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(conflict(CURRENT))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    current = caught.value.current
    assert (current.revision, current.etag, current.key) == (3, '"new"', "Mia")
    assert [(item.question, item.answer) for item in current.items] == [
        ("How much is a poster?", "Seven euros.")
    ]


def test_the_current_text_may_be_long(client: FAQClient, faulty: FaultyServer) -> None:
    items = [{"position": n, "question": f"Question {n}?", "answer": "가" * 1_000} for n in range(100)]
    faulty.behave(conflict({**CURRENT, "items": items}))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert len(caught.value.current.items) == 100


@pytest.mark.parametrize("current", [None, "x", {}, {**CURRENT, "items": "x"}])
def test_a_conflict_without_a_text_is_one_too(client: FAQClient, faulty: FaultyServer, current: Any) -> None:
    faulty.behave(conflict(current))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert (caught.value.revision, caught.value.current) == (3, None)


def test_no_text_of_a_conflict_has_the_key(client: FAQClient, faulty: FaultyServer) -> None:
    items = [{"position": 0, "question": "Open?", "answer": SECRET}]
    faulty.behave(conflict({**CURRENT, "items": items}))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert "s3cret" not in caught.value.current.items[0].answer


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ([], "changes"),
        ("text", "changes"),
        ([{"answer": "x"}], "changes[0].question"),
        ([CHANGE, {"question": "Open?", "remove": "yes"}], "changes[1].remove"),
        ([{"question": "Open?", "answer": "x" * 30_000}], "changes[0].answer"),
    ],
)
def test_what_is_invalid_is_not_sent(
    client: FAQClient, faulty: FaultyServer, changes: Any, problem: str
) -> None:
    with pytest.raises(PublishRejected) as caught:
        client.change_faq("prices", changes, if_match='"old"')
    assert any(problem in found for found in caught.value.problems)
    assert faulty.log == []


@pytest.mark.parametrize("etag", [None, "", "old"])
def test_a_change_needs_the_entity_tag_that_was_read(
    client: FAQClient, faulty: FaultyServer, etag: Any
) -> None:
    with pytest.raises(PublishRejected, match="if_match"):
        client.change_faq("prices", [CHANGE], if_match=etag)
    assert faulty.log == []


def test_a_change_without_a_response_may_have_been_made(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.reset)
    with pytest.raises(OutcomeUnknown, match="if_match"):
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert len(faulty.log) == 1
