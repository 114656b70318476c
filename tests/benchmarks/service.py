"""Requests a second of the read endpoint under uvicorn, with 100,000 FAQs stored.

The service runs in processes of its own, as an operator would run it; the requests come from a process of
its own too, over kept-alive connections, for slugs at random. On a small machine the two share the cores.
"""

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

from faqsvc_embed.records import FAQ, Item
from faqsvc_embed.service.database import timestamp
from faqsvc_embed.service.storage import open_storage, utc_now
from tests.support.postgres import Postgres

ROOT = Path(__file__).parents[2]
STORED = 100_000
SECONDS = 5.0
CONNECTIONS = 16
BATCH = 1_000

SERVICE = """
import sys
from functools import partial
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import address, listen, serve_many

if __name__ == "__main__":  # which its processes import anew
    listening = listen()
    print(address(listening), flush=True)
    serve_many(partial(create_app, sys.argv[1]), listening, int(sys.argv[2]))
"""


def service() -> str:
    """Measure SQLite and PostgreSQL with one and with two processes, and return a table."""
    lines = [f"GET of an FAQ of 10 items under uvicorn, {STORED:,} FAQs stored, {CONNECTIONS} connections"]
    with tempfile.TemporaryDirectory() as directory, Postgres.running() as postgres:
        for name, url in (
            ("SQLite", f"sqlite:///{directory}/faqsvc.db"),
            ("PostgreSQL", postgres.new_database()),
        ):
            _fill(url)
            for workers in (1, 2):
                with _serving(url, workers) as port:
                    _measure(port, 1.0)  # connections, caches, prepared statements
                    lines.append(_line(f"{name}, {workers} process{'es' if workers > 1 else ''}", port))
    return "\n".join(lines)


def _fill(url: str) -> None:
    storage = open_storage(url)
    for start in range(0, STORED, BATCH):
        with storage._database.writing() as connection:
            for number in range(start, start + BATCH):
                faq = _faq(number)
                storage._claim(connection, faq.slug, None, "en")
                connection.execute(
                    "INSERT INTO editions (slug, lang, website_url, record, updated_at)"
                    " VALUES (:slug, 'en', '', :record, :now)",
                    {"slug": faq.slug, "record": faq.to_json(), "now": timestamp(utc_now())},
                )
    storage.close()


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


def _line(name: str, port: int) -> str:
    rate, latencies = _measure(port, SECONDS)
    middle, late = statistics.median(latencies), statistics.quantiles(latencies, n=100)[98]
    return f"  {name:<28} {rate:8.0f} a second   median {middle * 1e3:6.2f} ms   99 % {late * 1e3:6.2f} ms"


def _measure(port: int, seconds: float) -> tuple[float, list[float]]:
    """Return how many requests were answered a second, and how many seconds each took."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        latencies: list[float] = pool.apply(_ask, (port, seconds))
    return len(latencies) / seconds, latencies


def _ask(port: int, seconds: float) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds
    threads = [Thread(target=_ask_on_one, args=(port, end, latencies)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


def _ask_on_one(port: int, end: float, latencies: list[float]) -> None:
    """Ask on one connection, by hand: a client library would take more time than the service."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        while (began := time.perf_counter()) < end:
            path = f"/api/v1/faq/faq-{random.randrange(STORED)}"
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            answer = connection.recv(65_536)
            head, _, body = answer.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise ValueError(head.decode())
            length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65_536)
            latencies.append(time.perf_counter() - began)


if __name__ == "__main__":
    print(service())
