"""Requests a second of reading and of publishing under uvicorn, with 100,000 FAQs stored.

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import open_storage
from tests.benchmarks.tables import Table
from tests.support.postgres import Postgres

ROOT = Path(__file__).parents[2]
STORED = 100_000
SECONDS = 3.0
CONNECTIONS = 16
BATCH = 1_000

SERVICE = """
import sys
from functools import partial
from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import listen, serve_workers, url_of

if __name__ == "__main__":  # which its processes import anew
    listening = listen()
    print(url_of(listening), flush=True)
    app = partial(create_app, sys.argv[1], writes_per_minute=None, reads_per_minute=None)
    serve_workers(app, listening, int(sys.argv[2]))
"""


def service() -> Iterator[Table]:
    """Measure SQLite and PostgreSQL with one and with two processes."""
    table = Table(
        f"The service under uvicorn, FAQs of 10 questions, {STORED:,} stored, {CONNECTIONS} connections",
        {"a second": ".0f", "median ms": ".2f", "99 % ms": ".2f"},
    )
    with tempfile.TemporaryDirectory() as directory, Postgres.running() as postgres:
        for name, url in (
            ("SQLite", f"sqlite:///{directory}/faqsvc.db"),
            ("PostgreSQL", postgres.new_database()),
        ):
            key = _fill(url)
            for workers in (1, 2):
                processes = f"{workers} process{'es' if workers > 1 else ''}"
                with _serving(url, workers) as port:
                    for method in ("GET", "POST"):
                        _measure(port, 1.0, method, key)  # connections, caches, prepared statements
                        rate, times = _measure(port, SECONDS, method, key)
                        late = statistics.quantiles(times, n=100)[98]
                        middle = statistics.median(times)
                        table.add(f"{method}, {name}, {processes}", rate, middle * 1e3, late * 1e3)
    yield table


def _fill(url: str) -> str:
    """Store many FAQs, and return a key."""
    storage = open_storage(url)
    for number in range(STORED):
        storage.put(_faq(number))
    key = storage.keys.create("benchmarks")
    storage.close()
    return key


def _faq(number: int) -> FAQ:
    items = tuple(
        Item(n, f"What about question number {n}?", f"It is like this, number {n} of {number}. " * 3)
        for n in range(10)
    )
    return FAQ(f"faq-{number}", "Questions", "Tea & Sons", "en", items)


@contextmanager
def _serving(url: str, workers: int) -> Iterator[int]:
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


def _ask_on_one(port: int, end: float, method: str, key: str, times: list[float]) -> None:
    """Ask on one connection, by hand: a client library would take more time than the service."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        while (began := time.perf_counter()) < end:
            connection.sendall(_request(method, key, random.randrange(STORED)))
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
        return f"GET /api/v1/faq/faq-{number} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    items = [{"question": item.question, "answer": item.answer} for item in _faq(number).items]
    website = {"websiteUrl": f"https://www.example.com/{number}", "websiteName": "Tea & Sons"}
    body = json.dumps({**website, "items": items}).encode()
    head = (
        "POST /api/v1/faq HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-Plugin-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
