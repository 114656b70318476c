"""Content negotiation: `Accept`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from faqsvc_embed.service.http.negotiation import best_media_type
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import is_problem, publication, publish

HTML, MARKDOWN = "text/html", "text/markdown"
CHROMIUM = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)


def request(*accept: str) -> Request:
    headers = [(b"accept", value.encode("latin-1")) for value in accept]
    return Request({"type": "http", "method": "GET", "headers": headers})


@pytest.mark.parametrize(
    ("accept", "best"),
    [
        ((), HTML),
        (("",), HTML),
        (("nonsense, ;;, q=1, text/markdown;q=2",), HTML),  # nothing well-formed
        (("*/*",), HTML),
        (("text/*",), HTML),
        ((CHROMIUM,), HTML),
        (("Text/Markdown; Charset=UTF-8",), MARKDOWN),
        (("text/markdown, */*",), MARKDOWN),
        (("text/markdown, text/html, */*",), MARKDOWN),
        (("text/html, text/markdown",), HTML),
        (("text/markdown;q=0.5, text/html;q=0.4",), MARKDOWN),
        (("text/markdown;q=0.4, text/html;q=0.5",), HTML),
        (("text/markdown;q=0.001, text/html;q=0",), MARKDOWN),
        (("text/html;q=0, */*",), MARKDOWN),
        (("text/markdown;q=0, text/*",), HTML),
        (("text/*;q=0.5, text/html;q=0.1",), MARKDOWN),
        (("text/html ; level=1 ; q=0.3 , text/markdown ; q=0.4",), MARKDOWN),
        (("text/html;q=0.1", "text/markdown"), MARKDOWN),  # two header lines
    ],
)
def test_the_preferred_media_type_is_chosen(accept: tuple[str, ...], best: str) -> None:
    assert best_media_type(request(*accept), HTML, MARKDOWN) == best


@pytest.mark.parametrize("accept", ["image/png", "text/html;q=0, text/markdown;q=0.0", "*/*;q=0"])
def test_without_an_acceptable_media_type_it_is_a_406(accept: str) -> None:
    with pytest.raises(Problem) as caught:
        best_media_type(request(accept), HTML, MARKDOWN)

    assert caught.value.status == 406


@given(accept=st.text(st.characters(max_codepoint=255), max_size=200))
def test_any_header_is_answered(accept: str) -> None:
    try:
        assert best_media_type(request(accept), HTML, MARKDOWN) in (HTML, MARKDOWN)
    except Problem as problem:
        assert problem.status == 406  # noqa: PT017  # it need not be raised


def test_nothing_is_published_if_the_response_is_not_acceptable(
    client: TestClient, storage: Storage, key: str
) -> None:
    assert is_problem(publish(client, key, publication(), Accept="application/xml"), 406)
    assert storage.sites.list()[0].faq_count == 0
