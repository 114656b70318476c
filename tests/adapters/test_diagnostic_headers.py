"""On request, a page says in its headers where its FAQs came from (RFC 9211, Server-Timing)."""

from typing import Any

import pytest
from django.core.wsgi import get_wsgi_application
from django.utils import translation
from flask import Flask, Response, render_template_string
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed, wsgi
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing.chaos.clients import Client, open_client
from tests.adapters.test_degraded_pages import Host
from tests.support import django_project, samples
from tests.support import faulty as behaviours
from tests.support.clock import Clock
from tests.support.embeds import use_clock
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle

TEMPLATE = "<html><body>{{ faq('pricing') }}</body></html>"


def flask_host(embed: FAQEmbed) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=embed)

    @app.get("/")
    def home() -> Response:
        return Response(render_template_string(TEMPLATE), headers={"Server-Timing": "db;dur=5"})

    return app


def starlette_host(embed: FAQEmbed) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render(), headers={"Server-Timing": "db;dur=5"})

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def wsgi_host(embed: FAQEmbed) -> Any:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html"), ("Server-Timing", "db;dur=5")])
        return [template.render().encode()]

    return wsgi.FAQMiddleware(app, embed=embed)


def django_host(embed: FAQEmbed) -> Any:
    view = django_project.page(TEMPLATE, using="jinja", headers={"Server-Timing": "db;dur=5"})

    def app(environ: Any, start_response: Any) -> Any:
        with django_project.project(view, embed), translation.override("it"):  # which is not one of ours
            return get_wsgi_application()(environ, start_response)

    return app


hosts = pytest.mark.parametrize("host", [flask_host, wsgi_host, django_host, starlette_host])


def header(client: Client, name: str) -> list[str]:
    """Return the values of a header of the page."""
    return [value for key, value in client.get("/").headers if key.lower() == name]


@hosts
def test_cache_status_follows_an_faq_from_miss_to_stale(
    host: Host, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=100"})
    embed = FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=5)
    use_clock(embed, clock)
    with embed, open_client(host(embed)) as client:
        assert header(client, "cache-status") == ['faqsvc; fwd=miss; stored; ttl=95; key="pricing"']
        clock.advance(10)
        assert header(client, "cache-status") == ['faqsvc; hit; ttl=85; key="pricing"']
        faulty.behave(behaviours.status(503))
        clock.advance(100)
        assert header(client, "cache-status") == [
            'faqsvc; hit; ttl=-15; key="pricing"; detail=stale-while-revalidate'
        ]
        settle(embed)
        assert header(client, "cache-status") == [
            'faqsvc; hit; ttl=-15; key="pricing"; detail=stale-if-error'
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
    with embed, open_client(host(embed)) as client:
        assert header(client, "cache-status") == [status]


@hosts
def test_server_timing_has_the_time_that_the_page_waited(host: Host, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.hang)
    embed = FAQEmbed(faulty.base_url, diagnostic_headers=True, wait=0.1)
    with embed, open_client(host(embed)) as client:
        own, ours = ", ".join(header(client, "server-timing")).split(", ")
        assert own == "db;dur=5"
        duration = float(ours.split("dur=")[1].split(";")[0])
        assert 90 <= duration < 1000


@hosts
def test_there_are_no_such_headers_by_default(host: Host, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, wait=5) as embed, open_client(host(embed)) as client:
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
