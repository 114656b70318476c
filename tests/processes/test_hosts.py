"""Every host under real servers gives the same complete page, cold, warm and after its main thread."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from jinja2 import Environment

import faqsvc_embed
from faqsvc_embed import FAQ
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.parsed import page_of, summary

pytestmark = pytest.mark.system

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent
A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Who?", "We."), title="Legal"))
DJANGO: Final = "tests.processes.django_site"
HOSTS: Final = "tests.processes.hosts"
DJANGO_PATHS: Final = ("async/", "", "jinja/", "streamed/", "")
WSGI: Final = "gunicorn -w 2 -k gthread --threads 4 -b 127.0.0.1:{port}"
ASGI: Final = "uvicorn --port {port} --log-level warning"
SERVERS: Final = {
    "Django, gunicorn": f"{WSGI} {DJANGO}:wsgi",
    "Django, uvicorn": f"{ASGI} --lifespan off {DJANGO}:asgi",
    "Bottle, gunicorn": f"{WSGI} {HOSTS}:bottle()",
    "Litestar, granian with uvloop": (
        f"granian --interface asgi --loop uvloop --port {{port}} --log-level error --factory {HOSTS}:litestar"
    ),
    "Quart, hypercorn": f"hypercorn -b 127.0.0.1:{{port}} {HOSTS}:quart()",
    "Sanic, uvicorn": f"{ASGI} --factory {HOSTS}:sanic_asgi",
    "Sanic": f"python -m {HOSTS} sanic {{port}}",
    "aiohttp": f"python -m {HOSTS} aiohttp {{port}}",
}


def get(url: str, process: subprocess.Popen[bytes]) -> bytes:
    """Return a page, as soon as the server responds."""
    deadline = time.monotonic() + 180
    while True:
        assert process.poll() is None, "the server ended by itself"
        assert time.monotonic() < deadline, "the server does not respond"
        with (
            suppress(ConnectionError, urllib.error.URLError),
            urllib.request.urlopen(url, timeout=60) as page,
        ):
            return bytes(page.read())
        time.sleep(0.1)


@pytest.mark.parametrize("name", SERVERS)
def test_every_view_gives_the_page_of_plain_jinja(name: str, faulty: FaultyServer, tmp_path: Path) -> None:
    command, *arguments = SERVERS[name].split()
    program = shutil.which(command, path=str(Path(sys.executable).parent))
    for needed in (name.split(",")[0].lower(), "uvloop" if "uvloop" in name else "jinja2"):
        pytest.importorskip(needed)
    if program is None:
        pytest.skip(f"{command} is not installed")
    for faq in (A, B):
        faulty.serve(faq.to_dict())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"PYTHONPATH": str(ROOT), "FAQSVC_BASE_URL": faulty.base_url, "HOME": str(tmp_path)}
    paths = DJANGO_PATHS if "Django" in name else ("", "")
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *(argument.format(port=port) for argument in arguments)],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            pages = [get(f"http://127.0.0.1:{port}/{path}", process) for path in paths]
        finally:
            process.terminate()
            process.wait(60)
    output = (tmp_path / "log").read_text(errors="replace")
    assert "Traceback" not in output, output
    plain = Environment(autoescape=True)
    install(plain, fake_embed({"pricing": A, "legal": B}))
    expected = plain.from_string('<!doctype html>{{ faq("pricing") }}{{ faq("legal") }}').render()
    assert summary(expected) == page_of(A, B)
    for path, page in zip(paths, pages, strict=True):
        if path == "streamed/":
            assert summary(page) == page_of(A, B)
        else:
            assert page.decode() == expected


PROGRAM: Final = """
import asyncio, sys, threading
from faqsvc_embed import FAQEmbed

def serve():
    threading.main_thread().join()
    try:
        threading.Thread(target=int).start()
    except RuntimeError:  # Python 3.12.0 and 3.12.1 start no thread then
        print("no threads")
        return
    with FAQEmbed(sys.argv[1], store=f"file:{sys.argv[2]}", wait=30, timeout=30) as embed:
        asyncio.run(embed.aprefetch("pricing")) if sys.argv[3] else embed.prefetch("pricing")
        state = asyncio.run(embed.ause_faq("pricing")) if sys.argv[3] else embed.use_faq("pricing")
        html = asyncio.run(embed.arender("pricing")) if sys.argv[3] else embed.render("pricing")
        print(embed.get_faq("pricing") is state.data, "faqsvc" in html)

threading.Thread(target=serve).start()
"""


@pytest.mark.parametrize("is_async", ["", "async"], ids=["sync", "async"])
def test_faqs_are_fetched_after_the_main_thread_has_ended(
    faulty: FaultyServer, tmp_path: Path, is_async: str
) -> None:
    faulty.serve(samples.pricing())
    url = faulty.base_url.replace("127.0.0.1", "localhost")  # a name, which is looked up in a thread
    command = [sys.executable, "-c", PROGRAM, url, str(tmp_path), is_async]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stdout == "no threads\n":
        pytest.skip("this Python starts no thread after the main thread has ended")
    assert (done.stdout, done.stderr) == ("True True\n", "")
