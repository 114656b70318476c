"""`faqsvc serve` and `faqsvc keys`."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner, Result

from faqsvc_embed.cli import main
from faqsvc_embed.service import ending
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import listen, running
from faqsvc_embed.service.storage import open_storage
from tests.service.bodies import publication

ROOT = Path(__file__).parents[2]


def faqsvc(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def is_one_line(result: Result, *, naming: str) -> bool:
    """Tell whether a command failed as commands do: one line on standard error, exit status 1."""
    return (
        result.exit_code == 1
        and result.stdout == ""
        and result.stderr.startswith("Error: ")
        and result.stderr.count("\n") == 1
        and naming in result.stderr
    )


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/faqsvc.db"


@contextmanager
def serving(*arguments: str, port: str = "0") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `faqsvc serve`, and lend the process and the address that it prints."""
    command = [sys.executable, "-W", "error", "-m", "faqsvc_embed.cli", "serve", "--port", port, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()


def test_a_key_made_on_the_command_line_publishes_until_it_is_revoked_there(url: str) -> None:  # V2
    key = faqsvc("keys", "create", "--database", url).stdout.strip()
    with (
        serving("--database", url) as (_, address),
        httpx2.Client(base_url=address, trust_env=False) as client,
    ):
        headers = {"X-Plugin-Key": key}
        slug = client.post("/api/v1/faq", json=publication(), headers=headers).json()["slug"]
        read = client.get(f"/api/v1/faq/{slug}")
        key_id = faqsvc("keys", "list", "--database", url).stdout.split()[0]
        revoked = faqsvc("keys", "revoke", key_id, "--database", url)
        refused = client.post("/api/v1/faq", json=publication(), headers=headers)

    assert (read.status_code, revoked.exit_code, refused.status_code) == (200, 0, 403)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
def test_serve_ends_quietly_when_it_is_told_to(url: str, number: signal.Signals, status: int) -> None:
    with serving("--database", url) as (process, address):
        assert httpx2.get(f"{address}/healthz", trust_env=False).status_code == 200
        process.send_signal(number)

        assert process.wait(10) == status


@contextmanager
def uploading(address: str, key: str) -> Iterator[socket.socket]:
    """Send half of a publication, and nothing more."""
    url = httpx2.URL(address)
    head = f"POST /api/v1/faq HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {key}\r\n"
    head += "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # now the body is waited for
        yield connection


def test_a_second_ctrl_c_ends_a_slow_upload_without_a_traceback(url: str) -> None:
    key = faqsvc("keys", "create", "--database", url).stdout.strip()
    with serving("--database", url) as (process, address), uploading(address, key) as connection:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two at the same time are one
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=2)
        answer = connection.recv(65536)

    assert (process.returncode, output, errors) == (0, "", "")
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b'"detail": "the service is ending; try again"' in answer


def test_a_slow_upload_has_a_moment_when_the_service_ends(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "GRACE", 0.2)
    storage = open_storage(url)
    with ExitStack() as stack:
        with running(create_app(storage)) as address:
            connection = stack.enter_context(uploading(address, storage.keys.create()))
            ended = time.monotonic()
        took = time.monotonic() - ended
        answer = connection.recv(65536)

    assert 0.1 < took < 5
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")


def test_serve_says_which_address_is_taken(url: str) -> None:
    with listen() as taken:
        port = taken.getsockname()[1]
        result = faqsvc("serve", "--database", url, "--port", str(port))

    assert is_one_line(result, naming=f"127.0.0.1:{port}: Address already in use")


def test_serve_says_which_host_is_none(url: str) -> None:
    result = faqsvc("serve", "--database", url, "--host", "no.such.host.invalid")

    assert is_one_line(result, naming="no.such.host.invalid:8700")


def test_create_prints_the_key_alone_and_once(url: str) -> None:
    result = faqsvc("keys", "create", "--name", "deploy", "--database", url)

    assert re.fullmatch(r"fs_live_[A-Za-z0-9_-]{43}\n", result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, which takes nothing")
def test_a_key_that_cannot_be_printed_is_revoked_again(url: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "faqsvc_embed.cli", "keys", "create", "--database", url]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            command,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    [line] = faqsvc("keys", "list", "--database", url).stdout.splitlines()

    assert ran.returncode == 1
    assert ran.stderr == ("Error: cannot print the key, which is revoked again: No space left on device\n")
    assert "  revoked " in line


def test_list_prints_one_line_a_key_with_at_most_four_characters_of_it(url: str) -> None:
    keys = [
        faqsvc("keys", "create", "--name", f"Nr. {n}", "--database", url).stdout.strip() for n in range(3)
    ]
    lines = faqsvc("keys", "list", "--database", url).stdout.splitlines()
    faqsvc("keys", "revoke", lines[0].split()[0], "--database", url)
    after = faqsvc("keys", "list", "--database", url).stdout.splitlines()

    time = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    for number, (key, line) in enumerate(zip(keys, lines, strict=True)):
        ending = re.escape(key[-4:])
        assert re.fullmatch(rf"[0-9a-f]{{8}}  \.\.\.{ending}  created {time}  never used  Nr. {number}", line)
        assert not any(key[8:][i : i + 5] in line for i in range(len(key) - 12))
    assert re.fullmatch(re.escape(lines[0]).replace(r"\ \ Nr", rf"  revoked {time}\ \ Nr"), after[0])
    assert after[1:] == lines[1:]


def test_list_of_a_service_without_keys_is_empty(url: str) -> None:
    result = faqsvc("keys", "list", "--database", url)

    assert (result.exit_code, result.output) == (0, "")


def test_the_environment_may_name_the_database(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faqsvc("keys", "create", "--name", "here", "--database", url)
    monkeypatch.setenv("FAQSVC_DATABASE_URL", url)

    assert "here" in faqsvc("keys", "list").stdout


def test_a_key_that_is_not_there_is_named(url: str) -> None:
    assert is_one_line(faqsvc("keys", "revoke", "12345678", "--database", url), naming="'12345678'")


@pytest.mark.parametrize(
    "command", [["serve"], ["keys", "create"], ["keys", "list"], ["keys", "revoke", "x"]]
)
@pytest.mark.parametrize("bad", ["mysql://db/faqs", "nonsense", "sqlite:////no/such/directory/faqsvc.db"])
def test_a_database_that_cannot_be_is_named(command: list[str], bad: str) -> None:
    assert is_one_line(faqsvc(*command, "--database", bad), naming=bad.removeprefix("sqlite:///"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--port", "x"],
        ["serve", "--port", "70000"],
        ["serve", "now"],
        ["keys", "make"],
        ["keys", "revoke"],
        ["nothing"],
    ],
)
def test_a_mistake_of_usage_is_told_as_one(arguments: list[str]) -> None:
    result = faqsvc(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(["serve"], "uvicorn"), (["serve"], "starlette"), (["keys", "create"], "starlette")],
)
def test_an_extra_that_is_missing_is_named_with_how_to_install_it(
    url: str, arguments: list[str], missing: str
) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from faqsvc_embed.cli import main; main()"
    command = [sys.executable, "-W", "error", "-c", code, *arguments, "--database", url]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"Error: {missing} is not installed: pip install 'faqsvc-embed[service]'\n"
