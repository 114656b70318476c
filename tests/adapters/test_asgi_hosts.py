"""FAQs in ASGI frameworks other than Starlette, and in aiohttp; without Starlette, and not under trio."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from faqsvc_embed import ConfigurationError, FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import get
from tests.support.faulty import FaultyServer
from tests.support.pages import FAQS, TWO, A, B, environment
from tests.support.parsed import attributes, page_of, summary
from tests.support.slow import slow_embed

Host = Callable[[str, FAQEmbed, list[FAQEmbed]], Any]


def litestar(source: str, embed: FAQEmbed, found: list[FAQEmbed]) -> Any:
    pytest.importorskip("litestar")
    from litestar import Litestar, MediaType, Request
    from litestar import get as route
    from litestar.middleware import DefineMiddleware

    template = environment(embed).from_string(source)

    async def home(request: Request[Any, Any, Any]) -> str:
        found.append(faqs_from(request))
        return template.render()

    home.__annotations__ = {"request": Request, "return": str}
    handler = route("/", media_type=MediaType.HTML)(home)
    middleware: Any = FAQMiddleware
    return Litestar([handler], middleware=[DefineMiddleware(middleware, embed=embed)], logging_config=None)


def litestar_inside(source: str, embed: FAQEmbed, found: list[FAQEmbed]) -> Any:
    """Wrap the whole application: middleware of Litestar runs after routing, and serves no files."""
    return FAQMiddleware(litestar(source, embed, found), embed=embed)


def quart(source: str, embed: FAQEmbed, found: list[FAQEmbed]) -> Any:
    pytest.importorskip("quart")
    from quart import Quart, render_template_string, request

    app = Quart("host")
    install(app.jinja_env, embed)

    @app.get("/")
    async def home() -> str:
        found.append(faqs_from(request))
        return await render_template_string(source)

    app.asgi_app = FAQMiddleware(app.asgi_app, embed=embed)  # type: ignore[method-assign]
    return app


@pytest.mark.parametrize("make", [fake_embed, slow_embed])
@pytest.mark.parametrize("host", [litestar, litestar_inside, quart])
def test_a_page_of_any_host_is_as_in_plain_jinja(host: Host, make: Any) -> None:
    embed, found = make(FAQS), list[FAQEmbed]()
    response = get(host(TWO, embed, found))
    assert response.status == 200
    assert response.body == environment(fake_embed(FAQS)).from_string(TWO).render().encode()
    assert found == [embed]


@pytest.mark.parametrize("host", [litestar_inside, quart])
def test_files_and_the_visitors_language_work_in_any_host(host: Host, faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    with FAQEmbed(faulty.base_url, styles="linked", wait=5) as embed:
        app = host('{{ faq("pricing") }}', embed, [])
        response = get(app, headers=[("Accept-Language", "ko")])
        (link,) = attributes(response.body, "link", "href")
        assert get(app, str(link)).status == 200
    assert [request.lang for request in faulty.log] == ["ko"]
    assert "Accept-Language" in ", ".join(response.all("vary"))


def test_an_extension_of_flask_on_quart_is_refused_with_the_line_to_write() -> None:
    quart = pytest.importorskip("quart")
    with pytest.raises(ConfigurationError, match=r"app\.asgi_app = FAQMiddleware\("):
        FAQExtension(quart.Quart("host"), base_url="https://faq.example.com")


@pytest.mark.parametrize("make", [fake_embed, slow_embed])
def test_a_page_of_aiohttp_is_rendered_by_an_async_environment(make: Any) -> None:
    pytest.importorskip("aiohttp")
    from aiohttp import web
    from aiohttp.test_utils import TestClient, TestServer

    template = environment(make(FAQS), enable_async=True).from_string(TWO)

    async def home(request: web.Request) -> web.Response:
        return web.Response(text=await template.render_async(), content_type="text/html")

    async def visit() -> bytes:
        app = web.Application()
        app.router.add_get("/", home)
        async with TestClient(TestServer(app)) as client:
            return await (await client.get("/")).read()

    assert summary(asyncio.run(visit())) == page_of(A, B)


# Without Starlette


@contextmanager
def without(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a package not be installed."""
    for module in list(sys.modules):
        if module == name or module.startswith(f"{name}."):
            monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, name, None)
    yield
    monkeypatch.undo()


def test_the_middleware_works_without_starlette(monkeypatch: pytest.MonkeyPatch) -> None:
    embed = slow_embed(FAQS, styles="linked")
    template = environment(embed).from_string(TWO)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": template.render().encode()})

    monkeypatch.delitem(sys.modules, "faqsvc_embed.starlette")
    with without("starlette", monkeypatch):
        middleware = importlib.import_module("faqsvc_embed.starlette").FAQMiddleware(app, embed=embed)
        assert len(summary(get(middleware).body).faq_pages) == 1


# Event loops


def test_trio_is_refused_with_the_loop_that_is_needed() -> None:
    trio = pytest.importorskip("trio")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError

    embed = slow_embed(FAQS, hanging=["pricing"])
    with pytest.raises(ConfigurationError, match="asyncio"):
        trio.run(FAQMiddleware(app, embed=embed), {"type": "lifespan"}, None, None)
    with pytest.raises(ConfigurationError, match="asyncio"):
        trio.run(embed.aget_faq, "pricing")
