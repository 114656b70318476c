"""What else a page may do with FAQs, against the first cached FAQ of a warm page."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from jinja2 import Environment
from starlette.types import ASGIApp, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import SLUG, record
from tests.benchmarks.sidebyside import Contestant, calling, compare
from tests.benchmarks.tables import Table

HEADERS = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"1")]
ONE, TWO = '{% faq "first" %}', '{% faq "first" %}{% faq "second" %}'


def ratios() -> Iterator[Table]:
    """Compare rendering in Jinja, and whole pages of the middleware."""
    embed = fake_embed({"first": record(20), "second": record(20), SLUG: record(20)})
    plain, asynchronous = Environment(autoescape=True), Environment(autoescape=True, enable_async=True)
    for environment in (plain, asynchronous):
        install(environment, embed)
    goal = ("goal: at most 2",)
    with asyncio.Runner() as runner:
        renderings = {
            "tag": calling(plain.from_string(ONE).render),
            "tag, asynchronous environment": awaiting(runner, asynchronous.from_string(ONE).render_async),
            "embed.render()": calling(partial(embed.render, "first")),
        }
        yield compare("Jinja, 20 questions", renderings, notes=goal)
    pages = {"one FAQ": ONE, "two FAQs": TWO}
    calls = {name: partial(visit, _app(embed, plain, source)) for name, source in pages.items()}
    yield compare(
        "ASGI, 20 questions",
        {name: calling(call) for name, call in calls.items()},
        notes=("goal: at most 1.5",),
    )


def _app(embed: FAQEmbed, environment: Environment, source: str) -> ASGIApp:
    template = environment.from_string(source)
    template.render()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = template.render().encode()
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        await send({"type": "http.response.body", "body": body})

    return FAQMiddleware(app, embed=embed)


def awaiting(runner: asyncio.Runner, call: Callable[[], Awaitable[object]]) -> Contestant:
    """Return the contestant that awaits `call` in a loop that runs already, as that of a server does."""

    async def many(times: int) -> float:
        began = time.process_time()
        for _ in range(times):
            await call()
        return time.process_time() - began

    return lambda times: runner.run(many(times))


def visit(app: ASGIApp) -> None:
    """Visit a page without a loop; it never waits."""

    async def nothing(*_: Any) -> Any:
        return None

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    try:
        app(scope, nothing, nothing).send(None)  # type: ignore[attr-defined]
    except StopIteration:
        return
