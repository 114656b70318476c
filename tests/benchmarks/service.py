"""Requests a second of reading and of publishing under granian, with 100,000 FAQs of 10 revisions stored.

The service runs in processes of its own, as an operator would run it; the requests come from a process of
its own too, over kept-alive connections, for slugs at random. On a small machine the two share the cores.
"""

import json
import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

from sqlalchemy import insert

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import open_storage, schema
from tests.benchmarks.tables import Table
from tests.support.postgres import Postgres

Row = dict[str, Any]

ROOT = Path(__file__).parents[2]
STORED = 100_000
FEW = 100
REVISIONS = 10
ROUNDS = 5
SECONDS = 3.0
CONNECTIONS = 16
BATCH = 1_000

SERVICE = """
import sys
from functools import partial
from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import Address, serve

if __name__ == "__main__":
    address = Address().checked()
    app = partial(create_app, sys.argv[1], writes_per_minute=None, reads_per_minute=None)
    serve(app, address, workers=int(sys.argv[2]), announce=lambda: print(address, flush=True))
"""


def service() -> Iterator[Table]:
    """Measure SQLite and PostgreSQL with one and with two processes, and with few FAQs and many."""
    table = Table(
        f"The service under granian, FAQs of 10 questions, {STORED:,} stored, {CONNECTIONS} connections",
        {"a second": ".0f", "median ms": ".2f", "99 % ms": ".2f"},
    )
    growth = Table(
        f"One request at a time, with {FEW} and with {STORED:,} FAQs of {REVISIONS} revisions",
        {"few, ms": ".2f", "many, ms": ".2f", "ratio": ".2f"},
        notes=("goal: a ratio of 2; a query that varies keeps the cache of responses out of the first one",),
    )
    with tempfile.TemporaryDirectory() as directory, Postgres.running() as postgres:
        for name, few, many in (
            ("SQLite", f"sqlite:///{directory}/few.db", f"sqlite:///{directory}/many.db"),
            ("PostgreSQL", postgres.new_database(), postgres.new_database()),
        ):
            keys = _fill(few, FEW), _fill(many, STORED)
            for workers in (1, 2):
                processes = f"{workers} process{'es' if workers > 1 else ''}"
                with serving(many, workers) as port:
                    for method in ("GET", "POST"):
                        _measure(port, 1.0, method, keys[1])  # connections, caches, prepared statements
                        rate, times = _measure(port, SECONDS, method, keys[1])
                        late = statistics.quantiles(times, n=100)[98]
                        middle = statistics.median(times)
                        table.add(f"{method}, {name}, {processes}", rate, middle * 1e3, late * 1e3)
            with serving(few, 1) as port_of_few, serving(many, 1) as port_of_many:
                databases = (port_of_few, FEW, keys[0]), (port_of_many, STORED, keys[1])
                for method in ("GET", "LIST", "PUT"):
                    medians = _compare(method, databases)
                    growth.add(f"{method}, {name}", *medians, medians[1] / medians[0])
    yield table
    yield growth


def _compare(method: str, databases: Sequence[tuple[int, int, str]]) -> list[float]:
    """Return the median milliseconds of a request to each service; they are asked in turns."""
    times: list[list[float]] = [[] for _ in databases]
    for round_ in range(ROUNDS + 1):
        for taken, (port, stored, key) in zip(times, databases, strict=True):
            measured = list[float]()
            _ask_on_one(port, time.perf_counter() + 1, method, key, measured, stored)
            taken += measured if round_ else []  # the first one warms it
    return [statistics.median(taken) * 1e3 for taken in times]


def _fill(url: str, count: int) -> str:
    """Store FAQs, all in one transaction, and return a key of their site."""
    storage = open_storage(url)
    site = storage.sites.create("benchmarks")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with storage.database.writing() as connection:
        for first in range(0, count, BATCH):
            numbers = range(first, min(first + BATCH, count))
            faqs, translations, revisions = list[Row](), list[Row](), list[Row]()
            for number in numbers:
                record, time_ = _faq(number).to_json(), start + timedelta(seconds=number)
                key = {"slug": f"faq-{number}", "lang": "en"}
                times = {"created_at": time_, "updated_at": time_}
                faqs.append({**key, **times, "site": site, "state": "published"})
                newest = {"newest": REVISIONS, "published": REVISIONS, "search_text": f"faq-{number}"}
                translations.append({**key, **newest})
                content = {"record": record, "digest": digest_of(record), "title": "Questions"}
                content |= {"website_name": "Tea & Sons", "website_url": "https://www.example.com"}
                dates = {"created_at": time_, "published_at": time_}
                for revision in range(1, REVISIONS + 1):
                    revisions.append({**key, **content, **dates, "number": revision})
            for target, rows in (
                (schema.faqs, faqs),
                (schema.translations, translations),
                (schema.revisions, revisions),
            ):
                connection.execute(insert(target), rows)
    created = storage.keys.create("benchmarks", site=site)
    storage.close()
    return created


def _faq(number: int) -> FAQ:
    items = tuple(
        Item(n, f"What about question number {n}?", f"It is like this, number {n} of {number}. " * 3)
        for n in range(10)
    )
    return FAQ(f"faq-{number}", "Questions", "Tea & Sons", "en", items)


@contextmanager
def serving(url: str, workers: int) -> Iterator[int]:
    """Run the service in processes of its own, and lend its port."""
    command = [sys.executable, "-c", SERVICE, url, str(workers)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.terminate()
            process.wait(20)


def _measure(port: int, seconds: float, method: str, key: str) -> tuple[float, list[float]]:
    """Return how many requests were answered a second, and how many seconds each took."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        times: list[float] = pool.apply(_ask, (port, seconds, method, key))
    return len(times) / seconds, times


def _ask(port: int, seconds: float, method: str, key: str) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    threads = [Thread(target=_ask_on_one, args=(port, end, method, key, times)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def _ask_on_one(
    port: int, end: float, method: str, key: str, times: list[float], stored: int = STORED
) -> None:
    """Ask on one connection, by hand: a client library would take more time than the service."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        while (began := time.perf_counter()) < end:
            connection.sendall(_request(method, key, random.randrange(stored)))
            answer = connection.recv(65_536)
            head, _, body = answer.partition(b"\r\n\r\n")
            if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
                raise ValueError(answer.decode())
            length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65_536)
            times.append(time.perf_counter() - began)


def _request(method: str, key: str, number: int) -> bytes:
    if method == "GET":
        query = f"?{random.random()}"
        return f"GET /api/v1/faq/faq-{number}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    if method == "LIST":
        return f"GET /api/v1/faqs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Plugin-Key: {key}\r\n\r\n".encode()
    answer = str(random.random())  # so that it is another revision
    items = [{"question": item.question, "answer": item.answer + answer} for item in _faq(number).items]
    website = {"websiteUrl": f"https://www.example.com/{number}", "websiteName": "Tea & Sons"}
    body = json.dumps({**website, "items": items, "lang": "en"}).encode()
    path = f"/api/v1/faq/faq-{number}" if method == "PUT" else "/api/v1/faq"
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-Plugin-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
