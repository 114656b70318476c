"""FAQs under real uvicorn: one worker and two, gzip on the wire, and a stop within a second."""

import gzip
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmarks.loading import free_port
from tests.support.embeds import SLACK
from tests.support.faulty import FaultyServer, hang, hang_in_body
from tests.support.pages import A, B
from tests.support.parsed import page_of, summary

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
HOST = """
import asyncio
import os
import socket
import time

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware

started = asyncio.Event()
embed = FAQEmbed(push=False)
environment = Environment(autoescape=True)
install(environment, embed)
two = environment.from_string('{{ faq("pricing") }}<hr>{% faq "legal" %}')
one = environment.from_string('{{ faq("pricing") }}')

if "HOST_SLOW_NAMES" in os.environ:
    def getaddrinfo(*arguments, **options):
        time.sleep(60)
        raise socket.gaierror("at last")
    socket.getaddrinfo = getaddrinfo


async def page(request):
    return HTMLResponse(two.render(), headers={"X-Worker": str(os.getpid())})


async def start(request):
    embed.use_faq("pricing")
    started.set()
    return HTMLResponse("started")


async def stream(request):
    async def chunks():
        yield "<p>first</p>" + " " * 1000
        await started.wait()
        yield one.render()

    return StreamingResponse(chunks(), media_type="text/html")


app = Starlette(routes=[Route("/", page), Route("/start", start), Route("/stream", stream)])
app.add_middleware(FAQMiddleware, embed=embed)
app.add_middleware(GZipMiddleware)
"""


class Uvicorn:
    """A server in a process of its own, with the application above."""

    def __init__(self, folder: Path, service: str, workers: int, **environment: str) -> None:
        (folder / "host.py").write_text(HOST, encoding="utf-8")
        self.port = free_port()
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        # With several workers, uvicorn itself leaves a socket open, which this would report.
        warnings = ["-W", "default::ResourceWarning"] if workers == 1 else []
        self.process = subprocess.Popen(
            [sys.executable, *warnings, "-m", "uvicorn", "host:app", *options, "--workers", str(workers)],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "FAQSVC_BASE_URL": service,
                **environment,
            },
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._wait_until_up()

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        raise AssertionError(f"uvicorn does not come up: {self.process.communicate()}")

    def get(self, path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, {n.lower(): v for n, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def end(self) -> tuple[float, str]:
        """End it; return how long that took, and what it has written."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        return time.monotonic() - began, out + err


@contextmanager
def running(folder: Path, service: str, workers: int = 1, **environment: str) -> Iterator[Uvicorn]:
    server = Uvicorn(folder, service, workers, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
            server.process.communicate(timeout=60)


def test_every_worker_fills_in_its_first_page(faulty: FaultyServer, tmp_path: Path) -> None:
    workers = 2
    faulty.serve(A.to_dict())
    faulty.serve(B.to_dict())
    with running(tmp_path, faulty.base_url, workers) as server:
        responses = [server.get() for _ in range(20)]
        for status, headers, body in responses:
            assert (status, summary(body)) == (200, page_of(A, B))
            assert headers["content-length"] == str(len(body))
        seen = {headers["x-worker"] for _, headers, _ in responses}
        assert 1 <= len(seen) <= workers
        assert len(faulty.log) == 2 * len(seen)
        status, headers, body = server.get(**{"Accept-Encoding": "gzip"})
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert summary(gzip.decompress(body)) == page_of(A, B)


def test_a_stream_streams_on_the_wire(faulty: FaultyServer, tmp_path: Path) -> None:
    faulty.serve(A.to_dict())
    with running(tmp_path, faulty.base_url) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/stream")
        response = connection.getresponse()
        first = response.read1(1000)
        server.get("/start")  # before the rest is made
        rest = response.read()
        assert first.startswith(b"<p>first</p>")
        assert summary(first + rest) == page_of(A)
        connection.close()


@contextmanager
def full_backlog() -> Iterator[str]:
    """A service that takes no connection: connecting waits until it times out."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        address = listening.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"
        for client in waiting:
            client.close()


@pytest.mark.parametrize(("trouble", "workers"), [("response", 2), ("body", 1), ("connect", 1), ("names", 1)])
def test_a_server_ends_without_waiting_for_its_requests_and_writes_nothing(
    faulty: FaultyServer, tmp_path: Path, trouble: str, workers: int
) -> None:
    faulty.serve(A.to_dict())
    faulty.behave(hang_in_body if trouble == "body" else hang)
    with full_backlog() as deaf:
        service, environment = faulty.base_url, {}
        if trouble == "connect":
            service = deaf
        elif trouble == "names":
            service, environment = "http://faq.test", {"HOST_SLOW_NAMES": "yes"}
        with running(tmp_path, service, workers, **environment) as server:
            for _ in range(workers):
                assert server.get("/start")[2] == b"started"
            time.sleep(0.2)  # until the refresh is where it hangs
            seconds, written = server.end()
    assert written == ""
    assert seconds < SLACK


SCRIPT = """
import logging, os, socket, sys, time
if "HOST_SLOW_NAMES" in os.environ:
    def getaddrinfo(*arguments, **options):
        time.sleep(60)
        raise socket.gaierror("at last")
    socket.getaddrinfo = getaddrinfo
from faqsvc_embed import FAQEmbed
embed = FAQEmbed(sys.argv[1], wait=0.2, timeout=60, push=False)
logging.disable()  # it says that the FAQ comes too late
assert embed.render("pricing") == ""
logging.disable(logging.NOTSET)
if sys.argv[2] == "close":
    embed.close()
print(time.time())
"""


@pytest.mark.parametrize("way", ["close", "leave"])
@pytest.mark.parametrize("trouble", ["response", "names"])
def test_a_process_ends_without_waiting_for_its_requests_and_writes_nothing(
    faulty: FaultyServer, trouble: str, way: str
) -> None:
    faulty.behave(hang)
    service = faulty.base_url if trouble == "response" else "http://faq.test"
    environment = {"HOST_SLOW_NAMES": "yes"} if trouble == "names" else {}
    done = subprocess.run(
        [sys.executable, "-W", "default::ResourceWarning", "-c", SCRIPT, service, way],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    ended = time.time()
    assert (done.returncode, done.stderr) == (0, "")
    assert ended - float(done.stdout) < SLACK
