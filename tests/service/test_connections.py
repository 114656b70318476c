"""Connections on which nothing comes, or too little, or nothing is taken."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx2
import pytest

from faqsvc_embed.service import connections, serving
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, encoded, publication

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def address(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service that waits a moment for a head."""
    monkeypatch.setattr(connections, "HEAD_TIMEOUT", 0.2)
    with running(create_app(storage)) as address:
        yield address


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    url = httpx2.URL(address)
    with socket.create_connection((url.host, url.port), timeout=3) as connection:
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("sent", [b"", b"G", HEALTH[:-2]])
def test_who_sends_no_whole_head_is_not_waited_for(address: str, sent: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(sent)

        assert read_to_end(connection) == b""


def test_a_head_that_comes_byte_by_byte_has_no_more_time(address: str) -> None:
    deadline = time.monotonic() + 5
    with connected(address) as connection, suppress(ConnectionError):
        while time.monotonic() < deadline:
            connection.sendall(b"G")
            time.sleep(0.02)

    assert time.monotonic() < deadline


def test_a_second_head_has_as_much_time_as_the_first(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(HEALTH + HEALTH + HEALTH[:10])
        answers = read_to_end(connection)

    assert answers.count(b'{"status":"ok"}') == 2


def test_a_body_may_take_longer_than_a_head(address: str, storage: Storage) -> None:
    body = encoded(publication())
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {storage.keys.create()}\r\n"
    head += f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with connected(address) as connection:
        connection.sendall(head.encode() + body[:10])
        time.sleep(0.4)
        connection.sendall(body[10:])

        assert read_to_end(connection).startswith(b"HTTP/1.1 201 ")


def test_where_too_many_wait_the_one_that_waited_longest_ends(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "open_files", lambda: 40)
    with ExitStack() as stack:
        address = stack.enter_context(running(create_app(storage)))
        idle = stack.enter_context(connected(address))
        idle.sendall(HEALTH.replace(b"GET", b"HEAD"))
        assert idle.recv(65536).endswith(b"\r\n\r\n")
        waiting = [stack.enter_context(connected(address)) for _ in range(60)]
        health = httpx2.get(f"{address}/healthz", trust_env=False)

        assert health.status_code == 200
        assert (idle.recv(10), waiting[0].recv(10)) == (b"", b"")
        waiting[-1].sendall(HEALTH)
        assert waiting[-1].recv(10) == b"HTTP/1.1 2"


def test_who_takes_no_answer_is_not_kept(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "ANSWER_TIMEOUT", 0.2)
    with ExitStack() as stack:
        address = stack.enter_context(running(create_app(storage)))
        deaf = stack.enter_context(connected(address))
        deaf.setblocking(False)
        with pytest.raises(ConnectionError):
            ask_until_cut_off(deaf, deadline=time.monotonic() + 10)


def ask_until_cut_off(deaf: socket.socket, *, deadline: float) -> None:
    """Ask for what is large, again and again, and read nothing."""
    while time.monotonic() < deadline:
        try:
            deaf.send(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        except BlockingIOError:
            time.sleep(0.02)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_no_http_is_refused_in_the_shape_of_all_errors(address: str, sent: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(sent)
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"content-type: application/problem+json" in head
    assert httpx2.Response(400, content=body).json()["status"] == 400


def test_what_is_no_http_behind_an_answer_gets_no_second_one(address: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(address) as connection:
        connection.sendall(head.encode())
        answer = connection.recv(65536)
        connection.sendall(b"no chunk\r\n")
        rest = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"HTTP" not in rest
