"""FAQs in FastAPI: the middleware is Starlette's, the embed a dependency."""

import threading
from typing import Any

import pytest
from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import HTMLResponse
from starlette.responses import Response
from starlette.testclient import TestClient

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound
from faqsvc_embed.fastapi import FAQMiddleware, FAQs
from faqsvc_embed.testing import fake_embed
from tests.support.asgi import get
from tests.support.pages import FAQS, A, B, Make, embeds
from tests.support.parsed import page_of, summary


def make_app(embed: FAQEmbed) -> FastAPI:
    """Return an application with a page, and the records as JSON."""
    app = FastAPI(openapi_url=None)
    app.add_middleware(FAQMiddleware, embed=embed)

    @app.get("/dependency", response_class=HTMLResponse)
    async def awaited(faqs: FAQs) -> str:
        with faqs.page():
            return f"{await faqs.arender('pricing')}<hr>{await faqs.arender('legal')}"

    @app.get("/data/{slug}")
    async def data(slug: str, faqs: FAQs, lang: str | None = None) -> dict[str, Any]:
        return (await faqs.aget_faq(slug, lang=lang)).to_dict()

    @app.exception_handler(FAQNotFound)
    async def not_found(request: Request, error: FAQNotFound) -> Response:
        return HTMLResponse(str(error), 404)

    return app


@embeds
def test_data_is_json_and_an_error_goes_to_the_handler_of_the_host(make: Make) -> None:
    app = make_app(make(FAQS))
    response = get(app, "/data/pricing")
    assert (response.status, FAQ.from_json(response.body)) == (200, A)
    response = get(app, "/data/unknown?lang=de")
    assert (response.status, "unknown" in response.text) == (404, True)


@embeds
def test_a_middleware_by_decorator_changes_nothing(make: Make) -> None:
    app, outer = make_app(embed := make(FAQS)), FastAPI(openapi_url=None)

    @outer.middleware("http")
    async def passing(request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        return response

    outer.mount("/", app)
    outer.add_middleware(FAQMiddleware, embed=embed)
    assert [summary(get(outer, "/dependency").body) for _ in range(2)] == [page_of(A, B)] * 2


def test_a_websocket_has_the_dependency_too() -> None:
    app = make_app(fake_embed(FAQS))

    @app.websocket("/title")
    async def title(websocket: WebSocket, faqs: FAQs) -> None:
        await websocket.accept()
        await websocket.send_text((await faqs.aget_faq("pricing")).title)
        await websocket.close()

    with TestClient(app).websocket_connect("/title") as connection:
        assert connection.receive_text() == "Pricing"


def test_the_dependency_needs_no_thread() -> None:
    app, threads = make_app(fake_embed(FAQS)), list[int]()

    @app.get("/threads")
    async def count(faqs: FAQs) -> int:
        threads.append(threading.active_count())
        return 0

    before = threading.active_count()
    get(app, "/threads")
    assert threads == [before]


def test_without_the_middleware_the_dependency_is_an_error() -> None:
    app = FastAPI(openapi_url=None)

    @app.get("/")
    async def page(faqs: FAQs) -> None: ...

    with pytest.raises(ConfigurationError, match="FAQMiddleware"):
        get(app)
