"""A long run of mixed traffic while the service flaps: `python -m tests.soak --minutes 10`.

Visitors open pages of a Flask and of a Starlette host; bots ask both for slugs that do not exist, once each.
The service, in a process of its own, changes its behaviour every few seconds. Every page is looked at, and
memory, threads, descriptors and tasks are counted. Ends with status 1 if anything grew or any page was bad.
"""

import argparse
import asyncio
import itertools
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flask import Flask, render_template_string, request
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import samples
from tests.support.asgi import aget
from tests.support.faults.behaviours import drip, hang, healthy, refuse, reset, status, truncated
from tests.support.faults.bodies import header_flood, oversize
from tests.support.faults.kinds import gzip_bomb
from tests.support.faulty import FaultyServer

KNOWN: Final = [f"faq-{number}" for number in range(40)]
MOODS: Final = (
    *(healthy, status(500), healthy, hang, healthy, reset, drip(0.05), healthy),
    *(refuse, healthy, gzip_bomb, header_flood, oversize, truncated, status(503, {"Retry-After": "2"})),
)
MOST_GROWTH: Final = 16
"""MiB by which the most memory of the second half of a run may exceed that of its first half."""


def serve(mood: float) -> None:
    """Run the service, which changes its mood every so many seconds, until standard input ends."""
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    with FaultyServer() as server:
        for slug in KNOWN:
            server.serve(samples.record(slug), {"Cache-Control": "max-age=2"})
        print(server.base_url, flush=True)
        asked = 0
        for behaviour in itertools.cycle(MOODS):
            server.behave(behaviour)
            time.sleep(mood)
            asked += len(server.log)
            server.forget_log()


def flask_host(embed: FAQEmbed) -> Flask:
    app = Flask("soak")
    FAQExtension(app, embed=embed)
    app.add_url_rule(
        "/", "home", lambda: render_template_string("{{ faq(slug) }}.", slug=request.args["slug"])
    )
    return app


def asgi_host(embed: FAQEmbed) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string("{{ faq(slug) }}.")

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render(slug=request.query_params["slug"]))

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


class Soak:
    """The traffic, and what was seen of it."""

    def __init__(self, base_url: str, directory: str, slugs: int) -> None:
        self.embeds = [
            FAQEmbed(base_url, wait=0.05, timeout=0.5, not_found_for=1),
            FAQEmbed(base_url, wait=0.05, timeout=0.5, not_found_for=1, store=f"file:{directory}"),
        ]
        self.flask = flask_host(self.embeds[0])
        self.starlette = asgi_host(self.embeds[1])
        self.slugs: Iterator[str] = (f"bot-{number}" for number in range(slugs))
        self.asked = 0
        self.counts: Counter[str] = Counter()
        self.slowest = 0.0
        self.over = threading.Event()
        self.tasks = 0
        self._lock = threading.Lock()

    def next_slug(self) -> str | None:
        with self._lock:
            slug = next(self.slugs, None)
            self.asked += slug is not None
            return slug

    def seen(self, what: str, status: int, text: str, began: float) -> None:
        took = time.perf_counter() - began
        with self._lock:
            self.counts[what] += 1
            self.counts[f"{what}: status {status}"] += status != 200
            self.counts[f"{what}: not whole"] += not text.endswith(".") or "<!--faqsvc" in text
            self.counts[f"{what}: without FAQ"] += "bot" not in what and "<details" not in text
            self.counts[f"{what}: over 0.25 s"] += took > 0.25
            self.slowest = max(self.slowest, took)

    def visit_flask(self) -> None:
        client = self.flask.test_client()
        for slug in itertools.cycle(KNOWN):
            if self.over.is_set():
                return
            began = time.perf_counter()
            page = client.get(f"/?slug={slug}")
            self.seen("Flask page", page.status_code, page.text, began)
            time.sleep(0.002)

    def bot_flask(self) -> None:
        client = self.flask.test_client()
        while not self.over.is_set() and (slug := self.next_slug()) is not None:
            began = time.perf_counter()
            page = client.get(f"/?slug={slug}")
            self.seen("Flask page for the bot", page.status_code, page.text, began)

    def flood(self) -> None:
        """Ask for FAQs without waiting for any, in bursts."""
        while not self.over.wait(0.1):
            for embed in self.embeds:
                for _ in range(150):
                    if (slug := self.next_slug()) is not None:
                        embed.use_faq(slug, wait=0)

    async def visit_starlette(self) -> None:
        for slug in itertools.cycle(KNOWN):
            if self.over.is_set():
                return
            began = time.perf_counter()
            page = await aget(self.starlette, f"/?slug={slug}")
            self.seen("Starlette page", page.status, page.text, began)
            await asyncio.sleep(0.01)

    async def bot_starlette(self) -> None:
        while not self.over.is_set() and (slug := self.next_slug()) is not None:
            began = time.perf_counter()
            page = await aget(self.starlette, f"/?slug={slug}")
            self.seen("Starlette page for the bot", page.status, page.text, began)

    def run_starlette(self, bots: int) -> None:
        async def run() -> None:
            work = [self.visit_starlette() for _ in range(2)] + [self.bot_starlette() for _ in range(bots)]
            running = [asyncio.create_task(one) for one in work]
            while not self.over.is_set():
                await asyncio.sleep(1)
                self.tasks = len(asyncio.all_tasks()) - 1
            await asyncio.gather(*running)
            self.tasks = len(asyncio.all_tasks()) - 1

        asyncio.run(run())

    def start(self, bots: int) -> list[threading.Thread]:
        targets = (
            [self.visit_flask] * 2 + [self.bot_flask] * 2 + [self.flood, lambda: self.run_starlette(bots)]
        )
        threads = [threading.Thread(target=target) for target in targets]
        for thread in threads:
            thread.start()
        return threads


