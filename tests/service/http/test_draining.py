"""Request bodies on a socket: refused early, drained, slow, and cut off."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx2
import pytest

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import draining
from faqsvc_embed.service.routes import publish
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, publication
from tests.service.sockets import connected, read_to_end
from tests.support.running import running

pytestmark = pytest.mark.system

HEAD = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def url(storage: Storage) -> Iterator[str]:
    """A service on a socket."""
    with running(create_app(storage)) as url:
        yield url


@pytest.fixture
def server(url: str) -> Iterator[httpx2.Client]:
    """A client of that service."""
    with httpx2.Client(base_url=url, trust_env=False) as client:
        yield client


def megabytes(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * 1_000_000


@pytest.mark.parametrize(("key_line", "status"), [(b"", 401), (b"X-Plugin-Key: fs_live_wrong\r\n", 403)])
def test_the_key_is_checked_before_the_body_arrives(url: str, key_line: bytes, status: int) -> None:
    with connected(url) as connection:
        connection.sendall(HEAD.encode() + key_line + b"Content-Length: 500000\r\n\r\n")

        assert connection.recv(4096).startswith(b"HTTP/1.1 %d " % status)


def test_a_declared_length_is_checked_before_the_body_arrives(url: str, key: str) -> None:
    with connected(url) as connection:
        connection.sendall(f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 100000000\r\n\r\n".encode())

        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("length", [{}, {"Content-Length": "100000000"}], ids=["chunked", "declared"])
@pytest.mark.parametrize("with_key", [True, False])
def test_the_sender_of_100_mb_can_read_the_refusal(
    server: httpx2.Client, key: str, length: dict[str, str], with_key: bool
) -> None:
    headers = {"Content-Type": "application/json", **length} | ({"X-Plugin-Key": key} if with_key else {})
    response = server.post(PATH, content=megabytes(100), headers=headers)

    assert is_problem(response, 413 if with_key else 401)
    assert response.headers["connection"] == "close"


def test_a_client_that_never_stops_sending_is_disconnected(url: str) -> None:
    sent = 0
    with connected(url) as connection:
        connection.sendall(f"{HEAD}Content-Length: 1000000000\r\n\r\n".encode())
        with suppress(ConnectionError):
            for chunk in megabytes(1000):
                sent += connection.send(chunk)

    assert sent < 4 * draining.MAX_DRAINED  # the rest is in the buffers of both machines


def test_a_client_that_stops_sending_is_disconnected(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "DRAIN_TIMEOUT", 0.05)
    with connected(url) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n".encode())

        assert read_to_end(connection).startswith(b"HTTP/1.1 401 ")


def test_a_connection_stays_open_after_a_small_refused_body(server: httpx2.Client) -> None:
    response = server.post(PATH, json=publication())

    assert response.status_code == 401
    assert "connection" not in response.headers


def test_a_slow_body_is_a_408(url: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "BODY_TIMEOUT", 0.05)
    with connected(url) as connection:
        connection.sendall(f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode())

        assert read_to_end(connection).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_disconnects_is_not_logged(
    url: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(url) as connection:
        connection.sendall(f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode())
    assert httpx2.get(f"{url}/healthz", trust_env=False).status_code == 200

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_hundred_stalled_bodies_do_not_block_readers(url: str, key: str) -> None:
    head = f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode()
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(connected(url)).sendall(head)

        assert httpx2.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
