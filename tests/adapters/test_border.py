"""No exception of the package breaks a page: each function that a request runs is made to raise, one at a time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType
from typing import Any, Final

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import AsyncClient
from django.test import Client as DjangoClient
from flask import Flask, Response, render_template, stream_template
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route
from werkzeug.test import Client as WSGIClient

from faqsvc_embed import FAQ, FAQEmbed, wsgi
from faqsvc_embed.api.cache_control import NO_CACHE_CONTROL
from faqsvc_embed.api.requests import NO_VALIDATORS
from faqsvc_embed.api.responses import Fetched, Outcome
from faqsvc_embed.cache.source import BaseSource, Read
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import asgi, django_project
from tests.support.injection import InjectedError, InjectedMemoryError, codes_of, is_lazy, name_of, raising

EXEMPT: Final = {
    "flask": {},
    "starlette": {},
    "django": {},
    "django-async": {},
    "wsgi": {},
}
"""The entry points, which a framework or a template calls, and the guard itself."""

WORDS: Final = ("<h1>Words of the host</h1>", "<p>More of them</p>")
TEMPLATE: Final = "FAQ".join(WORDS)
Get = Callable[[str], tuple[int, str]]
Host = Callable[[FAQEmbed, str], AbstractContextManager[Get]]


class Source(BaseSource):
    """Fetches records and drafts on the background loop, as a service does."""

    name = "records"
    has_drafts = True

    async def fetch(self, read: Read) -> Outcome:
        return self._record(read, "Published.")

    async def fetch_draft(self, read: Read, token: str) -> Outcome:
        return self._record(read, "Draft.")

    @staticmethod
    def _record(read: Read, answer: str) -> Outcome:
        items = [{"question": "Q?", "answer": answer}]
        faq = FAQ.from_dict({"slug": read.key.slug, "lang": "en", "items": items})
        return Fetched(faq, NO_CACHE_CONTROL, NO_VALIDATORS)


def new_embed() -> FAQEmbed:
    embed = FAQEmbed("https://faq.invalid", push=False, cache_tags=True, degraded_max_age=60, wait=5)
    embed.use_source(Source())
    return embed


@contextmanager
def flask_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    app = Flask("host")
    app.config["PROPAGATE_EXCEPTIONS"] = False
    FAQExtension(app, embed=embed)
    app.jinja_loader = DictLoader({"page": template})  # type: ignore[assignment]
    app.add_url_rule("/", "page", lambda: render_template("page"))
    app.add_url_rule("/stream", "stream", lambda: Response(stream_template("page")))

    def get(path: str) -> tuple[int, str]:
        with app.test_client().get(path) as response:
            return response.status_code, response.text

    yield get


@contextmanager
def starlette_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    environment = Environment(autoescape=True)
    install(environment, embed)
    parsed = environment.from_string(template)

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(parsed.render())

    async def stream(_: Request) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            for part in parsed.generate():
                yield part

        return StreamingResponse(parts(), media_type="text/html")

    app = Starlette(routes=[Route("/", page), Route("/stream", stream)])
    app.add_middleware(FAQMiddleware, embed=embed)

    def get(path: str) -> tuple[int, str]:
        sent = asgi.get(app, path)
        return sent.status, sent.text

    yield get


@contextmanager
def wsgi_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    environment = Environment(autoescape=True)
    install(environment, embed)
    parsed = environment.from_string(template)

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        write = start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        match environ["PATH_INFO"]:
            case "/stream":
                return (part.encode() for part in parsed.generate())
            case "/write":
                write(parsed.render().encode())
                return []
        return [parsed.render().encode()]

    client = WSGIClient(wsgi.FAQMiddleware(app, embed=embed))

    def get(path: str) -> tuple[int, str]:
        with client.get(path) as response:
            return response.status_code, response.text

    yield get


@contextmanager
def django_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    def view(request: HttpRequest, **_: object) -> HttpResponse | StreamingHttpResponse:
        page = django_project.render(template, request, using="jinja" if "{{" in template else "django")
        if request.path == "/stream":
            return StreamingHttpResponse(iter([page[:30], page[30:]]))
        return HttpResponse(page)

    with django_project.project(view, embed, ROOT_URLCONF="tests.support.django_project"):
        client = DjangoClient(raise_request_exception=False)

        def get(path: str) -> tuple[int, str]:
            response = client.get(path)
            return response.status_code, _body_of(response).decode()

        yield get


@contextmanager
def django_async_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    async def view(request: HttpRequest, **_: object) -> HttpResponse | StreamingHttpResponse:
        page = django_project.render(template, request, using="jinja" if "{{" in template else "django")
        if request.path != "/stream":
            return HttpResponse(page)

        async def parts() -> AsyncIterator[str]:
            yield page[:30]
            yield page[30:]

        return StreamingHttpResponse(parts())

    with django_project.project(view, embed):

        async def aget(path: str) -> tuple[int, str]:
            response: Any = await AsyncClient(raise_request_exception=False).get(path)
            if response.streaming:
                return response.status_code, b"".join([part async for part in response]).decode()
            return response.status_code, response.content.decode()

        yield lambda path: asyncio.run(aget(path))


def _body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


HOSTS: Final[dict[str, Host]] = {
    "flask": flask_host,
    "starlette": starlette_host,
    "django": django_host,
    "django-async": django_async_host,
    "wsgi": wsgi_host,
}
FAQ_TAG: Final = "{% faq 'pricing' %}"
PAGES: Final = {
    "none": ("/", ""),
    "cached": ("/", "{{ faq('pricing') }}{% faq 'pricing' %}"),
    "uncached": ("/", "{{ faq('pricing') }}"),
    "preview": ("/?faq_preview=12345678", "{{ faq('pricing') }}"),
    "stream": ("/stream", "{{ faq('pricing') }}"),
}


def page(host: str, kind: str) -> tuple[str, str]:
    path, tags = PAGES[kind]
    if host.startswith("django"):
        tags = FAQ_TAG if tags else ""
    return path, TEMPLATE.replace("FAQ", tags)


class Tracebacks(logging.Handler):
    """Counts the tracebacks of injected errors in the log."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, InjectedError | InjectedMemoryError):
            self.errors.append(record.getMessage())