def figures() -> tuple[float, int, int]:
    """Return this process's memory in MiB, its threads and its descriptors."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--slugs", type=int, default=1_000_000)
    options.add_argument("--bots", type=int, default=10)
    options.add_argument("--mood", type=float, default=3.0)
    options.add_argument("--serve", action="store_true")
    asked = options.parse_args()
    if asked.serve:
        serve(asked.mood)
    logging.disable(logging.CRITICAL)
    command = [sys.executable, "-m", "tests.soak", "--serve", "--mood", str(asked.mood)]
    with (
        tempfile.TemporaryDirectory() as directory,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as service,
    ):
        assert service.stdout is not None
        soak = Soak(service.stdout.readline().strip(), directory, asked.slugs)
        for embed in soak.embeds:
            while any(embed.use_faq(slug, wait=0.5).data is None for slug in KNOWN):
                time.sleep(0.1)
        before = figures()
        threads = soak.start(asked.bots)
        began, memories = time.monotonic(), list[float]()
        print("minute  pages      slugs      MiB  threads  descriptors  tasks  cached", flush=True)
        while True:
            time.sleep(20)
            minutes = (time.monotonic() - began) / 60
            memory, active, descriptors = figures()
            memories.append(memory)
            pages = sum(count for name, count in soak.counts.items() if ":" not in name)
            cached = sum(len(embed.health()) for embed in soak.embeds)
            print(
                f"{minutes:6.1f}  {pages:9}  {soak.asked:9}  {memory:6.1f}  {active:7}  {descriptors:11}"
                f"  {soak.tasks:5}  {cached:6}",
                flush=True,
            )
            if minutes >= asked.minutes and (soak.asked >= asked.slugs or minutes >= 3 * asked.minutes):
                break
        soak.over.set()
        for thread in threads:
            thread.join(10)
        for embed in soak.embeds:
            embed.close()
        assert service.stdin is not None
        service.stdin.close()
    time.sleep(0.5)
    after, half = figures(), len(memories) // 2
    grown = max(memories[half:]) - max(memories[:half], default=0.0)
    bad = {name: count for name, count in soak.counts.items() if ":" in name and count and "over" not in name}
    print("counts:", {name: count for name, count in soak.counts.items() if count})
    print(f"slowest page: {soak.slowest:.3f} s; in its second half memory grew by {grown:.1f} MiB")
    print(
        f"threads {before[1]} -> {after[1]}, descriptors {before[2]} -> {after[2]}, tasks left {soak.tasks}"
    )
    well = not bad and grown <= MOST_GROWTH and after[1] <= 1 and after[2] <= before[2] and soak.tasks == 0
    print("well" if well else f"NOT well: {bad}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
