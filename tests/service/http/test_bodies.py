"""Request bodies on a socket: refused early, slow, and cut off."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import requests
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH
from tests.service.sockets import connected, read_to_end
from tests.support.running import running

pytestmark = pytest.mark.system

HEAD = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def url(storage: Storage) -> Iterator[str]:
    """A service on a socket."""
    with running(create_app(storage)) as url:
        yield url


@pytest.mark.parametrize(("key_line", "status"), [(b"", 401), (b"X-Plugin-Key: fs_live_wrong\r\n", 403)])
def test_the_key_is_checked_before_the_body_arrives(url: str, key_line: bytes, status: int) -> None:
    with connected(url) as connection:
        connection.sendall(HEAD.encode() + key_line + b"Content-Length: 500000\r\n\r\n")

        assert connection.recv(4096).startswith(b"HTTP/1.1 %d " % status)


def test_a_declared_length_is_checked_before_the_body_arrives(url: str, key: str) -> None:
    with connected(url) as connection:
        connection.sendall(f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 100000000\r\n\r\n".encode())

        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", [PATH, f"{PATH}/generate"])
def test_a_slow_body_is_a_408(storage: Storage, key: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "BODY_TIMEOUT", 0.05)
    monkeypatch.setenv("FAQSVC_GENERATE_TIMEOUT", "0.01")
    head = HEAD.replace(PATH, path)
    with running(create_app(storage)) as url, connected(url) as connection:
        connection.sendall(f"{head}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode())

        assert read_to_end(connection).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_disconnects_is_not_logged(
    url: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(url) as connection:
        connection.sendall(f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode())
    assert httpx2.get(f"{url}/readyz", trust_env=False, timeout=60).status_code == 200

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_hundred_stalled_bodies_do_not_block_readers(url: str, key: str) -> None:
    head = f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode()
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(connected(url)).sendall(head)

        assert httpx2.get(f"{url}/readyz", trust_env=False, timeout=60).status_code == 200
