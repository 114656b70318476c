"""A Starlette page with a cached FAQ, and what the middleware costs: from the scope to the last message."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import COUNTS, NAMES, SLUG, VALUES, record, templates
from tests.benchmarks.sidebyside import Contestant, compare
from tests.benchmarks.tables import Table


def asgi() -> Iterator[Table]:
    """Measure whole requests in process, with an FAQ and without one."""
    with asyncio.Runner() as runner:
        for count in COUNTS:
            app = starlette_app(fake_embed({SLUG: record(count)}))
            assert len({runner.run(body_of(app, f"/{name}")) for name in NAMES}) == 1
            yield compare(
                f"Starlette: a whole request in process, {count} questions",
                {text: requests(runner, app, f"/{name}") for name, text in NAMES.items()},
                notes=("goal: at most 1.30 with 20 questions, 1.15 with 200",),
            )
        yield _without_faqs(runner)


def starlette_app(embed: FAQEmbed) -> Starlette:
    """Return a Starlette application with the page in every way, behind the middleware."""
    pages = DictLoader(templates(str(embed.render(SLUG))))
    environment = Environment(autoescape=True, loader=pages)
    install(environment, embed)
    rendering = Jinja2Templates(env=environment)

    async def page(request: Request) -> Response:
        return rendering.TemplateResponse(request, request.path_params["name"], dict(VALUES))

    app = Starlette(routes=[Route("/{name}", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


class Passing(BaseHTTPMiddleware):
    """The least that a middleware of this kind can do."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        return await call_next(request)


def _without_faqs(runner: asyncio.Runner) -> Table:
    embed = fake_embed({})
    response = HTMLResponse("<h1>Prices</h1>")

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        await response(scope, receive, send)

    table = compare(
        "A page without an FAQ: one response, behind which middleware",
        {
            "none": requests(runner, bare),
            "FAQMiddleware": requests(runner, FAQMiddleware(bare, embed=embed)),
            "an empty BaseHTTPMiddleware": requests(runner, Passing(bare)),
        },
    )
    (_, none), (_, ours), *_ = table.rows
    table.note(f"FAQMiddleware adds {ours[1] - none[1]:.2f} µs in the best round; goal: at most 3 µs")
    return table


def scope(path: str = "/") -> dict[str, Any]:
    """Return the scope of a GET by a browser."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"host.test"), (b"accept-language", b"de-CH,de;q=0.9,en;q=0.8")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def receive() -> Message:
    """Receive the end of a request without a body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _send(message: Message) -> None:
    pass


def requests(
    runner: asyncio.Runner, app: ASGIApp, path: str = "/", clock: Callable[[], float] = time.process_time
) -> Contestant:
    """Return the contestant that asks an application for a page."""

    async def many(times: int) -> float:
        began = clock()
        for _ in range(times):
            await app(scope(path), receive, _send)
        return clock() - began

    return lambda times: runner.run(many(times))


async def body_of(app: ASGIApp, path: str) -> bytes:
    """Return the body of a page."""
    parts = list[bytes]()

    async def keep(message: Message) -> None:
        parts.append(message.get("body", b""))

    await app(scope(path), receive, keep)
    return b"".join(parts)
