"""`faqsvc serve`: the service as a process."""

import signal
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.runtime.serving import Address
from faqsvc_embed.service.storage import open_storage
from tests.cli.support import command, environment, failure, faqsvc, serving
from tests.support.running import listen
from tests.support.waiting import wait_until


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])  # in use; not of this machine (RFC 5737)
def test_an_address_that_cannot_be_used_is_named(database: str, host: str) -> None:
    with listen() as taken:
        port = taken.getsockname()[1]
        message = failure(faqsvc("serve", "--database", database, "--host", host, "--port", str(port)))
    assert f"{host}:{port}" in message


def test_an_invalid_public_address_is_named(database: str) -> None:
    assert "'faq.example'" in failure(faqsvc("serve", "--database", database, "--base-url", "faq.example"))


@pytest.mark.parametrize("is_there", [False, True], ids=["missing", "empty"])
def test_a_missing_or_empty_file_is_not_served_as_a_new_service(tmp_path: Path, is_there: bool) -> None:
    file = tmp_path / "lost.db"
    if is_there:
        file.touch()
    message = failure(faqsvc("serve", "--database", f"sqlite:///{file}"))
    assert str(file) in message
    assert "faqsvc db upgrade --create" in message
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [0] * is_there


@pytest.mark.system
@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, []), (signal.SIGTERM, ["--workers", "2", "--base-url", "https://faq.example"])],
)
def test_a_service_that_others_can_reach_asks_for_its_public_address_and_a_signal_stops_it_quietly(
    database: str, number: signal.Signals, options: list[str]
) -> None:
    with serving("--database", database, "--host", "0.0.0.0", *options) as (process, url):
        assert httpx2.get(f"{url}/readyz", trust_env=False, timeout=60).status_code == 200
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        printed, errors = process.stdout.read(), process.stderr.read()
    assert ("https://faq.example/desk" in printed, errors.count("\n")) == (bool(options), not options)
    assert options or "--base-url" in errors


@pytest.mark.system
def test_a_unix_socket_is_served_and_removed(database: str, tmp_path: Path) -> None:
    path = tmp_path / "faqsvc.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))  # as by a process that was killed
    arguments = command("serve", "--database", database, "--uds", str(path), "--workers", "2")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None
        assert str(path) in process.stdout.readline()
        message = failure(faqsvc("serve", "--database", database, "--uds", str(path)))
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), timeout=60) as client:
            assert client.get("http://faq.example/readyz").status_code == 200
        process.terminate()
        process.wait(60)
    assert str(path) in message
    assert not path.exists()


def test_the_socket_of_a_server_that_is_too_busy_to_accept_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "faqsvc.sock"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(path))
        server.listen(0)
        client.connect(str(path))  # the only one that may wait
        with pytest.raises(OSError, match="in use"):
            Address(unix=path).checked()
    assert path.exists()


@pytest.mark.parametrize("name", ["a" * 120, "notes.txt"], ids=["too long", "a file"])
def test_a_path_that_cannot_be_a_unix_socket_is_refused(database: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    message = failure(faqsvc("serve", "--database", database, "--uds", str(tmp_path / name)))
    assert (name in message, "None" in message) == (True, False)
    assert (tmp_path / "notes.txt").read_text() == "notes"


@pytest.mark.system
def test_a_worker_returns_the_metrics_of_all_workers(database: str) -> None:
    requests, path = 20, Path(database.partition("///")[2])
    items = [{"question": "How much?", "answer": "Five euros."}]
    body = {"websiteUrl": "https://heron.example", "websiteName": "Heron", "items": items}
    with (
        closing(open_storage(database)) as storage,
        serving("--database", database, "--workers", "2", "--metrics") as (_, url),
        httpx2.Client(headers={"Connection": "close"}, trust_env=False, timeout=60) as client,
    ):
        write: dict[str, Any] = {
            "url": f"{url}{API_PATH}/pricing",
            "headers": {KEY_HEADER: storage.keys.create()},
            "json": body,
        }
        for _ in range(requests):  # each may reach another worker
            client.get(f"{url}/livez")
        text = client.get(f"{url}/metrics").text
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # one write fails, in one of the workers
            refused = client.put(**write)
            during = {scraped(client, url) for _ in range(requests)}
        # Soon after a failure, a success may be by chance.
        wait_until(lambda: client.put(**write).is_success and scraped(client, url)[0] == "1.0")
        after = {scraped(client, url) for _ in range(requests)}
    count = 'faqsvc_http_requests_total{method="GET",route="/livez",status="200"}'
    assert f"{count} {float(requests)}" in text.splitlines()
    assert (refused.status_code, during) == (503, {("0.0", "1.0")})
    assert after == {("1.0", "1.0")}


def scraped(client: httpx2.Client, url: str) -> tuple[str, str]:
    """Return whether the database is writable, and the number of failures, as one worker says."""
    lines = client.get(f"{url}/metrics").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return values["faqsvc_database_writable"], values["faqsvc_database_failures_total"]
