"""The middleware of Starlette: how it is attached, found, nested, and what it does without a cached FAQ."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from flask import Flask
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from faqsvc_embed import ConfigurationError, FAQEmbed, FAQNotFound, FAQUnavailable, Settings, wsgi
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.starlette import FAQMiddleware, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import aget, get
from tests.support.embeds import SLACK, own_threads
from tests.support.faulty import FaultyServer
from tests.support.pages import FAQS, TWO, A, B, Make, embeds
from tests.support.parsed import page_of, summary
from tests.support.slow import slow_embed
from tests.support.starlette_host import app_of, rendering

# Attaching


@pytest.mark.parametrize("kind", [FAQMiddleware, wsgi.FAQMiddleware])
def test_settings_of_the_middleware_make_its_embed(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kind(None, base_url="https://faq.example.com/", lang="de", wait=0.5).embed.settings
    assert made == Settings.from_env(base_url="https://faq.example.com", lang="de", wait=0.5)
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://environment.example.com")
    made = kind(None, wait=0.5).embed.settings
    assert made == Settings.from_env(base_url="https://environment.example.com", wait=0.5)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["base_url"]),
        ({"base_url": "faq.example.com"}, ["base_url", "'faq.example.com'"]),
        ({"base_ulr": "https://faq.example.com"}, ["base_url", "base_ulr"]),
        ({"embed": fake_embed({}), "wait": 2, "lang": "de"}, ["embed", "lang", "wait"]),
        ({"embed": "https://faq.example.com"}, ["FAQEmbed", "str", "base_url"]),
        ({"embed": Starlette()}, ["FAQEmbed", "Starlette"]),
    ],
)
@pytest.mark.parametrize(
    "attach",
    [
        lambda **options: FAQMiddleware(Starlette(), **options),
        lambda **options: wsgi.FAQMiddleware(Flask("host"), **options),
        lambda **options: FAQExtension(Flask("host"), **options),
    ],
    ids=["ASGI", "WSGI", "Flask"],
)
def test_a_mistake_in_the_settings_is_an_error_that_names_it(
    attach: Callable[..., object], options: Any, names: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        attach(**options)
    assert all(name.lower() in str(raised.value).lower() for name in names)


def test_attaching_starts_no_thread_and_the_embed_ends_with_the_lifespan(
    faulty: FaultyServer,
) -> None:
    faulty.serve(samples.pricing())

    before = own_threads()
    app = app_of(FAQEmbed(faulty.base_url, wait=5), '{{ faq("pricing") }}')
    with TestClient(app) as client:
        assert own_threads() == before
        assert summary(client.get("/").content) == page_of(A)
        assert len(own_threads()) > len(before)
    assert own_threads() == before


def test_a_shutdown_that_fails_ends_the_embed_too(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    embed, left = FAQEmbed(faulty.base_url, wait=5), list[str]()
    embed.get_faq("pricing")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "lifespan.startup.complete"})
        assert own_threads()
        await send({"type": "lifespan.shutdown.failed", "message": "no"})

    async def send(message: Message) -> None:
        left.append(message["type"])
        assert bool(own_threads()) == ("startup" in message["type"])

    async def receive() -> Message:
        raise AssertionError

    asyncio.run(FAQMiddleware(app, embed=embed)({"type": "lifespan"}, receive, send))
    assert left == ["lifespan.startup.complete", "lifespan.shutdown.failed"]


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "SSL_CERT_FILE"])
def test_a_host_starts_whatever_proxy_and_certificates_it_has(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(name, "bad://\\nowhere")
    app = app_of(embed := FAQEmbed("https://faq.invalid", wait=5), "<p>{{ faq('pricing') }}</p>")
    with TestClient(app) as client:
        for _ in range(3):
            response = client.get("/")
            assert (response.status_code, response.text) == (200, "<p></p>")
            embed.forget()
    assert len([r for r in caplog.records if r.name == "faqsvc_embed" and r.levelno >= logging.WARNING]) == 1


# Finding the embed


def test_the_embed_is_found_in_a_request_and_in_a_websocket() -> None:
    embed, found = fake_embed(FAQS), list[Any]()

    async def endpoint(request: Request) -> Response:
        return JSONResponse(faqs_from(request) is embed)

    async def websocket(websocket: WebSocket) -> None:
        await websocket.accept()
        found.extend((faqs_from(websocket), embed.render("pricing"), embed.render("pricing")))
        await websocket.close()

    app = Starlette(routes=[Route("/", endpoint), WebSocketRoute("/socket", websocket)])
    app.add_middleware(FAQMiddleware, embed=embed)
    embed.render("pricing")
    assert get(app).body == b"true"
    with TestClient(app).websocket_connect("/socket"):
        pass
    alone = embed.render("pricing")  # a WebSocket has no page: each is complete
    assert found == [embed, alone, alone]


def test_without_the_middleware_the_embed_is_not_found() -> None:
    async def endpoint(request: Request) -> Response:
        faqs_from(request)
        raise AssertionError

    with pytest.raises(ConfigurationError, match="FAQMiddleware"):
        get(Starlette(routes=[Route("/", endpoint)]))


# FAQs that are not cached


def test_a_hanging_service_delays_a_page_by_one_wait_in_all() -> None:
    slugs = [f"faq-{n}" for n in range(200)]
    embed = slow_embed({}, hanging=slugs, wait=0.1)
    app = app_of(embed, "<p>{% for n in range(200) %}{{ faq('faq-%s' % n) }}{% endfor %}</p>")
    get(app_of(slow_embed({}), "x"))
    began = time.monotonic()
    assert get(app).text == "<p></p>"
    assert 0.09 < time.monotonic() - began < 0.1 + SLACK


@embeds
def test_in_development_the_page_says_what_went_wrong(make: Make) -> None:
    response = get(app_of(make(FAQS), '{{ faq("unknown") }}{{ faq("pricing") }}', debug=True))
    problem, section, rest = response.text.partition("<section")
    assert "unknown" in problem
    assert summary(section + rest) == page_of(A)


@embeds
def test_strict_raises_before_anything_was_sent(make: Make) -> None:
    left = list[Message]()
    app = app_of(make(FAQS, strict=True), '<p>{{ faq("unknown") }}</p>', debug=True)
    with pytest.raises(FAQNotFound):
        get(app, on_send=left.append)
    assert [message.get("status") for message in left] == [500, None]  # Starlette's page for developers


def test_strict_raises_if_an_faq_does_not_arrive_in_time() -> None:
    app = app_of(slow_embed({}, hanging=["pricing"], strict=True, wait=0.01), '{{ faq("pricing") }}')
    with pytest.raises(FAQUnavailable):
        get(app)


def test_without_the_middleware_an_uncached_faq_is_left_out_and_the_log_says_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    embed = slow_embed(FAQS)
    app = Starlette(routes=[Route("/", rendering(embed, f"<p>{TWO}</p>"))])

    async def three() -> list[str]:
        texts = list[str]()
        for _ in range(3):
            texts.append((await aget(app)).text)
            await asyncio.sleep(0)
        return texts

    first, *others = asyncio.run(three())
    assert first == "<p><hr></p>"
    assert [summary(text) for text in others] == [page_of(A, B)] * 2
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("faqsvc_embed", logging.WARNING)
    assert "FAQMiddleware" in record.getMessage()
    assert "aprefetch" in record.getMessage()


def test_without_the_middleware_a_cached_faq_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    app = Starlette(routes=[Route("/", rendering(fake_embed(FAQS), TWO))])
    assert summary(get(app).body) == page_of(A, B)
    assert caplog.records == []


# Several middlewares


@embeds
def test_a_middleware_that_is_added_twice_works_once(make: Make) -> None:
    app = app_of(embed := make(FAQS), TWO)
    app.add_middleware(FAQMiddleware, embed=embed)
    response = get(app)
    assert (summary(response.body), response.all("vary")) == (page_of(A, B), ["Accept-Language"])


@embeds
def test_a_request_that_passes_again_gets_a_new_page(make: Make) -> None:
    embed = make(FAQS)
    first, then = app_of(embed, TWO), FAQMiddleware(app_of(embed, TWO), embed=embed)

    async def retrying(scope: Scope, receive: Receive, send: Send) -> None:
        async def drop(message: Message) -> None:
            pass

        await first(scope, receive, drop)
        await then(scope, receive, send)

    assert summary(get(retrying).body) == page_of(A, B)


def test_two_embeds_share_a_page_and_the_inner_one_is_found_inside() -> None:
    one, two = slow_embed({"pricing": A}), slow_embed({"pricing": B})
    found = list[FAQEmbed]()

    async def endpoint(request: Request) -> Response:
        found.append(faqs_from(request))
        return HTMLResponse(f"{one.render('pricing')}<hr>{two.render('pricing')}")

    async def outside(scope: Scope, receive: Receive, send: Send) -> None:
        await inner(scope, receive, send)
        found.append(faqs_from(Request(scope)))

    inner: Callable[..., Awaitable[None]] = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=two)
    assert summary(get(FAQMiddleware(outside, embed=one)).body) == page_of(A, B)._replace(styles=2)
    assert found == [two, one]
