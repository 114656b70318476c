"""Many requests at once for what is not cached: how many reach the service, and how long all take."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from jinja2 import DictLoader, Environment
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.benchmarks.asgi import receive, scope
from tests.benchmarks.tables import Table
from tests.benchmarks.upstream import Upstream, upstream

REQUESTS: Final = 1_000
THREADS: Final = 200
LATENCY: Final = 0.5
ROUNDS: Final = 5


def stampede() -> Iterator[Table]:
    """Measure tasks of one event loop, and threads; one FAQ, and ten, which must not wait for each other."""
    table = Table(
        f"{REQUESTS:,} requests at once for what is not cached, from a service that takes {LATENCY:g} s",
        {"upstream requests": ".0f", "s for all": ".3f", "of its latency": ".3f"},
        notes=("goal: one upstream request an FAQ and process, at most 1.25 of its latency",),
    )
    with upstream(latency=LATENCY) as service:
        for keys in (1, 10):
            for name, run in (
                (f"{REQUESTS:,} tasks of an event loop", _tasks),
                (f"{THREADS} threads", _threads),
            ):
                measured = [run(service, keys) for _ in range(ROUNDS)]
                requests = max(count for count, _ in measured)
                seconds = statistics.median(seconds for _, seconds in measured)
                table.add(f"{name}, {keys} FAQ{'s' * (keys > 1)}", requests, seconds, seconds / LATENCY)
    yield table


def _tasks(service: Upstream, keys: int) -> tuple[int, float]:
    return asyncio.run(_async_tasks(service, keys))


async def _async_tasks(service: Upstream, keys: int) -> tuple[int, float]:
    async with FAQEmbed(service.base_url, wait=5.0) as embed:
        app = _app(embed)
        service.behave()
        bodies = [bytearray() for _ in range(REQUESTS)]

        async def visit(number: int) -> None:
            async def send(message: Message) -> None:
                bodies[number].extend(message.get("body", b""))

            await app(scope(f"/faq-{number % keys}"), receive, send)

        began = time.perf_counter()
        await asyncio.gather(*map(visit, range(REQUESTS)))
        seconds = time.perf_counter() - began
        assert all(b"faqsvc-question" in body for body in bodies)
        return service.behave()["requests"], seconds


def _app(embed: FAQEmbed) -> ASGIApp:
    environment = Environment(autoescape=True, loader=DictLoader({"page": "<h1>FAQ</h1>{% faq slug %}"}))
    install(environment, embed)
    page = environment.get_template("page")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(page.render(slug=scope["path"][1:]))(scope, receive, send)

    return FAQMiddleware(app, embed=embed)


def _threads(service: Upstream, keys: int) -> tuple[int, float]:
    with FAQEmbed(service.base_url, wait=5.0) as embed, ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(time.sleep, [0.05] * THREADS))  # so that all threads are there
        service.behave()
        began = time.perf_counter()
        shown = list(pool.map(lambda number: embed.render(f"faq-{number % keys}"), range(REQUESTS)))
        seconds = time.perf_counter() - began
        assert all("faqsvc-question" in html for html in shown)
        return service.behave()["requests"], seconds
