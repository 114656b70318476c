"""FAQMiddleware among the responses and middlewares of Starlette."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.starlette import FAQMiddleware
from tests.support.asgi import Sent, get
from tests.support.pages import FAQS, A, B, Make, embeds
from tests.support.parsed import page_of, summary
from tests.support.slow import slow_embed
from tests.support.starlette_host import Endpoint, app_of


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log again what was logged once in this process."""
    monkeypatch.setattr("faqsvc_embed.page.page._log", LogOnce())


def two(embed: FAQEmbed) -> str:
    with embed.page():
        return f"{embed.render('pricing')}<hr>{embed.render('legal')}"


# Responses that are no pages


UNTOUCHED: dict[str, Callable[[str], Response]] = {
    "plain text": PlainTextResponse,
    "JSON": lambda html: JSONResponse({"html": html}),
    "XHTML": lambda html: Response(html, media_type="application/xhtml+xml"),
    "no type": Response,
    "event stream": lambda html: StreamingResponse(iter([html]), media_type="text/event-stream"),
    "compressed": lambda html: HTMLResponse(
        gzip.compress(html.encode(), mtime=0), headers={"Content-Encoding": "br"}
    ),
    "partial": lambda html: HTMLResponse(html, 206, {"Content-Range": "bytes 0-9/10"}),
    "range": lambda html: HTMLResponse(html, 200, {"Content-Range": "bytes 0-9/10"}),
    "no content": lambda html: Response(status_code=204, media_type="text/html"),
    "not modified": lambda html: Response(status_code=304, headers={"ETag": '"x"'}, media_type="text/html"),
    "unknown charset": lambda html: Response(html, media_type="text/html; charset=klingon"),
}


@embeds
@pytest.mark.parametrize("make_response", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_a_response_that_is_no_page_passes_byte_for_byte(
    make: Make, make_response: Callable[[str], Response]
) -> None:
    made, embed = list[str](), make(FAQS)

    def with_headers(html: str) -> Response:
        response = make_response(html)
        response.headers["ETag"] = '"mine"'
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    async def endpoint(request: Request) -> Response:
        made.append(two(embed))
        return with_headers(made[0])

    async def plain(request: Request) -> Response:
        return with_headers(made[0])

    response = get(app_of(embed, endpoint))
    expected = get(Starlette(routes=[Route("/", plain)]))
    assert (response.status, response.body) == (expected.status, expected.body)
    # The endpoint did request FAQs in the visitor's language.
    assert response.headers == [*expected.headers, ("vary", "Accept-Language")]


def test_an_faq_in_what_cannot_be_filled_in_gives_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    embed, made = slow_embed(FAQS), list[str]()

    async def endpoint(request: Request) -> Response:
        embed.forget()
        made.append(two(embed))
        return JSONResponse({"html": made[-1]})

    app = app_of(embed, endpoint)
    for _ in range(2):
        assert json.loads(get(app).text) == {"html": made[-1]}
    (record,) = caplog.records
    assert "aprefetch" in record.getMessage()


# Other middlewares


class Passing(BaseHTTPMiddleware):
    """What `@app.middleware("http")` makes: it turns every response into a stream."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers["X-Passed"] = "yes"
        return response


def stacked(embed: FAQEmbed, endpoint: Endpoint, outside: Any = None, inside: Any = None) -> Starlette:
    """Return an application with our middleware between two others; each is a class and its options."""
    app = Starlette(routes=[Route("/", endpoint)])
    for kind, options in filter(None, (inside, (FAQMiddleware, {"embed": embed}), outside)):
        app.add_middleware(kind, **options)
    return app


GZIP = (GZipMiddleware, {"minimum_size": 10})
OTHERS: dict[str, Any] = {
    "session": (SessionMiddleware, {"secret_key": "secret"}),
    "cors": (CORSMiddleware, {"allow_origins": ["*"], "allow_credentials": True, "expose_headers": ["X"]}),
    "base": (Passing, {}),
}
HEADERS = [("Origin", "https://other.test"), ("Accept-Encoding", "gzip")]


@embeds
@pytest.mark.parametrize("side", ["outside", "inside"])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_other_middlewares_work_before_and_after(make: Make, side: str, other: Any) -> None:
    def endpoint_for(embed: FAQEmbed | None) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            if "session" in request.scope:
                request.session["seen"] = 1
            response = HTMLResponse(two(embed) if embed else "plain")
            response.set_cookie("a", "1")
            response.set_cookie("b", "2")
            return response

        return endpoint

    embed = make(FAQS)
    response = get(stacked(embed, endpoint_for(embed), **{side: other}), headers=HEADERS)
    plain = Starlette(routes=[Route("/", endpoint_for(None))])
    plain.add_middleware(other[0], **other[1])
    expected = get(plain, headers=HEADERS)

    def comparable(sent: Sent) -> list[tuple[str, str]]:
        cookies = [(n, v.partition("=")[0] if "session" in v else v) for n, v in sent.headers]
        return sorted(header for header in cookies if header[0] not in ("content-length", "vary"))

    assert summary(response.body) == page_of(A, B)
    assert comparable(response) == comparable(expected)
    assert [v[:3] for v in response.all("set-cookie") if v[:2] in ("a=", "b=")] == ["a=1", "b=2"]
    assert response.all("content-length") in ([], [str(len(response.body))])
    vary = ",".join(response.all("vary")).replace(" ", "").split(",")
    assert sorted(vary) == sorted({*vary})
    assert "Accept-Language" in vary


@embeds
@pytest.mark.parametrize("side", ["outside", "inside"])
def test_an_email_is_not_in_the_faq_page_whichever_middleware_there_is(make: Make, side: str) -> None:
    embed = make(FAQS)

    async def endpoint(request: Request) -> Response:
        await embed.arender("legal")  # the email
        return HTMLResponse(f"<h1>ä</h1>{embed.render('pricing')}")

    response = get(stacked(embed, endpoint, **{side: (Passing, {})}))
    assert summary(response.body) == page_of(A)


@embeds
def test_gzip_outside_compresses_the_page_with_its_faqs(make: Make) -> None:
    embed = make(FAQS)

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(two(embed))

    response = get(stacked(embed, endpoint, outside=GZIP), headers=HEADERS)
    assert summary(gzip.decompress(response.body)) == page_of(A, B)
    assert response.all("content-encoding") == ["gzip"]


@embeds
def test_gzip_inside_passes_and_an_uncached_faq_gives_one_warning(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    embed, made = make(FAQS), list[str]()

    async def endpoint(request: Request) -> Response:
        embed.forget()
        made.append(two(embed))
        return HTMLResponse(made[-1])

    app = stacked(embed, endpoint, inside=GZIP)
    for _ in range(2):
        response = get(app, headers=HEADERS)
        assert gzip.decompress(response.body).decode() == made[-1]
        assert response.all("content-length") == [str(len(response.body))]
    assert ["aprefetch" in record.getMessage() for record in caplog.records] == [True] * (make is slow_embed)
