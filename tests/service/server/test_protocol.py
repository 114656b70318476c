"""The service on a socket: concurrent writes, slow and idle clients, malformed HTTP, and shutdown."""

import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import protocol, run, running, shutdown
from faqsvc_embed.service.storage import Storage, open_storage
from tests.cli.support import serving
from tests.service.bodies import PATH, encoded, publication
from tests.service.sockets import connected, read_to_end
from tests.support import samples

pytestmark = pytest.mark.system


@pytest.fixture
def server(storage: Storage) -> Iterator[httpx2.Client]:
    """A client of the service on a socket."""
    limits = httpx2.Limits(max_connections=None)
    with (
        running(create_app(storage)) as url,
        httpx2.Client(base_url=url, trust_env=False, limits=limits, timeout=60) as client,
    ):
        yield client


def test_two_hundred_concurrent_writes_succeed(server: httpx2.Client, key: str) -> None:
    def send(number: int) -> tuple[str, str]:
        body = publication(title=f"Number {number}")
        response = server.post(PATH, json=body, headers={"X-Plugin-Key": key})
        return response.json()["slug"], body["title"]

    with ThreadPoolExecutor(200) as threads:
        published = dict(threads.map(send, range(200)))
    read = {slug: server.get(f"{PATH}/{slug}").json()["title"] for slug in published}

    assert len(published) == 200
    assert read == published


def test_the_client_of_this_package_reads_what_the_service_returns(
    server: httpx2.Client, storage: Storage
) -> None:
    records = samples.multilingual()
    for lang in ("en", "ko"):
        storage.put(FAQ.from_dict(records[lang]))
    with FAQEmbed(str(server.base_url)) as embed:
        read = {lang: embed.get_faq("pricing", lang=lang).to_dict() for lang in ("en", "ko", "de")}

    assert read == {"en": records["en"], "ko": records["ko"], "de": records["en"]}


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def url(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service that waits only briefly for a request head."""
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT", 0.2)
    with running(create_app(storage)) as url:
        yield url


@pytest.mark.parametrize("sent", [b"", b"G", HEALTH[:-2]])
def test_an_incomplete_head_closes_the_connection(url: str, sent: bytes) -> None:
    with connected(url) as connection:
        connection.sendall(sent)

        assert read_to_end(connection) == b""


def test_a_head_that_arrives_byte_by_byte_has_no_more_time(url: str) -> None:
    deadline = time.monotonic() + 5
    with connected(url) as connection, suppress(ConnectionError):
        while time.monotonic() < deadline:
            connection.sendall(b"G")
            time.sleep(0.02)

    assert time.monotonic() < deadline


def test_a_second_head_has_as_much_time_as_the_first(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(HEALTH + HEALTH + HEALTH[:10])
        responses = read_to_end(connection)

    assert responses.count(b'{"status":"ok"}') == 2


def test_a_body_may_take_longer_than_a_head(url: str, storage: Storage) -> None:
    body = encoded(publication())
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {storage.keys.create()}\r\n"
    head += f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with connected(url) as connection:
        connection.sendall(head.encode() + body[:10])
        time.sleep(0.4)
        connection.sendall(body[10:])

        assert read_to_end(connection).startswith(b"HTTP/1.1 201 ")


def test_too_many_idle_connections_close_the_oldest(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "open_file_limit", lambda: 40)
    with ExitStack() as stack:
        url = stack.enter_context(running(create_app(storage)))
        idle = stack.enter_context(connected(url))
        idle.sendall(HEALTH.replace(b"GET", b"HEAD"))
        assert idle.recv(65536).endswith(b"\r\n\r\n")
        waiting = [stack.enter_context(connected(url)) for _ in range(60)]
        health = httpx2.get(f"{url}/healthz", trust_env=False)

        assert health.status_code == 200
        assert (idle.recv(10), waiting[0].recv(10)) == (b"", b"")
        waiting[-1].sendall(HEALTH)
        assert waiting[-1].recv(10) == b"HTTP/1.1 2"


def test_a_client_that_reads_nothing_is_disconnected(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SEND_TIMEOUT", 0.2)
    with ExitStack() as stack:
        url = stack.enter_context(running(create_app(storage)))
        silent = stack.enter_context(connected(url))
        silent.setblocking(False)
        with pytest.raises(ConnectionError):
            request_until_disconnected(silent, deadline=time.monotonic() + 10)


def request_until_disconnected(silent: socket.socket, *, deadline: float) -> None:
    """Request a large response again and again, and read nothing."""
    while time.monotonic() < deadline:
        try:
            silent.send(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        except BlockingIOError:
            time.sleep(0.02)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_malformed_http_gets_a_problem_document(url: str, sent: bytes) -> None:
    with connected(url) as connection:
        connection.sendall(sent)
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"content-type: application/problem+json" in head
    assert httpx2.Response(400, content=body).json()["status"] == 400


def test_malformed_http_after_a_response_gets_no_second_one(url: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(url) as connection:
        connection.sendall(head.encode())
        response = connection.recv(65536)
        connection.sendall(b"no chunk\r\n")
        rest = read_to_end(connection)

    assert response.startswith(b"HTTP/1.1 401 ")
    assert b"HTTP" not in rest


def start_upload(connection: socket.socket, key: str) -> None:
    """Send the head of a publish request, and wait until its body is being read."""
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {key}\r\n"
    head += "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
    connection.sendall(head.encode())
    assert connection.recv(100).startswith(b"HTTP/1.1 100 ")


def test_an_upload_that_does_not_finish_in_time_gets_a_503(
    storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "GRACE", 0.2)
    with ExitStack() as stack:
        with running(create_app(storage)) as url:
            connection = stack.enter_context(connected(url))
            start_upload(connection, key)
            stopped = time.monotonic()
        took = time.monotonic() - stopped
        response = read_to_end(connection)

    assert 0.1 < took < 5
    assert response.startswith(b"HTTP/1.1 503 ")


def test_a_second_ctrl_c_ends_an_upload_without_a_traceback(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/faqsvc.db"
    storage = open_storage(database)
    key = storage.keys.create()
    storage.close()
    with serving("--database", database) as (process, url), connected(url) as connection:
        start_upload(connection, key)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two signals at the same time are one
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        response = read_to_end(connection)

    # On Python 3.12 and later, uvicorn waits for its time-out all the same, and logs that.
    assert (process.returncode, "Traceback" in errors) == (0, False)
    assert response.startswith(b"HTTP/1.1 503 ")
