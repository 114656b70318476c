"""Every kind of response is complete in every host: streams, error pages, HEAD, conditional GET, outages.

`test_conformance.py` compares the bytes of a page, and `test_preview.py` shows drafts, in the same hosts.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import AsyncClient as AsyncDjangoClient
from django.test import Client as DjangoClient
from django.utils import translation
from flask import Flask, Response, g, render_template_string, request, stream_with_context
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route
from werkzeug.test import Client as WSGIClient

from faqsvc_embed import FAQEmbed, wsgi
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import asgi, django_project, samples
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer
from tests.support.pages import FAQS, A, B, embeds, environment
from tests.support.parsed import nonces, page_of, summary
from tests.support.slow import slow_embed

TWO: Final = '{{ faq("pricing") }}<hr>{{ faq("legal") }}'
PARTS: Final = ('{{ faq("pricing") }}', '{{ faq("legal") }}')
LIFETIME: Final = {"Cache-Control": "max-age=600", "Expires": "Sat, 21 Nov 2126 08:00:00 GMT"}
HEADERS: Final = {"ETag": '"host"', **LIFETIME}


class Sent(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes


Get = Callable[..., Sent]
Host = Callable[[FAQEmbed], Get]


def sent(status: int, headers: Any, body: bytes) -> Sent:
    return Sent(status, {name.lower(): value for name, value in dict(headers).items()}, body)


def renderer(embed: FAQEmbed) -> Callable[[str], str]:
    host = environment(embed)
    return lambda source: host.from_string(source).render()


def flask(embed: FAQEmbed) -> Get:
    app = Flask("host")
    FAQExtension(app, embed=embed)

    @app.errorhandler(KeyError)
    def error(_: KeyError) -> tuple[str, int]:
        return render_template_string(TWO), 500

    @app.get("/<kind>")
    def page(kind: str) -> Response:
        g.csp_nonce, g.lang = request.args.get("nonce"), request.args.get("lang")
        if kind == "streamed":
            return app.response_class(stream_with_context(map(render_template_string, PARTS)))
        html = render_template_string(TWO)
        if kind == "rendered":
            return Response(iter([html]), headers=HEADERS)
        if kind == "error":
            raise KeyError
        response = Response(html, headers=HEADERS)
        response.make_conditional(request)
        return response

    def get(path: str, method: str = "GET", **headers: str) -> Sent:
        response = app.test_client().open(path, method=method, headers=headers)
        return sent(response.status_code, response.headers, response.data)

    return get


def plain_wsgi(embed: FAQEmbed) -> Get:
    render = renderer(embed)

    def app(environ: Any, start_response: Any) -> Any:
        kind = environ["PATH_INFO"].strip("/")
        query = dict(part.split("=") for part in environ["QUERY_STRING"].split("&") if part)
        environ["faqsvc.lang"], environ["faqsvc.csp_nonce"] = query.get("lang"), query.get("nonce")
        html = ("Content-Type", "text/html; charset=utf-8")
        if kind == "streamed":
            start_response("200 OK", [html])
            return (render(part).encode() for part in PARTS)
        body = render(TWO).encode()
        if kind == "rendered":
            start_response("200 OK", [html, *HEADERS.items()])
            return iter([body])
        if kind == "error":
            start_response("500 Internal Server Error", [html])
            return [render(TWO).encode()]
        start_response("200 OK", [html, *HEADERS.items(), ("Content-Length", str(len(body)))])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    client = WSGIClient(wsgi.FAQMiddleware(app, embed=embed))

    def get(path: str, method: str = "GET", **headers: str) -> Sent:
        response = client.open(path, method=method, headers=headers, buffered=True)
        return sent(response.status_code, response.headers, response.data)

    return get


def starlette(embed: FAQEmbed) -> Get:
    render = renderer(embed)

    async def page(request: Request) -> Any:
        request.state.csp_nonce = request.query_params.get("nonce")
        request.state.lang = request.query_params.get("lang")
        kind = request.path_params["kind"]
        if kind == "streamed":
            return StreamingResponse((render(part) for part in PARTS), media_type="text/html")
        html = render(TWO)
        if kind == "rendered":
            return StreamingResponse(iter([html]), headers=HEADERS, media_type="text/html")
        if kind == "error":
            raise KeyError
        return HTMLResponse(html, headers=HEADERS)

    async def error(request: Request, _: Exception) -> HTMLResponse:
        return HTMLResponse(render(TWO), 500)

    routes = [Route("/{kind}", page, methods=["GET", "HEAD"])]
    app = Starlette(routes=routes, exception_handlers={KeyError: error})
    app.add_middleware(FAQMiddleware, embed=embed)

    def get(path: str, method: str = "GET", **headers: str) -> Sent:
        response = asgi.get(app, path, method=method, headers=list(headers.items()))
        body = b"" if method == "HEAD" else response.body  # which the server leaves out
        return sent(response.status, response.headers, body)

    return get


def django(embed: FAQEmbed) -> Get:
    return _django(embed, is_async=False)


def django_async(embed: FAQEmbed) -> Get:
    return _django(embed, is_async=True)


def _django(embed: FAQEmbed, *, is_async: bool) -> Get:
    def render(source: str) -> str:
        return django_project.render(source, using="jinja")

    def page(request: HttpRequest, kind: str) -> Any:
        request.csp_nonce = request.GET.get("nonce")  # type: ignore[attr-defined]
        translation.activate(request.GET.get("lang", settings.LANGUAGE_CODE))
        if kind == "streamed":
            return StreamingHttpResponse(_async_parts() if is_async else map(render, PARTS))
        html = render(TWO)
        if kind == "rendered":
            return StreamingHttpResponse(_one_part(html) if is_async else [html], headers=HEADERS)
        if kind == "error":
            raise PermissionError
        return HttpResponse(html, headers=LIFETIME)

    async def _async_parts() -> AsyncIterator[str]:
        for part in PARTS:
            yield render(part)

    async def _one_part(html: str) -> AsyncIterator[str]:
        yield html

    async def async_page(request: HttpRequest, kind: str) -> Any:
        return page(request, kind)

    middleware = ["django.middleware.http.ConditionalGetMiddleware", django_project.MIDDLEWARE]

    def get(path: str, method: str = "GET", **headers: str) -> Sent:
        view = async_page if is_async else page
        options: dict[str, Any] = {"headers": headers}
        with django_project.project(view, embed, MIDDLEWARE=middleware), error_page():
            if is_async:
                return asyncio.run(_aget(path, method, options))
            client = DjangoClient(raise_request_exception=False)
            response: Any = getattr(client, method.lower())(path, **options)
            body = b"".join(response) if response.streaming else response.content
            return sent(response.status_code, response.headers, body)

    @contextmanager
    def error_page() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            error = lambda _: HttpResponse(render(TWO), status=500)  # noqa: E731
            patch.setattr(django_project, "handler500", error, raising=False)
            yield

    async def _aget(path: str, method: str, options: dict[str, Any]) -> Sent:
        client = AsyncDjangoClient(raise_request_exception=False)
        response: Any = await getattr(client, method.lower())(path, **options)
        body = b"".join([part async for part in response]) if response.streaming else response.content
        return sent(response.status_code, response.headers, body)

    return get


hosts = pytest.mark.parametrize("host", [flask, plain_wsgi, starlette, django, django_async])


@hosts
@embeds
@pytest.mark.parametrize(("path", "status"), [("/page", 200), ("/streamed", 200), ("/error", 500)])
def test_every_page_has_its_faqs_and_one_faq_page(host: Host, make: Any, path: str, status: int) -> None:
    response = host(make(FAQS))(path)
    found = summary(response.body)
    assert (response.status, found._replace(styles=1)) == (status, page_of(A, B))
    assert found.styles == (2 if path == "/streamed" else 1)  # each part is a document of its own
    assert b"<!--faqsvc" not in response.body
    assert response.headers.get("content-length") in (None, str(len(response.body)))


@hosts
def test_head_has_the_headers_of_get_and_no_body(host: Host) -> None:
    get = host(fake_embed(FAQS))
    whole, head = get("/page"), get("/page", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers.get("content-length") in (None, whole.headers.get("content-length"))
    assert head.headers["cache-control"] == whole.headers["cache-control"]


@hosts
def test_the_validators_of_the_host_stay(host: Host) -> None:
    get = host(fake_embed(FAQS))
    first = get("/page")
    assert first.headers["etag"]
    if host is not starlette and host is not plain_wsgi:  # these do not revalidate
        second = get("/page", **{"If-None-Match": first.headers["etag"]})
        assert (second.status, second.body) == (304, b"")
    assert get("/rendered").headers["etag"] == '"host"'


def test_a_body_that_was_filled_has_no_validator_of_another() -> None:
    for path in ("/page", "/rendered"):
        assert "etag" not in starlette(slow_embed(FAQS))(path).headers


@hosts
@embeds
def test_every_element_has_the_nonce_of_the_host(host: Host, make: Any) -> None:
    for path in ("/page?nonce=n", "/streamed?nonce=n"):
        assert set(nonces(host(make(FAQS))(path).body)) == {"n"}


@hosts
def test_the_language_is_that_of_the_host(host: Host, faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    with FAQEmbed(faulty.base_url, wait=20, timeout=20) as embed:
        host(embed)("/page?lang=de", **{"Accept-Language": "ko"})
    assert {request.lang for request in faulty.log if request.slug == "pricing"} == {"de"}


@hosts
def test_an_outage_costs_the_faqs_and_nothing_else(host: Host, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(500))
    with FAQEmbed(faulty.base_url, degraded_max_age=0, wait=20, timeout=20) as embed:
        response = host(embed)("/page")
    assert (response.status, response.body) == (200, b"<hr>")
    assert response.headers["cache-control"] == "max-age=0"
    assert "expires" not in response.headers
