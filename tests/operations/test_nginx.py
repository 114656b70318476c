"""The service behind a real nginx with the configuration of the documentation."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service.storage import open_storage
from tests.support import samples
from tests.support.nginx import NAME, nginx

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    path = Path(f"/tmp/faqsvc-nginx-{os.getpid()}")  # the path of a Unix socket has about 100 characters
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


class Site:
    """The service, nginx in front of it, and a client of both."""

    def __init__(self, place: Path, port: int, authority: Path, key: str) -> None:
        self._log = place / "service.log"
        self.key = key
        self.port = port
        self.context = ssl.create_default_context(cafile=str(authority))

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request to `https://faq.example.com`."""
        headers = {"Host": NAME, **options.pop("headers", {})}
        with httpx2.Client(verify=self.context, trust_env=False) as client:
            return client.request(
                method,
                f"https://127.0.0.1:{self.port}{path}",
                headers=headers,
                extensions={"sni_hostname": NAME},
                **options,
            )

    def log(self, request_id: str) -> dict[str, Any]:
        """Return the line of the access log for a request."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            for line in self._log.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if entry.get("request_id") == request_id:
                    http: dict[str, Any] = entry["http"]
                    return http
            time.sleep(0.02)
        raise AssertionError(f"no line for {request_id}")


@pytest.fixture(scope="module")
def site(place: Path) -> Iterator[Site]:
    url, unix_socket = f"sqlite:///{place}/faqs.db", place / "http.sock"
    storage = open_storage(url)
    storage.put(FAQ.from_dict(samples.pricing()))
    key = storage.keys.create()
    storage.close()
    arguments = ["--database", url, "--uds", str(unix_socket), "--access-log", "--metrics"]
    command = [sys.executable, "-m", "faqsvc_embed", "serve", *arguments, "--log-format", "json"]
    with (place / "service.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            assert "listens" in process.stdout.readline()
            with nginx(place, unix_socket) as (port, authority):
                yield Site(place, port, authority, key)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=15)


def test_scheme_and_host_are_those_of_the_visitor(site: Site) -> None:  # O3
    body = {
        "websiteUrl": "https://tea.example",
        "websiteName": "Tea",
        "items": [{"question": "Q?", "answer": "A."}],
    }
    published = site.request("POST", API_PATH, json=body, headers={KEY_HEADER: site.key})
    assert published.status_code in (200, 201)
    assert published.json()["faqUrl"].startswith(f"https://{NAME}/faq/")


def test_the_address_is_that_of_the_visitor_whatever_its_headers_say(site: Site) -> None:  # O3
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "gopher", "Forwarded": "for=1.1.1.1"}
    response = site.request("GET", f"{API_PATH}/other", headers=headers)
    entry = site.log(response.headers["x-request-id"])
    assert (entry["client"], entry["status"]) == ("127.0.0.1", 404)


def test_a_record_a_304_and_a_head_pass_unchanged(site: Site) -> None:
    first = site.request("GET", f"{API_PATH}/pricing")
    etag = first.headers["etag"]
    assert FAQ.from_json(first.content).slug == "pricing"
    assert site.request("GET", f"{API_PATH}/pricing", headers={"If-None-Match": etag}).status_code == 304
    assert site.request("HEAD", f"{API_PATH}/pricing").headers["etag"] == etag


def test_a_slug_with_percent_encoded_characters_reaches_the_service(site: Site) -> None:
    response = site.request("GET", f"{API_PATH}/a%2Fb%20%C3%A9")
    assert response.status_code in (400, 404)
    assert site.log(response.headers["x-request-id"])["path"] == f"{API_PATH}/a%2Fb%20%C3%A9"


def test_the_metrics_are_not_public(site: Site) -> None:
    assert site.request("GET", "/metrics").status_code == 404
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(site._log.parent / "http.sock"))) as client:
        assert "faqsvc_http_requests_total" in client.get("http://localhost/metrics").text


def test_a_body_that_is_too_large_is_refused(site: Site) -> None:
    body = b"x" * 3_000_000
    response = site.request("POST", API_PATH, content=body, headers={KEY_HEADER: site.key})
    assert response.status_code == 413


def test_an_event_stream_is_not_buffered(site: Site) -> None:  # N2
    with (
        socket.create_connection(("127.0.0.1", site.port), timeout=10) as plain,
        site.context.wrap_socket(plain, server_hostname=NAME) as connection,
    ):
        connection.sendall(f"GET /api/v1/events?slug=followed HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        received = b""
        while b"\nid: " not in received:  # before there is an event
            received += connection.recv(4096)
        body = {
            "websiteUrl": "https://tea.example",
            "websiteName": "Tea",
            "items": [{"question": "Q?", "answer": "A."}],
        }
        published = site.request("PUT", f"{API_PATH}/followed", json=body, headers={KEY_HEADER: site.key})
        assert published.status_code == 201
        while b'"slug":"followed"' not in received:
            received += connection.recv(4096)
