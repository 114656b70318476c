"""The service on a socket, under granian: concurrent writes, slow clients, open feeds, and shutdown."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx2
import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.service.storage import Storage, open_storage
from tests.service.bodies import PATH, encoded, publication
from tests.service.sockets import connected, read_to_end
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.service import ROOT

pytestmark = pytest.mark.system

SERVE: Final = """
import sys
from functools import partial
from faqsvc_embed.runtime import serving
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import threads
from faqsvc_embed.service.storage import database
from faqsvc_embed.service.http.access_log import configure_logging
from faqsvc_embed.service.server import Address, serve

if __name__ == "__main__":
    configure_logging()
    serving.HEAD_TIMEOUT, threads.CALL_TIMEOUT, database.BUSY_TIMEOUT = float(sys.argv[2]), 60, 60
    address = Address().checked()
    serve(partial(create_app, sys.argv[1]), address, announce=lambda: print(address, flush=True))
"""
HEALTH: Final = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def served(
    storage: Storage, prefix: Sequence[str] = (), start: str = "", head_timeout: float = 60
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run the service after the code in `start`, with long time-outs."""
    code, database = start + SERVE, f"sqlite:///{storage.database.path}"
    command = [*prefix, sys.executable, "-W", "error", "-c", code, database, str(head_timeout)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Storage, str]]:
    """The storage and the URL of a service that the tests share, unless they stop it."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service') / 'faqsvc.db'}")
    with served(storage) as (_, url):
        yield storage, url
    storage.close()


@pytest.fixture
def url(service: tuple[Storage, str]) -> str:
    return service[1]


@pytest.fixture(scope="module")
def impatient_url(service: tuple[Storage, str]) -> Iterator[str]:
    """The URL of a service over the same storage that does not wait for the head of a request for long."""
    with served(service[0], head_timeout=1) as (_, url):
        yield url


@pytest.fixture
def key(service: tuple[Storage, str]) -> str:
    return service[0].keys.create("tests")


def test_two_hundred_concurrent_writes_succeed(url: str, key: str) -> None:
    limits = httpx2.Limits(max_connections=None)
    with httpx2.Client(base_url=url, trust_env=False, limits=limits, timeout=60) as client:

        def send(number: int) -> tuple[str, str]:
            body = publication(title=f"Number {number}")
            response = client.post(PATH, json=body, headers={"X-Plugin-Key": key})
            return response.json()["slug"], body["title"]

        with ThreadPoolExecutor(200) as threads:
            published = dict(threads.map(send, range(200)))
        read = {slug: client.get(f"{PATH}/{slug}").json()["title"] for slug in published}

    assert len(published) == 200
    assert read == published


def test_an_incomplete_head_closes_the_connection(impatient_url: str) -> None:
    for sent in (b"", b"G", HEALTH[:-2], HEALTH + HEALTH[:10]):
        with connected(impatient_url) as connection, suppress(ConnectionError):
            connection.sendall(sent)

            assert read_to_end(connection).count(b'{"status":"ok"}') == sent.count(HEALTH)


def test_a_head_that_arrives_byte_by_byte_has_no_more_time(impatient_url: str) -> None:
    deadline = time.monotonic() + 60
    with connected(impatient_url) as connection, suppress(ConnectionError):
        while time.monotonic() < deadline:
            connection.sendall(b"G")
            time.sleep(0.02)

    assert time.monotonic() < deadline


def test_a_body_may_take_longer_than_a_head(impatient_url: str, key: str) -> None:
    body = encoded(publication())
    with connected(impatient_url) as connection:
        connection.sendall(head_of_upload(key, len(body)) + body[:10])
        with connected(impatient_url) as slow, suppress(ConnectionError):
            slow.sendall(b"G")
            read_to_end(slow)  # until the deadline of its head
        connection.sendall(body[10:])

        assert read_to_end(connection).startswith(b"HTTP/1.1 201 ")


def head_of_upload(key: str, length: int) -> bytes:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {key}\r\nConnection: close\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


@pytest.mark.parametrize(("is_chunked", "with_key", "status"), [(True, True, 413), (False, False, 401)])
def test_the_sender_of_a_large_body_reads_why_it_was_refused(
    url: str, key: str, is_chunked: bool, with_key: bool, status: int
) -> None:
    headers = {"Content-Type": "application/json"} | ({"X-Plugin-Key": key} if with_key else {})
    body = b" " * 30_000_000
    content = (body[start : start + 1_000_000] for start in range(0, len(body), 1_000_000))
    response = httpx2.post(
        f"{url}{PATH}", content=content if is_chunked else body, headers=headers, trust_env=False, timeout=60
    )

    assert response.status_code == response.json()["status"] == status


def test_who_is_still_sending_reads_why_it_was_refused(url: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n".encode()
    with connected(url) as connection:
        connection.sendall(head)
        for _ in range(20):
            connection.sendall(b" " * 5000)
            time.sleep(0.01)  # the sender's pace
        assert connection.recv(4096).startswith(b"HTTP/1.1 401 ")


def subscribe(connection: socket.socket) -> None:
    """Open a feed, and wait for its beginning."""
    connection.sendall(b"GET /api/v1/events?slug=pricing HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_for(connection, b"retry")


def wait_for(connection: socket.socket, part: bytes) -> None:
    """Read a feed until it has sent this part, in one piece or in several. It must not end before."""
    received = b""
    while part not in received:
        received += (more := connection.recv(4096))
        assert more


def test_open_feeds_end_and_unfinished_uploads_get_a_503_when_the_service_stops(storage: Storage) -> None:
    key = storage.keys.create("tests")
    with served(storage) as (process, url), connected(url) as upload, connected(url) as feed:
        subscribe(feed)
        upload.sendall(head_of_upload(key, 100).replace(b"\r\n", b"\r\nExpect: 100-continue\r\n", 1))
        assert upload.recv(4096).startswith(b"HTTP/1.1 100 ")  # the service waits for the body
        process.send_signal(signal.SIGTERM)
        stopped = time.monotonic()
        ended = read_to_end(feed)
        took_feed = time.monotonic() - stopped
        response = read_to_end(upload)
        process.wait(60)
        took = time.monotonic() - stopped

    assert ended.endswith(b"0\r\n\r\n")
    assert took_feed < took - 1
    assert response.startswith(b"HTTP/1.1 503 ")
    assert process.returncode == 0


RESET: Final = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""
IN_A_TERMINAL: Final = [sys.executable, "-c", RESET]
"""Starts a command that SIGHUP ends, even if these tests run under nohup."""


@pytest.mark.parametrize(("prefix", "stops"), [(IN_A_TERMINAL, True), (["nohup"], False)])
def test_closing_the_terminal_stops_the_service_unless_under_nohup(
    storage: Storage, prefix: list[str], stops: bool
) -> None:
    with served(storage, prefix) as (process, url), connected(url) as feed:
        subscribe(feed)
        process.send_signal(signal.SIGHUP)
        if stops:
            assert read_to_end(feed).endswith(b"0\r\n\r\n")
            assert process.wait(60) == 0
        else:
            put(storage, FAQ.from_dict(samples.pricing()))
            wait_for(feed, b"event: faq")


def test_a_killed_worker_is_replaced_and_the_log_says_so(storage: Storage) -> None:
    with served(storage) as (process, url):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            pytest.skip("the system does not tell the children of a process")
        [worker] = map(int, children.read_text().split())
        os.kill(worker, signal.SIGKILL)
        deadline = time.monotonic() + 60
        status = 0
        while status != 200 and time.monotonic() < deadline:
            with suppress(httpx2.HTTPError):
                status = httpx2.get(f"{url}/livez", trust_env=False, timeout=2).status_code
        process.terminate()
        assert process.stderr is not None
        assert process.stderr.read().count("Unexpected exit from worker-1") == 1
    assert status == 200


HANGING: Final = """
import threading
import faqsvc_embed.service.storage.reading as publications

