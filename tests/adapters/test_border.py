"""No exception of ours breaks a page: each function that a request runs is made to raise, one at a time."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import takewhile
from types import CodeType
from typing import Any, Final

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import AsyncClient
from django.test import Client as DjangoClient
from flask import Flask, Response, render_template_string, stream_template_string
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route
from werkzeug.test import Client as WSGIClient

from faqsvc_embed import FAQ, FAQEmbed, wsgi
from faqsvc_embed.api.requests import NO_VALIDATORS
from faqsvc_embed.api.responses import NO_CACHE_CONTROL, Fetched, Outcome
from faqsvc_embed.cache.source import BaseSource, Read
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.page.document import DOCUMENT
from faqsvc_embed.page.page import request_page
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import asgi, django_project
from tests.support.injection import (
    Call,
    Injected,
    InjectedError,
    InjectedMemoryError,
    calls_of,
    closures_are_found,
    is_lazy,
    name_of,
    raising,
)
from tests.support.pages import environment

pytestmark = [
    # A generator gets the code of a plain function. As an error, the warning would leave it so.
    pytest.mark.filterwarnings("ignore:Assigning a code object of non-matching type:DeprecationWarning"),
    # The garbage collector and threads report what an exception has left half made. No page is harmed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]

JINJA: Final = {"jinja:DocumentTemplate.render", "jinja:_global.<locals>.call", "jinja:FAQTag.parse"}
TAG: Final = {"django.templatetags.faqsvc:faq", "django.templatetags.faqsvc:_guarded"}
GUARD: Final = {"page.border:guarded"}
EXEMPT: Final = {
    "flask": JINJA | GUARD | {"flask:_finish", "flask:_new_page.<locals>.<lambda>"},
    "starlette": JINJA | GUARD | {"starlette:FAQMiddleware.__call__", "starlette:_Response.send"},
    "django": TAG
    | GUARD
    | {
        "django.middleware:FAQMiddleware.__call__",
        "django.middleware:FAQMiddleware._respond",
        "django.middleware:_end_page",
        "page.border:guarded_parts",
    },
    "django-async": TAG
    | GUARD
    | {
        "page.border:aguarded",
        "django.middleware:FAQMiddleware.__call__",
        "django.middleware:FAQMiddleware._respond_async",
        "django.middleware:DjangoPage._filled_parts",
        "django.middleware:_end_page",
    },
    "wsgi": JINJA
    | GUARD
    | {
        "wsgi:FAQMiddleware.__call__",
        "wsgi:_Response.start",
        "wsgi:_Response.write",
        "wsgi:_Response.__iter__",
    },
}
"""The entry points, which a framework or a template calls, and the guard itself. Hosts compile their
templates in the request. No list grows beyond 6 names in Flask and Starlette, and 8 in Django and WSGI."""
STREAMED: Final = {"jinja:DocumentTemplate.generate", "page.border:guarded_parts"}
"""The same for a template that is rendered in parts."""
USED: Final = {
    "django.templatetags.faqsvc:use_faq",
    "django.templatetags.faqsvc:faq_schema",
    "models.items:Item.html",
    "models.items:Origin.html",
    "page.border:_guarded_answer",
}
"""The same for markup of the host's own, which prints the HTML of single answers."""
LOGGED_ELSEWHERE: Final = (
    "runtime.",
    "cache.fetcher:Fetcher._start",
    "cache.fetcher:Fetcher._ended",
    "rendering.record_cache:RecordCache.put.<locals>.",
)
"""A RuntimeError in these says that a thread cannot be started, for which a warning says what to do; or it is
raised in a callback of a future or of a weak reference, and the standard library reports it."""

WORDS: Final = ("<h1>Words of the host</h1>", "<p>More of them</p>")
TEMPLATE: Final = "FAQ".join(WORDS)
Get = Callable[[str], tuple[int, str]]
Host = Callable[[FAQEmbed, str], AbstractContextManager[Get]]


