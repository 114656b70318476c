"""A page that lacks an FAQ, or shows one that could not be refreshed, is kept by nobody for long (R9)."""

import asyncio
from collections.abc import Callable
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
from faqsvc_embed.page.headers import shortened
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing.hosts import Host, opened
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer

Make = Callable[..., Any]

TEMPLATE = '<h1>Prices</h1>{{ faq("pricing") }}'
HOSTS_OWN = {"Cache-Control": "public, max-age=600, s-maxage=3600", "X-Own": "kept"}


def flask_host(embed: FAQEmbed, headers: dict[str, str]) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "home", lambda: Response(render_template_string(TEMPLATE), headers=headers))
    return app


def asgi_host(embed: FAQEmbed, headers: dict[str, str]) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render(), headers=headers)

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def asked(embed: FAQEmbed, make: Make, headers: dict[str, str]) -> dict[str, str]:
    with opened(make(embed, headers)) as host:
        return told(host)


def told(host: Host) -> dict[str, str]:
    page = host.get("/")
    assert page.status == 200
    said = {name.lower(): value for name, value in page.headers}
    return {name: said[name] for name in ("cache-control", "x-own", "expires") if name in said}


def settled(embed: FAQEmbed) -> None:
    while embed.is_fetching:
        pass


@pytest.mark.parametrize("make", [flask_host, asgi_host])
def test_a_bad_minute_is_not_pinned(make: Make, faulty: FaultyServer, clock: Clock) -> None:  # R9
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "ETag": ""})
    embed = FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5)
    with embed, opened(make(embed, HOSTS_OWN)) as host:
        embed.cache.clock, embed.cache.chance = clock.now, lambda: 1.0
        assert told(host) == {"cache-control": HOSTS_OWN["Cache-Control"], "x-own": "kept"}

        faulty.behave(behaviours.status(503, {"Retry-After": "120"}))
        clock.advance(100)  # stale, and refreshed behind: as it should be
        assert told(host)["cache-control"] == HOSTS_OWN["Cache-Control"]
        settled(embed)
        limited = {"cache-control": "public, max-age=20, s-maxage=20", "x-own": "kept"}
        assert told(host) == limited
        clock.advance(107.5)  # the next attempt is 12.5 s away
        assert told(host)["cache-control"] == "public, max-age=12, s-maxage=12"

        faulty.behave(behaviours.healthy)
        clock.advance(20)
        told(host)
        settled(embed)
        assert told(host)["cache-control"] == HOSTS_OWN["Cache-Control"]


@pytest.mark.parametrize("make", [flask_host, asgi_host])
@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (behaviours.status(404), "public, max-age=20, s-maxage=20"),
        (behaviours.status(429, {"Retry-After": "9"}), "public, max-age=9, s-maxage=9"),
        (behaviours.hang, "public, max-age=0, s-maxage=0"),
    ],
    ids=["404", "429", "loading"],
)
def test_a_page_without_its_faq_is_not_kept(
    make: Make, behaviour: behaviours.Behaviour, expected: str, faulty: FaultyServer, clock: Clock
) -> None:  # R9
    faulty.behave(behaviour)
    wait = 0.1 if behaviour is behaviours.hang else 5
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=wait) as embed:
        embed.cache.clock = clock.now
        embed.get_ready()
        assert asked(embed, make, HOSTS_OWN) == {"cache-control": expected, "x-own": "kept"}


@pytest.mark.parametrize("make", [flask_host, asgi_host])
def test_it_is_off_by_default(make: Make, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(500))
    with FAQEmbed(faulty.base_url, wait=5) as embed:
        assert asked(embed, make, HOSTS_OWN)["cache-control"] == HOSTS_OWN["Cache-Control"]


def test_a_page_that_streams_before_its_faqs_are_known_is_not_kept(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        environment = Environment(autoescape=True)
        install(environment, embed)
        text = environment.from_string(TEMPLATE)

        async def home(request: Request) -> StreamingResponse:
            async def parts() -> Any:
                yield text.render()
                await asyncio.sleep(0)
                yield "the end"

            return StreamingResponse(parts(), media_type="text/html", headers=HOSTS_OWN)

        app = Starlette(routes=[Route("/", home)])
        app.add_middleware(FAQMiddleware, embed=embed)
        with opened(app) as host:
            first, second = host.get("/"), host.get("/")
    assert "What does it cost?" in first.html
    assert dict(first.headers)["cache-control"] == "public, max-age=0, s-maxage=0"
    assert dict(second.headers)["cache-control"] == HOSTS_OWN["Cache-Control"]


def test_a_streamed_flask_page_says_what_is_known_when_it_begins(faulty: FaultyServer) -> None:
    faulty.behave(behaviours.status(404))
    app = Flask("host")
    with FAQEmbed(faulty.base_url, degraded_max_age=20, wait=5) as embed:
        FAQExtension(app, embed=embed)

        @app.get("/")
        def home() -> Response:
            embed.use_faq("pricing")
            return Response(stream_with_context(iter(["a", "b"])), headers=HOSTS_OWN)

        page = app.test_client().get("/")
    assert page.headers["Cache-Control"] == "public, max-age=20, s-maxage=20"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [("Cache-Control", "max-age=0")]),
        ([("Cache-Control", "max-age=5")], [("Cache-Control", "max-age=5")]),
        ([("Cache-Control", "private, max-age=600")], [("Cache-Control", "private, max-age=30")]),
        ([("Cache-Control", "no-store")], [("Cache-Control", "no-store")]),
        ([("Cache-Control", "private, no-cache")], [("Cache-Control", "private, no-cache")]),
        ([("Cache-Control", "no-store, max-age=0")], [("Cache-Control", "no-store, max-age=0")]),
        ([("Cache-Control", "public")], [("Cache-Control", "public, max-age=0")]),
        ([("cache-control", "Max-Age=600")], [("cache-control", "max-age=30")]),
        ([("Cache-Control", "max-age=x, S-MaxAge=\"90\"")], [("Cache-Control", "max-age=0, s-maxage=30")]),
        (
            [("Cache-Control", "max-age=9, stale-while-revalidate=86400, stale-if-error=5, immutable")],
            [("Cache-Control", "max-age=9, stale-while-revalidate=30, stale-if-error=5")],
        ),
        (
            [("Expires", "Sat, 21 Nov 2126 08:00:00 GMT"), ("A", "b")],
            [("A", "b"), ("Cache-Control", "max-age=0")],
        ),
        (
            [("Cache-Control", "max-age=9"), ("CDN-Cache-Control", "max-age=900"), ("Set-Cookie", "a=b")],
            [("Cache-Control", "max-age=9"), ("CDN-Cache-Control", "max-age=30"), ("Set-Cookie", "a=b")],
        ),
        (
            [("Cache-Control", "no-cache"), ("Surrogate-Control", "max-age=900, content=\"ESI/1.0\"")],
            [("Cache-Control", "no-cache"), ("Surrogate-Control", 'max-age=30, content="ESI/1.0"')],
        ),
        (
            [("Cache-Control", "public"), ("Cache-Control", "max-age=600")],
            [("Cache-Control", "public, max-age=30")],
        ),
    ],
)  # fmt: skip
def test_what_a_host_set_is_shortened_and_never_lengthened(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    assert sorted(shortened(before, 30)) == sorted(after)
