"""`faqsvc preview`: a file as it looks on a page, while it is being written."""

import http.client
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from faqsvc_embed.cli.preview import FilePreview, is_file_name
from tests.cli.support import command, environment, failure, faqsvc
from tests.folder.support import PREISE, PRICING, folder
from tests.support.parsed import summary, text_of


@contextmanager
def preview(path: Path) -> Iterator[str]:
    """Run the command and yield the address that it prints; it may print no error."""
    process = subprocess.Popen(
        command("preview", str(path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors.strip()) == (0, "")


def get(address: str, path: str = "/", host: str | None = None) -> tuple[int, str]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request("GET", path, headers={"Host": host} if host else {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_the_page_shows_the_file_as_it_is_now(tmp_path: Path) -> None:
    path = folder(tmp_path, pricing__de__md=PREISE) / "pricing.de.md"
    shown = FilePreview(path)
    first, version = shown.page(), shown.version()
    assert summary(first).faqs == [["Was kostet es?", "Kann ich kündigen?"]]
    assert text_of(first, "html[lang=de] h2") == ["Preise"]
    path.write_text(PREISE.replace("Preise", "Tarife & <Preise>"))
    assert shown.version() != version
    assert text_of(shown.page(), "h2") == ["Tarife & <Preise>"]


@pytest.mark.parametrize("content", ["", "## Was?\n", b"\xff", None])
def test_the_page_shows_what_is_wrong_with_the_file(tmp_path: Path, content: str | bytes | None) -> None:
    path = folder(tmp_path, a__md=PRICING) / "a.md"
    shown = FilePreview(path)
    if content is None:
        path.unlink()
    else:
        folder(tmp_path, a__md=content)
    (problem,) = text_of(shown.page(), ".faqsvc-problem")
    assert str(path) in problem
    assert summary(shown.page()).faqs == []
    assert shown.version()


@pytest.mark.parametrize(
    ("target", "is_file"),
    [
        ("pricing", False),
        ("요금", False),
        ("v1.2", False),
        ("pricing.md", True),
        ("a.yaml", True),
        ("./pricing", True),
    ],
)
def test_an_argument_is_recognized_as_file_or_slug(target: str, is_file: bool) -> None:
    assert is_file_name(target) is is_file


def test_a_file_that_does_not_exist_is_a_failure(tmp_path: Path) -> None:
    assert "nowhere.md" in failure(faqsvc("preview", str(tmp_path / "nowhere.md")))


def test_a_slug_is_a_mistake_of_usage() -> None:
    assert faqsvc("preview", "pricing").exit_code == 2


@pytest.mark.system
def test_the_address_is_printed_and_serves_this_machine_only(tmp_path: Path) -> None:
    path = folder(tmp_path, pricing__md=PRICING) / "pricing.md"
    with preview(path) as address:
        assert address.startswith("http://127.0.0.1:")
        status, page = get(address)
        assert (status, len(summary(page).faqs)) == (200, 1)
        assert get(address, "/version")[0] == 200
        assert get(address, "/../../etc/passwd")[0] == 404
        assert get(address, host="evil.example")[0] == 404
        assert get(address, host=f"localhost:{urlsplit(address).port}")[0] == 200


@pytest.mark.system
def test_a_browser_that_resets_its_connection_is_no_error(tmp_path: Path) -> None:
    with preview(folder(tmp_path, pricing__md=PRICING) / "pricing.md") as address:
        parts = urlsplit(address)
        for sent in (b"", b"GET / HTTP/1.1\r\n"):
            with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
                connection.sendall(sent)
                assert get(address)[0] == 200  # the server has taken the connection before this one
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            assert get(address)[0] == 200


@pytest.mark.system
def test_the_page_reloads_when_the_file_is_saved(tmp_path: Path, page: Page) -> None:
    path = folder(tmp_path, pricing__md=PRICING) / "pricing.md"
    with preview(path) as address:
        page.goto(address)
        page.get_by_text("What does it cost?").click()
        expect(page.get_by_text("for 10 users")).to_be_visible()
        path.with_suffix(".new").write_text(PRICING.replace("10 users", "20 users"))
        os.replace(path.with_suffix(".new"), path)
        expect(page.get_by_text("for 20 users")).to_be_visible()  # what was open is open again
        path.write_text("## What does it cost?\n")
        expect(page.get_by_text(f"{path}:1")).to_be_visible()
