"""Connections: slow clients, idle clients, and malformed HTTP."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx2
import pytest

from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import protocol, run, running
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, encoded, publication
from tests.service.sockets import connected, read_to_end

pytestmark = pytest.mark.system

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