def hang(*_):
    print("hangs", flush=True)
    threading.Event().wait()

publications.Publications.get = hang
"""


def test_a_worker_ends_after_its_main_process_was_killed_even_if_a_call_hangs(storage: Storage) -> None:
    with served(storage, start=HANGING) as (process, url), connected(url) as client:
        client.sendall(f"GET {PATH}/pricing HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert process.stdout is not None
        assert process.stdout.readline() == "hangs\n"
        process.kill()
        process.communicate(timeout=60)  # until the worker has closed its pipes


BROKEN: Final = """
from faqsvc_embed.service.storage.api_keys import APIKeys
from faqsvc_embed.service.storage.reading import Publications

def fail(*_):
    raise ValueError("a fault of ours")

APIKeys.verify = Publications.get = fail
"""


def test_an_internal_error_is_a_500_even_during_an_upload_and_is_logged_once(storage: Storage) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: fs_live_x\r\nContent-Length: 100000\r\n\r\n"
    with served(storage, start=BROKEN) as (process, url), connected(url) as connection:
        connection.sendall(head.encode())
        for _ in range(20):
            connection.sendall(b" " * 5000)
            time.sleep(0.01)  # the sender's pace
        assert connection.recv(4096).startswith(b"HTTP/1.1 500 ")
        response = httpx2.get(f"{url}{PATH}/pricing", trust_env=False, timeout=60)
        process.terminate()
        assert process.stderr is not None
        log = process.stderr.read()
    assert (response.status_code, response.json()["code"]) == (500, "internal-error")
    assert log.count("ValueError: a fault of ours") == 2
    for request in (f"POST {PATH}", f"GET {PATH}/pricing"):
        assert log.count(f"ERROR faqsvc_embed.service {request} failed\nTraceback") == 1


def test_a_malformed_form_of_a_stranger_is_not_logged(storage: Storage) -> None:
    with served(storage) as (process, url):
        headers = {"origin": url, "content-type": "multipart/form-data"}
        response = httpx2.post(
            f"{url}/desk/sign-in", content=b"x", headers=headers, trust_env=False, timeout=60
        )
        process.terminate()
        assert process.stderr is not None
        log = process.stderr.read()
    assert (response.status_code, log) == (400, "")
