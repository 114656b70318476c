"""What the middleware costs an ASGI application, in process: from the scope to the last message."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message

from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.pages import HEAD, TAIL, VALUES
from tests.benchmarks.sidebyside import Timing, compare


class Passing(BaseHTTPMiddleware):
    """The least that a middleware of this kind can do."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        return await call_next(request)


def without_faqs() -> list[Timing]:
    """Compare a page that shows no FAQ without a middleware, with ours, and with a `BaseHTTPMiddleware`."""
    embed = fake_embed({})

    async def page(request: Request) -> Response:
        return HTMLResponse("<h1>Prices</h1>")

    def app() -> Starlette:
        return Starlette(routes=[Route("/", page)])

    plain, ours, base = app(), app(), app()
    ours.add_middleware(FAQMiddleware, embed=embed)
    base.add_middleware(Passing)
    with asyncio.Runner() as runner:
        return compare(
            {
                "no middleware": _requests(runner, plain),
                "FAQMiddleware": _requests(runner, ours),
                "BaseHTTPMiddleware": _requests(runner, base),
            },
            calls=1,
            per_call=REQUESTS,
        )


def apps_with(count: int) -> dict[str, Starlette]:
    """Return one page in three ways, all behind the middleware: an FAQ typed into its template, and ours."""
    items = [
        {
            "question": f"What about question number {n}?",
            "answer": f"It is like this & that, number {n}.\n\nAnd a second paragraph, also of number {n}.",
        }
        for n in range(count)
    ]
    embed = fake_embed({"pricing": {"title": "Pricing", "lang": "en", "items": items}})
    typed = str(embed.render("pricing"))
    environment = Environment(
        autoescape=True,
        loader=DictLoader(
            {
                "typed": HEAD + "{% raw %}" + typed + "{% endraw %}" + TAIL,
                "tag": HEAD + '{% faq "pricing" %}' + TAIL,
                "expression": HEAD + '{{ faq("pricing") }}' + TAIL,
            }
        ),
    )
    install(environment, embed)
    templates = Jinja2Templates(env=environment)

    def app(name: str) -> Starlette:
        async def page(request: Request) -> Response:
            return templates.TemplateResponse(request, name, dict(VALUES))

        app = Starlette(routes=[Route("/", page)])
        app.add_middleware(FAQMiddleware, embed=embed)
        return app

    return {
        "typed into the template": app("typed"),
        "{% faq %}": app("tag"),
        "{{ faq() }}": app("expression"),
    }


def whole_request(count: int = 20) -> list[Timing]:
    """Compare whole requests in process, by Starlette's test client, as the one of Flask."""
    with ExitStack() as stack:
        clients = {name: stack.enter_context(TestClient(app)) for name, app in apps_with(count).items()}
        assert len({client.get("/").content for client in clients.values()}) == 1
        return compare({name: partial(client.get, "/") for name, client in clients.items()}, calls=10)


def application(count: int = 20) -> list[Timing]:
    """Compare what the application alone does, from the scope to the last message."""
    with asyncio.Runner() as runner:
        apps = apps_with(count)
        assert len({runner.run(_body(app)) for app in apps.values()}) == 1
        return compare(
            {name: _requests(runner, app) for name, app in apps.items()}, calls=1, per_call=REQUESTS
        )


REQUESTS = 100
"""In one run of the loop, so that starting it counts for little."""


def _scope() -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"host.test"), (b"accept-language", b"de-CH,de;q=0.9,en;q=0.8")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def _receive() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _send(message: Message) -> None:
    pass


def _requests(runner: asyncio.Runner, app: ASGIApp) -> Callable[[], object]:
    async def many() -> None:
        for _ in range(REQUESTS):
            await app(_scope(), _receive, _send)

    return lambda: runner.run(many())


async def _body(app: ASGIApp) -> bytes:
    parts = list[bytes]()

    async def keep(message: Message) -> None:
        parts.append(message.get("body", b""))

    await app(_scope(), _receive, keep)
    return b"".join(parts)
