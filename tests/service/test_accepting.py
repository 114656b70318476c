"""The forms that are asked for: `Accept`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import is_problem, publication, publish
from tests.support import samples

HTML, MARKDOWN = "text/html", "text/markdown"
CHROMIUM = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)


def asking(*accept: str) -> Request:
    headers = [(b"accept", value.encode("latin-1")) for value in accept]
    return Request({"type": "http", "method": "GET", "headers": headers})


@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        (None, HTML),
        ("", HTML),
        ("nonsense, ;;, q=1, text/markdown;q=2", HTML),  # nothing that is well-formed
        ("*/*", HTML),
        ("text/*", HTML),
        (CHROMIUM, HTML),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", HTML),  # Firefox, Safari
        ("text/markdown", MARKDOWN),
        ("Text/Markdown; Charset=UTF-8", MARKDOWN),
        ("text/markdown, */*", MARKDOWN),
        ("text/markdown, text/html, */*", MARKDOWN),
        ("text/html, text/markdown", HTML),
        ("text/markdown;q=0.5, text/html;q=0.4", MARKDOWN),
        ("text/markdown;q=0.4, text/html;q=0.5", HTML),
        ("text/markdown;q=0.001, text/html;q=0", MARKDOWN),
        ("text/html;q=0, */*", MARKDOWN),
        ("text/markdown;q=0, text/*", HTML),
        ("text/*;q=0.5, text/html;q=0.1", MARKDOWN),
        ("text/html ; level=1 ; q=0.3 , text/markdown ; q=0.4", MARKDOWN),
    ],
)
def test_the_form_that_is_liked_best_is_sent(accept: str | None, answer: str) -> None:  # X2
    request = asking() if accept is None else asking(accept)

    assert accepted(request, HTML, MARKDOWN) == answer


def test_a_header_may_come_in_several_lines() -> None:
    assert accepted(asking("text/html;q=0.1", "text/markdown"), HTML, MARKDOWN) == MARKDOWN


@pytest.mark.parametrize("accept", ["image/png", "text/html;q=0, text/markdown;q=0.0", "*/*;q=0"])
def test_who_takes_nothing_that_there_is_is_told_so(accept: str) -> None:
    with pytest.raises(Problem) as caught:
        accepted(asking(accept), HTML, MARKDOWN)

    assert caught.value.status == 406


@given(accept=st.text(st.characters(max_codepoint=255), max_size=200))
def test_no_header_is_a_mistake_of_ours(accept: str) -> None:
    try:
        assert accepted(asking(accept), HTML, MARKDOWN) in (HTML, MARKDOWN)
    except Problem as problem:
        assert problem.status == 406  # noqa: PT017  # it need not be raised


@pytest.mark.parametrize(
    ("accept", "status"),
    [("application/json", 200), ("application/*;q=0.1", 200), ("*/*", 200), ("text/html", 406)],
)
def test_a_record_is_json(client: TestClient, storage: Storage, accept: str, status: int) -> None:
    storage.put(FAQ.from_dict(samples.pricing()))
    response = client.get("/api/v1/faq/pricing", headers={"Accept": accept})

    assert response.status_code == status
    assert response.headers["access-control-allow-origin"] == "*"


def test_nothing_is_published_for_who_could_not_read_the_answer(client: TestClient, key: str) -> None:
    refused = publish(client, key, publication(), Accept="application/xml")

    assert is_problem(refused, 406)
    assert refused.json()["detail"] == (
        "this address answers with application/json, and Accept has neither it nor */*"
    )
