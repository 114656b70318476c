"""A page that lacks an FAQ, or shows one that could not be refreshed, is not cached for long."""

from collections.abc import AsyncIterator, Callable, Mapping

import pytest
from flask import Flask, Response, stream_with_context
from starlette.requests import Request
from starlette.responses import StreamingResponse

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from tests.support import faulty as behaviours
from tests.support import hosts, samples
from tests.support.asgi import get
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer
from tests.support.starlette_host import app_of, templates
from tests.support.waiting import settle

TEMPLATE = '<h1>Prices</h1>{{ faq("pricing") }}'


every_host = pytest.mark.parametrize("host", hosts.HOSTS)


def cache_control(page: Callable[[], tuple[str, Mapping[str, str]]]) -> str:
    """Check that a page is shown, and return its Cache-Control."""
    html, headers = page()
    assert "<h1>Prices</h1>" in html
    assert "Expires" not in headers
    return headers["Cache-Control"]


@every_host
def test_a_page_with_a_stale_faq_is_cached_until_the_next_attempt_at_most(
    host: hosts.Host, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "ETag": ""})
    embed = FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5)
    with embed:
        page = host(embed, TEMPLATE)
        embed.reader.cache.clock, embed.reader.cache.wall_clock = clock.now, clock.wall
        embed.reader.cache.random = lambda: 1.0
        assert cache_control(page) == hosts.HEADERS["Cache-Control"]

        faulty.behave(behaviours.status(503, {"Retry-After": "120"}))
        clock.advance(100)  # stale, while it is refreshed
        assert cache_control(page) == hosts.HEADERS["Cache-Control"]
        settle(embed)
        assert cache_control(page) == "public, max-age=20"
        clock.advance(107.5)  # the next attempt is 12.5 s away
        assert cache_control(page) == "public, max-age=12"

        faulty.behave(behaviours.healthy)
        clock.advance(20)
        cache_control(page)
        settle(embed)
        assert cache_control(page) == hosts.HEADERS["Cache-Control"]


@every_host
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
    host: hosts.Host, behaviour: behaviours.Behaviour, seconds: int, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.behave(behaviour)
    embed = FAQEmbed(faulty.base_url, degraded_max_age=20, wait=0.05 if seconds == 0 else 5)
    with embed:
        page = host(embed, TEMPLATE)
        embed.reader.cache.clock, embed.reader.cache.wall_clock = clock.now, clock.wall
        assert cache_control(page) == f"public, max-age={seconds}"


@every_host
def test_headers_stay_as_they_are_by_default(host: hosts.Host, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(500))
    with FAQEmbed(faulty.base_url, wait=5) as embed:
        assert cache_control(host(embed, TEMPLATE)) == hosts.HEADERS["Cache-Control"]


def test_a_stream_with_headers_sent_before_its_faqs_is_not_cached(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        template = templates(embed, page=TEMPLATE).get_template("page")

        async def home(request: Request) -> StreamingResponse:
            async def parts() -> AsyncIterator[str]:
                yield template.render()
                yield "the end"

            return StreamingResponse(parts(), media_type="text/html", headers=hosts.HEADERS)

        app = app_of(embed, home)
        assert get(app).all("cache-control") == ["public, max-age=0"]
        assert get(app).all("cache-control") == [hosts.HEADERS["Cache-Control"]]


def test_a_streamed_flask_page_says_what_is_known_when_it_begins(faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(410))
    app = Flask("host")
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        FAQExtension(app, embed=embed)

        @app.get("/")
        def home() -> Response:
            embed.use_faq("pricing")
            return Response(stream_with_context(iter(["a", "b"])), headers=hosts.HEADERS)

        assert app.test_client().get("/").headers["Cache-Control"] == "public, max-age=20"