class Source(BaseSource):
    """Fetches records and drafts on the background loop, as a service does."""

    name = "records"
    has_drafts = True

    async def fetch(self, read: Read) -> Outcome:
        await asyncio.sleep(0.005)  # or some pages would have the FAQ at once
        return self._record(read, "Published." if read.key.token is None else "Draft.")

    @staticmethod
    def _record(read: Read, answer: str) -> Outcome:
        items = [{"question": "Q?", "answer": answer}]
        faq = FAQ.from_dict({"slug": read.key.slug, "lang": "en", "items": items, "answerFormat": "markdown"})
        return Fetched(faq, NO_CACHE_CONTROL, NO_VALIDATORS)


def new_embed(wait: float) -> FAQEmbed:
    embed = FAQEmbed("https://faq.invalid", push=False, cache_tags=True, degraded_max_age=60, wait=wait)
    embed.reader.use_source(Source())
    return embed


@contextmanager
def flask_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    app = Flask("host")
    app.config["PROPAGATE_EXCEPTIONS"] = False
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "page", lambda: render_template_string(template))
    app.add_url_rule("/stream", "stream", lambda: Response(stream_template_string(template)))

    def get(path: str) -> tuple[int, str]:
        with app.test_client().get(path) as response:
            return response.status_code, response.get_data(as_text=True)

    yield get


@contextmanager
def starlette_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    host = environment(embed)

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(host.from_string(template).render())

    async def stream(_: Request) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            for part in host.from_string(template).generate():
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
    host = environment(embed)

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        write = start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        match environ["PATH_INFO"]:
            case "/stream":
                return (part.encode() for part in host.from_string(template).generate())
            case "/write":
                write(host.from_string(template).render().encode())
                return []
        return [host.from_string(template).render().encode()]

    client = WSGIClient(wsgi.FAQMiddleware(app, embed=embed))

    def get(path: str) -> tuple[int, str]:
        with client.get(path) as response:
            return response.status_code, response.get_data(as_text=True)

    yield get


@contextmanager
def django_host(embed: FAQEmbed, template: str) -> Iterator[Get]:
    def view(request: HttpRequest, **_: object) -> HttpResponse | StreamingHttpResponse:
        page = django_project.render(template, request, using="django")
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
        page = django_project.render(template, request, using="django")
        if request.path != "/stream":
            return HttpResponse(page)

        async def parts() -> AsyncIterator[str]:
            yield page[:30]
            yield page[30:]

        return StreamingHttpResponse(parts())

    with django_project.project(view, embed):
        client = AsyncClient(raise_request_exception=False)

        async def aget(path: str) -> tuple[int, str]:
            response: Any = await client.get(path)
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
RARE: Final = {"django-async": "django", "wsgi": "flask"}
"""These are tried in the system tier only: most of what they run is tried in another one, too."""
FAQ_TAG: Final = "{% faq 'pricing' %}"
PAGES: Final = {
    "none": ("/", ""),
    "cached": ("/", "{% faq 'pricing' %}"),
    "uncached": ("/", "{{ faq('pricing') }}"),
    "preview": ("/?faq_preview=12345678", "{{ faq('pricing') }}"),
    "stream": ("/stream", "{{ faq('pricing') }}"),
    "used": (
        "/",
        "{% set state = use_faq('pricing') %}{% for item in (state.data.items if state.data else ()) %}"
        "{{ item.html }}{% endfor %}{{ faq_schema() }}",
    ),
}
DJANGO_TAGS: Final = {
    "used": "{% use_faq 'pricing' as state %}{% for item in state.data.items %}{{ item.html }}{% endfor %}"
    "{% faq_schema %}"
}


def page(host: str, kind: str) -> tuple[str, str]:
    path, tags = PAGES[kind]
    if host.startswith("django") and tags:
        tags = DJANGO_TAGS.get(kind, FAQ_TAG)
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
    logger.propagate = False  # pytest would keep the frames of each traceback beyond the end of the test
    try:
        yield handler.errors
    finally:
        logger.propagate = True
        logger.removeHandler(handler)