@contextmanager
def tracebacks() -> Iterator[list[str]]:
    handler, logger = Tracebacks(), logging.getLogger("faqsvc_embed")
    logger.addHandler(handler)
    try:
        yield handler.errors
    finally:
        logger.removeHandler(handler)


def faults(host: str, kind: str, error: type[Exception] = InjectedError) -> dict[str, str]:
    """Return the functions that harm a page if they raise, and how."""
    found: dict[str, str] = {}
    for code in codes(host, kind):
        for late in (False, True) if is_lazy(code) else (False,):
            problem = attempt(host, kind, code, error, late)
            if problem:
                found[name_of(code)] = problem
    return found


def codes(host: str, kind: str) -> list[CodeType]:
    path, template = page(host, kind)
    with new_embed() as embed, HOSTS[host](embed, template) as get:
        if kind == "cached":
            get(path)
            embed.prefetch("pricing")
        return codes_of(lambda: get(path))


def attempt(host: str, kind: str, code: CodeType, error: type[Exception], late: bool) -> str:
    path, template = page(host, kind)
    with new_embed() as embed, HOSTS[host](embed, template) as get, tracebacks() as logged:
        if kind == "cached":
            get(path)
            embed.prefetch("pricing")
        logged.clear()
        with raising(code, error, late=late):
            for _ in range(2):
                try:
                    status, text = get(path)
                except BaseException as raised:
                    return f"raised {raised!r}"
                if status != 200:
                    return f"status {status}"
                if not all(word in text for word in WORDS):
                    return f"lost words: {text[:100]!r}"
        if len(logged) != 1:
            return f"logged {len(logged)} times"
        status, text = get(path)
        return "" if status == 200 and all(word in text for word in WORDS) else "broken afterwards"
    return ""


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("host", HOSTS)
def test_no_function_of_the_package_breaks_a_page_if_it_raises(host: str, kind: str) -> None:
    assert faults(host, kind) == {}
