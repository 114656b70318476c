"""The command `python -m demo_apps`."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import closing

import httpx2
import pytest

from faqsvc_embed import FAQClient

pytestmark = pytest.mark.system

COMMAND = [sys.executable, "-m", "demo_apps", "--port", "0"]


def test_every_page_is_right_and_nothing_looks_like_a_failure() -> None:
    done = subprocess.run([*COMMAND, "--check"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.split()[0] for line in done.stdout.splitlines()[:-1]} == {"ok"}
    assert {line.split()[1] for line in done.stdout.splitlines()[:-1]} == {
        "Flask",
        "Starlette",
        "FastAPI",
        "Django",
        "Jinja",
        "service",
    }


def test_the_addresses_and_the_key_that_it_prints_work() -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = ""
        while "Ctrl-C" not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        try:
            addresses = re.findall(r"^ .* (http\S+)$", printed, re.MULTILINE)
            with httpx2.Client(follow_redirects=True, timeout=30) as visitor:
                assert {visitor.get(address).status_code for address in addresses} == {200}
            for path in ("/two", "/gallery", "/faq/pricing", "/llms.txt"):
                assert any(address.endswith(path) for address in addresses)
            (key,) = re.findall(r"FAQSVC_API_KEY=(\S+)", printed)
            (service,) = re.findall(r"FAQSVC_BASE_URL=(\S+)", printed)
            with FAQClient(service, key) as client:
                publication = client.publish_faq(
                    website_url="https://example.com", website_name="Example", items=[("Is it free?", "Yes.")]
                )
            assert "Is it free?" in httpx2.get(publication.faq_url, timeout=30).text
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_port_that_is_in_use_is_named() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*COMMAND[:-1], str(port)], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr
