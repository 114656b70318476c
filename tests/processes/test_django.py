"""Django under real servers: every kind of view gives the same complete page, cold and warm."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

import faqsvc_embed
from faqsvc_embed import FAQ
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.testing.chaos import FaultyServer
from tests.support import samples
from tests.support.parsed import page_of, summary

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent
A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Who?", "We."), title="Legal"))
SERVERS: Final = [
    "gunicorn -w 2 -k gthread --threads 4 -b 127.0.0.1:{port} tests.processes.django_site:wsgi",
    "uvicorn --port {port} --lifespan off --log-level warning tests.processes.django_site:asgi",
    "hypercorn -b 127.0.0.1:{port} tests.processes.django_site:asgi",
    "granian --interface asginl --port {port} --log-level error tests.processes.django_site:asgi",
]

pytestmark = pytest.mark.system


def get(url: str) -> bytes:
    """Return a page, as soon as the server responds."""
    deadline = time.monotonic() + 30
    while True:
        assert time.monotonic() < deadline, "the server does not respond"
        with suppress(OSError), urllib.request.urlopen(url, timeout=20) as response:
            return bytes(response.read())
        time.sleep(0.1)


@pytest.mark.parametrize("command", SERVERS, ids=lambda command: command.split()[0])
def test_every_view_gives_the_same_page(command: str, faulty: FaultyServer, tmp_path: Path) -> None:  # J1
    name, *arguments = command.split()
    program = shutil.which(name, path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f"{name} is not installed")
    for faq in (A, B):
        faulty.serve(faq.to_dict())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"PYTHONPATH": str(ROOT), "FAQSVC_BASE_URL": faulty.base_url, "HOME": str(tmp_path)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *(argument.format(port=port) for argument in arguments)],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            pages = [get(f"http://127.0.0.1:{port}/{path}") for path in ("async/", "", "async/", "")]
        finally:
            process.terminate()
            process.wait(10)
    assert len(set(pages)) == 1
    assert summary(pages[0]) == page_of(A, B)
    assert str(fake_embed({"pricing": A}).render("pricing", schema=False)).encode() in pages[0]