def faults(host: str, kind: str, error: type[Exception] = InjectedError) -> dict[str, str]:
    """Return the functions that harm a page if they raise, and how.

    An exception ends in a caller of its function, so a function is tried once for each of its callers on the
    pages of a host that have FAQs. What it does on a page without one says nothing about these. In a rare
    host, a function is tried unless the other host tries it with this caller; after a guard, each host goes
    on in its own way.
    """
    exempt = EXEMPT[host] | {"stream": STREAMED, "used": USED}.get(kind, set())
    found: dict[str, str] = {}
    with_faqs = [one for one in PAGES if one != "none"]
    tried = {call for one in takewhile(lambda one: one != kind, with_faqs) for call in calls(host, one)}
    if host in RARE and kind not in ("none", "cached", "uncached"):
        others = {call for one in with_faqs for call in calls(RARE[host], one)}
        tried |= {call for call in others if call[1] and not name_of(call[1]).startswith("page.border:")}
    for code in dict.fromkeys(call[0] for call in calls(host, kind) if call not in tried):
        name = name_of(code)
        for late in (False, True) if is_lazy(code) else (False,):
            if name not in exempt and (problem := attempt(host, kind, code, error, late)):
                found[name] = problem
    gc.collect()  # what is half made is reported now, not in a later test
    return found


@contextmanager
def client(host: str, kind: str, wait: float) -> Iterator[Callable[[], tuple[int, str]]]:
    """Start a host with an embed of its own. Frameworks make their middleware for the first request."""
    path, template = page(host, kind)
    with closures_are_found(), new_embed(wait) as embed, HOSTS[host](embed, template) as get:
        get("/no-page")
        embed.forget()  # some hosts have a page at any address
        if kind in ("cached", "used"):
            embed.prefetch("pricing")
        if kind == "cached":
            get(path)
        yield lambda: get(path)


def calls(host: str, kind: str) -> list[Call]:
    with client(host, kind, wait=60) as get:
        return calls_of(get)


def attempt(host: str, kind: str, code: CodeType, error: type[Exception], late: bool) -> str:
    """Return what is wrong with the pages of a host while a function raises, or after."""
    with client(host, kind, wait=0.1) as get, tracebacks() as logged:
        with raising(code, error, late=late):
            Injected.count, counts = 0, list[int]()
            # Each way to fail is logged once, and a page that waits for a fetch has several.
            while len(counts) < 3 or (len(counts) < 8 and counts[-1] > counts[-2]):
                try:
                    problem = problem_of(*get())
                except Exception as raised:
                    problem = f"raised {raised!r}"
                if problem:
                    return problem
                counts.append(len(logged))
        if Injected.count and not logged and not name_of(code).startswith(LOGGED_ELSEWHERE):
            return "not logged"
        # Between two pages that fail, a part of one may succeed, after which a failure is news.
        if kind not in ("stream", "preview") and counts[-1] > counts[-2]:
            return f"logged for every page: {counts}"
        if DOCUMENT.get() is not None or request_page() is not None:
            return "the page goes on in the context of its thread"
        return problem_of(*get())


def problem_of(status: int, text: str) -> str:
    if status != 200:
        return f"status {status}"
    return "" if all(word in text for word in WORDS) else f"lost words: {text[:100]!r}"


@pytest.mark.parametrize("kind", ["none", "cached"])
@pytest.mark.parametrize(
    "host",
    [*sorted(HOSTS.keys() - RARE), *(pytest.param(host, marks=pytest.mark.system) for host in RARE)],
)
def test_no_function_of_ours_breaks_a_page_if_it_raises(host: str, kind: str) -> None:
    assert faults(host, kind) == {}


@pytest.mark.system
@pytest.mark.parametrize("kind", ["uncached", "preview", "stream", "used"])
@pytest.mark.parametrize("host", HOSTS)
def test_no_function_of_ours_breaks_a_page_that_fetches_fills_or_streams(host: str, kind: str) -> None:
    assert faults(host, kind) == {}


@pytest.mark.system
def test_a_page_outlives_that_memory_is_short() -> None:
    assert [faults("starlette", kind, InjectedMemoryError) for kind in ("cached", "uncached")] == [{}, {}]


@pytest.mark.parametrize("host", HOSTS)
def test_only_entry_points_and_the_guard_are_exempt(host: str) -> None:
    assert len(EXEMPT[host]) <= (6 if host in ("flask", "starlette") else 8)
