"""Shutdown while a request is under way."""

import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import running, shutdown
from faqsvc_embed.service.storage import Storage, open_storage
from tests.cli.support import serving
from tests.service.bodies import PATH
from tests.service.sockets import connected, read_to_end

pytestmark = pytest.mark.system


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
