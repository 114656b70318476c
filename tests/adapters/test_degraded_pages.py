"""A page that lacks an FAQ, or shows one that could not be refreshed, is not cached for long."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from flask import Flask, Response, render_template_string, stream_with_context
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.chaos import Page, visitor
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle

TEMPLATE = '<h1>Prices</h1>{{ faq("pricing") }}'
HEADERS = {"Cache-Control": "public, max-age=600, s-maxage=3600", "X-Own": "kept"}

Host = Callable[[FAQEmbed], Any]


def flask(embed: FAQEmbed) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "home", lambda: Response(render_template_string(TEMPLATE), headers=HEADERS))
    return app


def starlette(embed: FAQEmbed) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render(), headers=HEADERS)

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


hosts = pytest.mark.parametrize("host", [flask, starlette])


def cache_control(visit: Callable[[], Page]) -> str:
    """Return the Cache-Control of the page, whose other headers stay as they are."""
    page = visit()
    assert (page.status, page.headers["x-own"], page.headers.get("expires")) == (200, "kept", None)
    return page.headers["cache-control"]


@hosts
def test_a_page_with_a_stale_faq_is_cached_until_the_next_attempt_at_most(
    host: Host, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "ETag": ""})
    embed = FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5)
    with embed:
        visit = visitor(host(embed))
        embed.reader.cache.clock, embed.reader.cache.wall_clock = clock.now, clock.wall
        embed.reader.cache.random = lambda: 1.0
        assert cache_control(visit) == HEADERS["Cache-Control"]

        faulty.behave(behaviours.status(503, {"Retry-After": "120"}))
        clock.advance(100)  # stale, while it is refreshed
        assert cache_control(visit) == HEADERS["Cache-Control"]
        settle(embed)
        assert cache_control(visit) == "public, max-age=20, s-maxage=20"
        clock.advance(107.5)  # the next attempt is 12.5 s away
        assert cache_control(visit) == "public, max-age=12, s-maxage=12"

        faulty.behave(behaviours.healthy)
        clock.advance(20)
        cache_control(visit)
        settle(embed)
        assert cache_control(visit) == HEADERS["Cache-Control"]


@hosts
@pytest.mark.parametrize(
    ("behaviour", "seconds"),
    [
        (behaviours.status(410), 20),
        (behaviours.status(429, {"Retry-After": "9"}), 9),
        (behaviours.hang, 0),
    ],
    ids=["410", "429", "late"],
)
def test_a_page_without_its_faq_is_not_cached_for_long(
    host: Host, behaviour: behaviours.Behaviour, seconds: int, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.behave(behaviour)
    embed = FAQEmbed(faulty.base_url, degraded_max_age=20, wait=0.05 if seconds == 0 else 5)
    with embed:
        visit = visitor(host(embed))
        embed.reader.cache.clock, embed.reader.cache.wall_clock = clock.now, clock.wall
        assert cache_control(visit) == f"public, max-age={seconds}, s-maxage={seconds}"


@hosts
def test_headers_stay_as_they_are_by_default(host: Host, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(500))
    with FAQEmbed(faulty.base_url, wait=5) as embed:
        assert cache_control(visitor(host(embed))) == HEADERS["Cache-Control"]


def test_a_stream_with_headers_sent_before_its_faqs_is_not_cached(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        environment = Environment(autoescape=True)
        install(environment, embed)
        template = environment.from_string(TEMPLATE)

        async def home(request: Request) -> StreamingResponse:
            async def parts() -> AsyncIterator[str]:
                yield template.render()
                yield "the end"

            return StreamingResponse(parts(), media_type="text/html", headers=HEADERS)

        app = Starlette(routes=[Route("/", home)])
        app.add_middleware(FAQMiddleware, embed=embed)
        visit = visitor(app)
        assert cache_control(visit) == "public, max-age=0, s-maxage=0"
        assert cache_control(visit) == HEADERS["Cache-Control"]


def test_a_streamed_flask_page_says_what_is_known_when_it_begins(faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(410))
    app = Flask("host")
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        FAQExtension(app, embed=embed)

        @app.get("/")
        def home() -> Response:
            embed.use_faq("pricing")
            return Response(stream_with_context(iter(["a", "b"])), headers=HEADERS)

        assert cache_control(visitor(app)) == "public, max-age=20, s-maxage=20"
