"""The service under another server, as the documentation shows it: granian on a Unix socket."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from faqsvc_embed.service.http.rate_limit import client_network
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, publication
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system


@pytest.fixture
def granian(storage: Storage, tmp_path: Path) -> Iterator[str]:
    """The path of the socket on which granian serves the storage."""
    path = tmp_path / "http.sock"
    command = [sys.executable, "-m", "granian", "--interface", "asgi", "--factory", "--uds", str(path)]
    command += ["--http1-header-read-timeout", "500", "faqsvc_embed.service:create_app"]
    environment = {"FAQSVC_DATABASE_URL": f"sqlite:///{storage.database.path}"}
    with subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[3]) as process:
        try:
            wait_until(path.exists, 30)
            yield str(path)
        finally:
            process.terminate()
            process.wait(20)


def test_granian_runs_the_service(granian: str, key: str) -> None:
    transport = httpx2.HTTPTransport(uds=granian)
    with httpx2.Client(base_url="http://faq.example", transport=transport, trust_env=False) as client:
        put = client.put(f"{PATH}/tea", json=publication(), headers={"X-Plugin-Key": key})
        refused = [client.delete(f"{PATH}/tea", headers={"X-Plugin-Key": "wrong"}) for _ in range(61)]

        assert (put.status_code, put.json()["faqUrl"]) == (201, "http://faq.example/faq/tea")
        assert client.get(f"{PATH}/tea").status_code == 200
        assert {response.status_code for response in refused} == {403}  # all clients have one address: none


def test_granian_ends_a_request_whose_head_does_not_arrive(granian: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(granian)
        client.settimeout(20)
        client.sendall(b"GET / HTTP/1.1\r\nHo")
        assert client.recv(100) == b""


def test_a_client_without_a_host_came_over_a_unix_socket() -> None:
    assert client_network(("", 0)) is None
