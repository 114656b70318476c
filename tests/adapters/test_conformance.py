"""The same FAQ gives the same bytes, whatever the framework, and whether it was cached or had to be awaited.

Each way takes the source of a template and returns the body that leaves. A cached FAQ in plain Jinja is what
all others are compared with.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from django.test import Client
from fastapi import FastAPI
from fastapi import Request as FastAPIRequest
from flask import Flask, render_template_string
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from werkzeug.test import Client as WSGIClient

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.fastapi import FAQMiddleware
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.support import django_project, samples
from tests.support.asgi import get
from tests.support.cases import sampled
from tests.support.pages import embeds, environment
from tests.support.parsed import faq_pages
from tests.support.slow import slow_embed

FAQS: Mapping[str, FAQ] = {
    "pricing": FAQ.from_dict(samples.pricing()),
    "legal": FAQ.from_dict(
        samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal", lang="de")
    ),
    "nasty": FAQ.from_dict(samples.nasty()),
    "large": FAQ.from_dict(samples.large(100, 10)),
    "empty": FAQ.from_dict(samples.record("empty", (" ", "x"))),
    **{lang: FAQ.from_dict({**r, "slug": lang}) for lang, r in samples.multilingual().items()},
}
MACROS = '{% from "faqsvc/macros.html" import faq, use_faq, faq_schema %}'

Make = Callable[..., FAQEmbed]
Way = Callable[[str, Make], bytes]


def flask(source: str, make: Make) -> bytes:
    app = Flask("host")
    FAQExtension(app, embed=make(FAQS))
    app.add_url_rule("/", view_func=lambda: render_template_string(source))
    return bytes(app.test_client().get("/").data)


def flask_async(source: str, make: Make) -> bytes:
    """A Flask view that runs a loop of its own, as its async views do."""
    app, embed = Flask("host"), make(FAQS)
    FAQExtension(app, embed=embed)
    template = environment(embed, enable_async=True).from_string(source)
    app.add_url_rule("/", view_func=lambda: asyncio.run(template.render_async()))
    return bytes(app.test_client().get("/").data)


def starlette(source: str, make: Make) -> bytes:
    embed = make(FAQS)
    templates = Jinja2Templates(env=environment(embed))
    template = templates.env.from_string(source)

    async def endpoint(request: Request) -> Response:
        return templates.TemplateResponse(request, template)  # type: ignore[arg-type]

    return served_by(Starlette(routes=[Route("/", endpoint)]), embed)


def starlette_on_a_thread(source: str, make: Make) -> bytes:
    template = environment(embed := make(FAQS)).from_string(source)

    def endpoint(request: Request) -> Response:
        return HTMLResponse(template.render())

    return served_by(Starlette(routes=[Route("/", endpoint)]), embed)


def starlette_async(source: str, make: Make) -> bytes:
    template = environment(embed := make(FAQS), enable_async=True).from_string(source)

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(await template.render_async())

    return served_by(Starlette(routes=[Route("/", endpoint)]), embed)


def starlette_in_chunks(source: str, make: Make) -> bytes:
    template = environment(embed := make(FAQS)).from_string(source)

    async def endpoint(request: Request) -> Response:
        body = template.render().encode()
        chunks = (body[at : at + 1024] for at in range(0, len(body), 1024))
        return StreamingResponse(chunks, media_type="text/html")

    return served_by(Starlette(routes=[Route("/", endpoint)]), embed)


def fastapi(source: str, make: Make) -> bytes:
    template = environment(embed := make(FAQS)).from_string(source)
    app = FastAPI()

    @app.get("/", response_class=HTMLResponse)
    async def endpoint(request: FastAPIRequest) -> str:
        return template.render()

    return served_by(app, embed)


def served_by(app: Starlette, embed: FAQEmbed) -> bytes:
    app.add_middleware(FAQMiddleware, embed=embed)
    return get(app).body


def wsgi(source: str, make: Make) -> bytes:
    template = environment(embed := make(FAQS)).from_string(source)

    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return [template.render().encode()]

    return bytes(WSGIClient(WSGIMiddleware(app, embed=embed)).get("/", buffered=True).data)


def django(source: str, make: Make) -> bytes:
    with django_project.project(django_project.page(source, using="jinja"), make(FAQS)):
        return bytes(Client().get("/").content)


def django_async(source: str, make: Make) -> bytes:
    with django_project.project(django_project.async_page(source, using="jinja"), make(FAQS)):
        return asyncio.run(django_project.aget())


def django_async_in_wsgi(source: str, make: Make) -> bytes:
    with django_project.project(django_project.async_page(source, using="jinja"), make(FAQS)):
        return bytes(Client().get("/").content)


WAYS = [
    flask,
    flask_async,
    starlette,
    starlette_on_a_thread,
    starlette_async,
    starlette_in_chunks,
    fastapi,
    wsgi,
    django,
    django_async,
    django_async_in_wsgi,
]


ways = pytest.mark.parametrize("way", WAYS)
ONE = {
    "function": '<p>ä</p>{{ faq("pricing") }}<p>ö</p>',
    "tag": '<p>ä</p>{% faq "pricing" %}<p>ö</p>',
    "macro": MACROS + '<p>{{ faq("pricing") }}</p>',
    "every option": '{{ faq("legal", lang="de", theme={"accentColor": "teal", "questionSize": 18}, '
    "show_title=false, heading_level=4, nonce='ab==') }}",
    "no headings": '{{ faq("legal", heading_level=none) }}',
    "a bad theme": '{{ faq("legal", theme={"accentColor": "red;}"}) }}',
    "nasty": '{{ faq("nasty") }}',
    "large": '{{ faq("large") }}',
    "unknown": '<p>{{ faq("unknown") }}{{ faq("a/b") }}{{ faq("") }}{{ faq("empty") }}</p>',
    "schema apart": '{{ faq("pricing", schema=false) }}<hr>{{ faq_schema() }}',
    "no schema": '{{ faq("pricing", schema=false) }}',
    **{lang: f'{{{{ faq("{lang}") }}}}' for lang in samples.multilingual()},
}
SEVERAL = {
    "two": '{{ faq("pricing") }}<hr>{{ faq("legal") }}',
    "twice": '{{ faq("pricing") }}{{ faq("legal") }}{{ faq("pricing") }}',
    "two looks": '{{ faq("pricing", theme={"accentColor": "teal"}) }}{{ faq("legal") }}'
    '{{ faq("ko", theme={"accentColor": "#123"}) }}',
    "two nonces": '{{ faq("pricing", nonce="a") }}{{ faq("legal", nonce="a") }}',
    "nothing first": '{{ faq("unknown") }}{{ faq("empty") }}{{ faq("pricing") }}{{ faq("legal") }}',
    "nasty and large": '{{ faq("nasty") }}<hr>{{ faq("large") }}<hr>{{ faq("nasty") }}',
    "all languages": "".join(f'{{{{ faq("{lang}") }}}}' for lang in samples.multilingual()),
    "loop": '{% for slug in ["legal", "pricing", "legal"] %}{% faq slug %}{% endfor %}',
    "schema at the end": '{% faq "legal", schema=false %}{% faq "pricing", schema=false %}{{ faq_schema() }}',
    "schema in the middle": '{% faq "legal" %}{{ faq_schema() }}{% faq "pricing", schema=false %}'
    "{{ faq_schema() }}",
}


SAMPLE = ("every option", "nasty", "two looks", "nothing first", "schema in the middle")
"""The pages that every run opens in every host; the others belong to the matrix."""
PAGES = [
    pytest.param(source, id=name, marks=() if name in SAMPLE else pytest.mark.matrix)
    for name, source in (ONE | SEVERAL).items()
]


@cache
def expected(source: str) -> bytes:
    return environment(fake_embed(FAQS)).from_string(source).render().encode()


@embeds
@ways
def test_a_result_that_is_printed_twice_is_one_faq_page(way: Way, make: Make) -> None:
    body = way('{% set x = faq("pricing") %}{{ x }}<hr>{{ x }}', make)
    assert [len(page["mainEntity"]) for page in faq_pages(body)] == [3]


@embeds
@ways
@pytest.mark.parametrize("source", PAGES)
def test_the_same_faq_gives_the_same_bytes(way: Way, make: Make, source: str) -> None:
    assert way(source, make) == expected(source)


DJANGO = {
    '{% faq "pricing" %}': '{{ faq("pricing") }}',
    '{% faq "legal" lang="de" show_title=False heading_level=4 nonce="n" %}': (
        '{{ faq("legal", lang="de", show_title=false, heading_level=4, nonce="n") }}'
    ),
    '{% faq "legal" heading_level=None variant="disclosure" %}': (
        '{{ faq("legal", heading_level=none, variant="disclosure") }}'
    ),
    '{% faq "nasty" %}<hr>{% faq "large" %}<hr>{% faq "nasty" %}': SEVERAL["nasty and large"],
    '{% faq "legal" schema=False %}{% faq "pricing" schema=False %}{% faq_schema %}': SEVERAL[
        "schema at the end"
    ],
    '<p>{% faq "unknown" %}{% faq "a/b" %}{% faq "" %}{% faq "empty" %}</p>': ONE["unknown"],
}


@embeds
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("source", sampled(DJANGO, list(DJANGO)[1:6:2]))
def test_the_tags_of_django_print_the_same(source: str, is_async: bool, make: Make) -> None:
    view = django_project.async_page if is_async else django_project.page
    with django_project.project(view(source), make(FAQS)):
        body = asyncio.run(django_project.aget()) if is_async else Client().get("/").content
    assert body == expected(DJANGO[source])


@pytest.mark.parametrize("source", PAGES)
def test_plain_jinja_prints_the_same_in_an_event_loop_and_in_parts(source: str) -> None:
    template = environment(fake_embed(FAQS)).from_string(source)
    asynchronous = environment(fake_embed(FAQS), enable_async=True).from_string(source)
    assert asyncio.run(asynchronous.render_async()).encode() == expected(source)
    assert "".join(template.generate()).encode() == expected(source)


@pytest.mark.parametrize("slug", sampled(FAQS, ("legal", "nasty", "empty", "ja")))
def test_the_facade_prints_the_same(slug: str) -> None:
    for make in (fake_embed, slow_embed):
        assert make(FAQS).render(slug).encode() == expected(f'{{{{ faq("{slug}") }}}}')
        assert asyncio.run(make(FAQS).arender(slug)).encode() == expected(f'{{{{ faq("{slug}") }}}}')


HEADLESS = (
    '{% set state = use_faq("nasty") %}{{ state.data.title }}{{ state.lang_served }}{{ state.error }}'
    '{% for i in state.data["items"] %}{{ i.position }}{{ i.question }}{{ i.answer }}{% endfor %}'
    "{{ faq_schema(state) }}"
)


@ways
def test_the_hook_says_the_same(way: Way) -> None:
    assert way(HEADLESS, fake_embed) == expected(HEADLESS)


def test_linked_styles_have_the_same_address_everywhere() -> None:
    def linked(faqs: Mapping[str, FAQ]) -> FAQEmbed:
        return fake_embed(faqs, styles="linked")

    bodies = {way(ONE["function"], linked) for way in WAYS}
    assert len(bodies) == 1
    assert b'<link rel="stylesheet" href="/faqsvc/faqsvc.' in bodies.pop()
