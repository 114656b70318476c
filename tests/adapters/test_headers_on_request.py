"""Headers that a site asks for: where its FAQs came from (RFC 9211, Server-Timing), and cache tags."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import pytest
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from flask import Flask, Response, render_template_string
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.api.cache_tags import MAX_LENGTH, with_cache_tags
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.testing.chaos.clients import Client, open_client
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.adapters import test_preview
from tests.support import django_project, samples
from tests.support import faulty as behaviours
from tests.support.clock import Clock
from tests.support.embeds import use_clock
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle

TEMPLATE = "<html><body>{{ faq('pricing') }}</body></html>"


OWN: Final = {"Server-Timing": "db;dur=5"}

Host = Callable[[FAQEmbed], AbstractContextManager[Client]]


@contextmanager
def flask_host(embed: FAQEmbed) -> Iterator[Client]:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "home", lambda: Response(render_template_string(TEMPLATE), headers=OWN))
    with open_client(app) as client:
        yield client


@contextmanager
def starlette_host(embed: FAQEmbed) -> Iterator[Client]:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render(), headers=OWN)

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    with open_client(app) as client:
        yield client


@contextmanager
def wsgi_host(embed: FAQEmbed) -> Iterator[Client]:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/html"), *OWN.items()])
        return [template.render().encode()]

    with open_client(WSGIMiddleware(app, embed=embed)) as client:
        yield client


@contextmanager
def django_host(embed: FAQEmbed) -> Iterator[Client]:
    view = django_project.page(TEMPLATE, using="jinja", headers=OWN)
    with django_project.project(view, embed), open_client(get_wsgi_application()) as client:
        yield client


@contextmanager
def django_async_host(embed: FAQEmbed) -> Iterator[Client]:
    view = django_project.async_page(TEMPLATE, using="jinja", headers=OWN)
    with django_project.project(view, embed), open_client(get_asgi_application()) as client:
        yield client


hosts = pytest.mark.parametrize(
    "host", [flask_host, starlette_host, wsgi_host, django_host, django_async_host]
)


def header(client: Client, name: str) -> list[str]:
    """Return the values of a header of the page."""
    return [value for key, value in client.get("/").headers.multi_items() if key.lower() == name]


@hosts
def test_cache_status_follows_an_faq_from_miss_to_stale(
    host: Host, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.record("pricing", lang="ko"), {"Cache-Control": "max-age=100"})
    embed = FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=5, lang="ko")
    use_clock(embed, clock)
    with embed, host(embed) as client:
        assert header(client, "cache-status") == ['faqsvc; fwd=miss; stored; ttl=95; key="pricing?lang=ko"']
        clock.advance(10)
        assert header(client, "cache-status") == ['faqsvc; hit; ttl=85; key="pricing?lang=ko"']
        faulty.behave(behaviours.status(503))
        clock.advance(100)
        assert header(client, "cache-status") == [
            'faqsvc; hit; ttl=-15; key="pricing?lang=ko"; detail=stale-while-revalidate'
        ]
        settle(embed)
        assert header(client, "cache-status") == [
            'faqsvc; hit; ttl=-15; key="pricing?lang=ko"; detail=stale-if-error'
        ]


@hosts
@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (behaviours.status(410), 'faqsvc; fwd=miss; fwd-status=410; key="pricing?lang=ko"; detail=not-found'),
        (
            behaviours.status(500),
            'faqsvc; fwd=miss; fwd-status=500; key="pricing?lang=ko"; detail=unavailable',
        ),
        (behaviours.hang, 'faqsvc; fwd=miss; key="pricing?lang=ko"; detail=late'),
    ],
    ids=["410", "500", "late"],
)
def test_cache_status_says_why_an_faq_is_missing(
    host: Host, behaviour: behaviours.Behaviour, status: str, faulty: FaultyServer
) -> None:
    faulty.behave(behaviour)
    embed = FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=0.3, lang="ko")
    with embed, host(embed) as client:
        assert header(client, "cache-status") == [status]


@hosts
def test_server_timing_has_the_time_that_the_page_waited(host: Host, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.hang)
    embed = FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=0.1)
    with embed, host(embed) as client:
        own, ours = ", ".join(header(client, "server-timing")).split(", ")
        assert own == "db;dur=5"
        duration = float(ours.split("dur=")[1].split(";")[0])
        assert 90 <= duration < 1000


@hosts
def test_there_are_no_such_headers_by_default(host: Host, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, wait=5) as embed, host(embed) as client:
        assert header(client, "cache-status") == []
        assert header(client, "server-timing") == ["db;dur=5"]


def test_a_hostile_slug_cannot_break_the_header(faulty: FaultyServer) -> None:
    app = Flask("host")
    with FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=5) as embed:
        FAQExtension(app, embed=embed)

        @app.get("/")
        def home() -> str:
            for slug in ('a"b', "é\\", *(f"x{number}" for number in range(20))):
                embed.use_faq(slug, wait=0.05)
            return "page"

        with open_client(app) as client:
            (status,) = header(client, "cache-status")
    assert 'key="a\\"b"' in status
    assert 'key="?\\\\"' in status
    assert status.count("faqsvc;") == 10


TAGGED = [
    test_preview.flask_host,
    test_preview.starlette_host,
    test_preview.wsgi_host,
    test_preview.django_host,
]
PAGE = "<title>Prices</title>{{ faq('pricing') }}{{ faq('no such') }}{{ use_faq('pricing') and '' }}"
NAMES = ("Cache-Groups", "Surrogate-Key", "Cache-Tag")


@pytest.mark.parametrize("host", TAGGED)
def test_a_page_names_all_its_faqs_even_missing_ones(host: Any) -> None:
    embed = fake_embed({"pricing": samples.pricing()}, cache_tags=True)
    _, headers = host(embed, PAGE)("/")
    assert [headers[name] for name in NAMES] == [
        '"faq-pricing", "faq-no%20such"',
        "faq-pricing faq-no%20such",
        "faq-pricing,faq-no%20such",
    ]


@pytest.mark.parametrize("host", TAGGED)
def test_a_page_without_faqs_and_a_page_by_default_name_none(host: Any) -> None:
    for page, cache_tags in (("<title>Prices</title>", True), (PAGE, False)):
        _, headers = host(fake_embed({"pricing": samples.pricing()}, cache_tags=cache_tags), page)("/")
        assert not any(name in headers for name in NAMES)


def test_the_tags_of_the_host_are_kept() -> None:
    headers = [("cache-tag", "home"), ("Surrogate-Key", "a b"), ("cache-groups", '"x";p'), ("Vary", "Accept")]
    assert with_cache_tags(headers, ["a,b", "한국"]) == [
        ("Vary", "Accept"),
        ("Cache-Groups", '"x";p, "faq-a%2Cb", "faq-%ED%95%9C%EA%B5%AD"'),
        ("Surrogate-Key", "a b faq-a%2Cb faq-%ED%95%9C%EA%B5%AD"),
        ("Cache-Tag", "home,faq-a%2Cb,faq-%ED%95%9C%EA%B5%AD"),
    ]


def test_many_faqs_and_invalid_slugs_do_not_make_headers_too_long() -> None:
    slugs = ["a\r\nb", "\ud800", "가" * 200, "\N{GRINNING FACE}" * 200, *map(str, range(1000))]
    headers = dict(with_cache_tags([], slugs))
    tags = headers["Surrogate-Key"].split()
    assert tags == [f"faq-{number}" for number in range(len(tags))]
    assert len(tags) > 80
    assert max(map(len, headers.values())) <= MAX_LENGTH
    assert with_cache_tags([("Cache-Tag", "home")], []) == [("Cache-Tag", "home")]
