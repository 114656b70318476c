"""The service behind a real nginx, and a real Caddy, with the configurations of the documentation."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx2
import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service.storage import open_storage
from tests.operations.commands import serving
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.proxies import NAME, Front, caddy, nginx
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system


Proxy = Callable[[Path, Path], AbstractContextManager[Front]]


@pytest.fixture(scope="module", params=[nginx, caddy])
def proxy(request: pytest.FixtureRequest) -> Proxy:
    run: Proxy = request.param
    return run


@pytest.fixture(scope="module")
def place(proxy: Proxy) -> Iterator[Path]:
    path = Path(f"/tmp/faqsvc-proxy-{os.getpid()}")  # the path of a Unix socket has about 100 characters
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


class Site:
    """The service, a proxy in front of it, and a client of both."""

    def __init__(self, place: Path, front: Front, key: str) -> None:
        self.request = front.request
        self.port = front.port
        self.context = front.context
        self.private_port = front.private_port
        self.key = key
        self._log = place / "service.log"

    def has_logged(self, words: str) -> bool:
        """Return whether a line of the access log has these words."""
        return words in self._log.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(place: Path, proxy: Proxy) -> Iterator[Site]:
    url, unix_socket = f"sqlite:///{place}/faqs.db", place / "http.sock"
    storage = open_storage(url)
    put(storage, FAQ.from_dict(samples.pricing()))
    key = storage.keys.create()
    storage.close()
    arguments = ["--database", url, "--uds", str(unix_socket), "--access-log", "--metrics"]
    with (
        (place / "service.log").open("w") as log,
        serving(*arguments, log=log),
        proxy(place, unix_socket) as front,
    ):
        yield Site(place, front, key)


def test_scheme_and_host_are_those_of_the_visitor(site: Site) -> None:
    body = {
        "websiteUrl": "https://tea.example",
        "websiteName": "Tea",
        "items": [{"question": "Q?", "answer": "A."}],
    }
    published = site.request("POST", API_PATH, json=body, headers={KEY_HEADER: site.key})
    assert published.status_code in (200, 201)
    assert published.json()["faqUrl"].startswith(f"https://{NAME}/faq/")


def test_the_address_is_that_of_the_visitor_whatever_its_headers_say(site: Site) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "gopher", "Forwarded": "for=1.1.1.1"}
    site.request("GET", f"{API_PATH}/other", headers=headers)
    wait_until(lambda: site.has_logged(f" 127.0.0.1 GET {API_PATH}/other 404 "))


def test_a_record_a_304_and_a_head_pass_unchanged(site: Site) -> None:
    first = site.request("GET", f"{API_PATH}/pricing")
    etag = first.headers["etag"]
    assert FAQ.from_json(first.content).slug == "pricing"
    assert site.request("GET", f"{API_PATH}/pricing", headers={"If-None-Match": etag}).status_code == 304
    assert site.request("HEAD", f"{API_PATH}/pricing").headers["etag"] == etag


def test_text_is_compressed_and_its_entity_tag_still_matches(site: Site) -> None:
    large = {
        "websiteUrl": "https://tea.example",
        "websiteName": "Tea",
        "items": [{"question": f"Is {n} a number?", "answer": "It is one of many." * 9} for n in range(50)],
    }
    path, key = f"{API_PATH}/large", {KEY_HEADER: site.key}
    site.request("PUT", path, json=large, headers=key)
    for address in (path, "/faq/large", "/faq/large.md"):
        response = site.request("GET", address, headers={"Accept-Encoding": "gzip"})
        assert response.headers["content-encoding"] == "gzip"
        assert "max-age" in response.headers["strict-transport-security"]
        same = {"If-None-Match": response.headers["etag"], "Accept-Encoding": "gzip"}
        assert site.request("GET", address, headers=same).status_code == 304
    tag = site.request("GET", path, headers={"Accept-Encoding": "gzip"}).headers["etag"]
    written = site.request("PUT", path, json={**large, "title": "New"}, headers={**key, "If-Match": tag})
    assert written.status_code == 200


def test_a_slug_with_percent_encoded_characters_reaches_the_service(site: Site) -> None:
    response = site.request("GET", f"{API_PATH}/a%2Fb%20%C3%A9")
    assert response.status_code in (400, 404)
    wait_until(lambda: site.has_logged(f" GET {API_PATH}/a%2Fb%20%C3%A9 "))


def test_the_metrics_are_on_a_private_port_only(site: Site) -> None:
    assert site.request("GET", "/metrics").status_code == 404
    private = f"http://127.0.0.1:{site.private_port}"
    assert "faqsvc_http_requests_total" in httpx2.get(f"{private}/metrics", trust_env=False, timeout=60).text
    assert httpx2.get(f"{private}/livez", trust_env=False, timeout=60).status_code == 404


def test_a_body_that_is_too_large_is_refused(site: Site) -> None:
    body = b"x" * 3_000_000
    headers = {KEY_HEADER: site.key, "Content-Type": "application/json"}
    for _ in range(10):
        assert site.request("POST", API_PATH, content=body, headers=headers).status_code == 413


def test_an_event_stream_is_not_buffered(site: Site) -> None:
    with (
        socket.create_connection(("127.0.0.1", site.port), timeout=60) as plain,
        site.context.wrap_socket(plain, server_hostname=NAME) as connection,
    ):
        head = f"GET /api/v1/events?slug=followed HTTP/1.1\r\nHost: {NAME}\r\nAccept-Encoding: gzip\r\n\r\n"
        connection.sendall(head.encode())
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
