"""A streamed page whose head has left before its first FAQ: what the head says stays true."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from faqsvc_embed import FAQ
from faqsvc_embed.page import visitor as requestpage
from faqsvc_embed.page.headers import may_be_shared
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import get

FAQS = {"pricing": FAQ.from_dict(samples.pricing())}
SHARED = [
    {"ETag": '"1"'},
    {"Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT"},
    {"Expires": "Sat, 21 Nov 2026 10:00:00 GMT"},
    {"Cache-Control": "max-age=60"},
    {"CDN-Cache-Control": "max-age=60"},
    {"ETag": '"1"', "Vary": "Cookie"},
]
NOT_SHARED = [
    {},
    {"X": "y"},
    {"Cache-Control": "Private, max-age=60"},
    {"Cache-Control": "no-store", "ETag": '"1"'},
    {"ETag": '"1"', "Vary": "Cookie, accept-language"},
    {"ETag": '"1"', "Vary": "*"},
]


@pytest.fixture(autouse=True)
def says_it_again() -> None:
    requestpage._warn_of_the_language.cache_clear()


def streamed(
    headers: dict[str, str], *, before: bool = False, **scope: Any
) -> tuple[list[str | None], list[str]]:
    """Return in which language each FAQ of a stream was asked for, and what the response varies by."""
    embed, asked = fake_embed(FAQS), list[str | None]()

    def ask() -> None:
        asked.append(embed.use_faq("pricing").lang_requested)

    async def chunks() -> AsyncIterator[str]:
        yield "<p>"
        ask()
        yield str(embed.render("pricing"))

    async def endpoint(request: Request) -> Response:
        if before:
            ask()
        return StreamingResponse(chunks(), media_type="text/html", headers=headers)

    app = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=embed)
    answer = get(app, headers=[("Accept-Language", "ko")], **scope)
    return asked, answer.all("vary")


@pytest.mark.parametrize("headers", SHARED, ids=repr)
def test_a_stream_that_visitors_may_share_does_not_speak_the_language_of_one(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:  # L7
    vary = [headers["Vary"]] if "Vary" in headers else []
    assert [streamed(headers) for _ in range(2)] == [([None], vary)] * 2
    (said,) = (record.getMessage() for record in caplog.records)
    assert "Vary: Accept-Language" in said


@pytest.mark.parametrize("headers", NOT_SHARED, ids=repr)
def test_a_stream_of_one_visitor_speaks_the_visitors_language(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:  # L4
    vary = [headers["Vary"]] if "Vary" in headers else []
    assert streamed(headers) == (["ko"], vary)
    assert caplog.records == []


def test_a_stream_that_asked_before_its_head_left_says_so_and_goes_on() -> None:  # L7
    expected = (["ko", "ko"], ["Cookie, Accept-Language"])
    assert streamed({"ETag": '"1"', "Vary": "Cookie"}, before=True) == expected


def test_the_choice_of_the_host_needs_no_vary(caplog: pytest.LogCaptureFixture) -> None:  # L4
    assert streamed({"ETag": '"1"'}, state={"lang": "de"}) == (["de"], [])
    assert caplog.records == []


def test_which_responses_may_be_shared() -> None:
    assert [may_be_shared(headers.items()) for headers in SHARED] == [True] * len(SHARED)
    assert [may_be_shared(headers.items()) for headers in NOT_SHARED] == [False] * len(NOT_SHARED)
