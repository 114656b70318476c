"""People whom a real nginx signs in at the desk, with a stand-in for oauth2-proxy behind it."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from faqsvc_embed.service.storage import open_storage
from tests.operations.commands import serving
from tests.support.proxies import NAME, Front, nginx

pytestmark = pytest.mark.system

MIA, EVE = "mia@example.com", "eve@example.com"


class SignInProxy(BaseHTTPRequestHandler):
    """Answers as oauth2-proxy does: 202 with the address of who is signed in, here by a cookie, or 401."""

    def do_GET(self) -> None:
        found = re.search(r"_oauth2_proxy=([^;]+)", self.headers.get("Cookie", ""))
        self.send_response(202 if found else 401)
        if found:
            self.send_header("X-Auth-Request-Email", found[1])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def front() -> Iterator[Front]:
    place = Path(f"/tmp/faqsvc-sign-in-{os.getpid()}")  # a path of a Unix socket has about 100 characters
    place.mkdir()
    url, unix_socket = f"sqlite:///{place}/faqs.db", place / "http.sock"
    storage = open_storage(url)
    storage.people.add("Mia", email=MIA, role="publisher")
    sign_in = ThreadingHTTPServer(("127.0.0.1", 0), SignInProxy)
    threading.Thread(target=sign_in.serve_forever, daemon=True).start()
    options = ["--database", url, "--uds", str(unix_socket), "--sign-in-header", "X-Forwarded-Email"]
    try:
        with (
            serving(*options),
            nginx(place, unix_socket, sign_in=f"127.0.0.1:{sign_in.server_port}") as front,
        ):
            yield front
    finally:
        sign_in.shutdown()
        sign_in.server_close()
        storage.close()
        shutil.rmtree(place, ignore_errors=True)


def desk(
    front: Front, method: str = "GET", path: str = "", *, who: str = "", cookie: str = "", **options: Any
) -> Any:
    """Send a request to the desk, signed in at the proxy as `who`."""
    headers = {"Origin": f"https://{NAME}", **options.pop("headers", {})}
    cookies = "; ".join(filter(None, (who and f"_oauth2_proxy={who}", cookie)))
    headers |= {"Cookie": cookies} if cookies else {}
    return front.request(method, f"/desk{path}", headers=headers, **options)


def token_of(page: Any) -> str:
    [token] = set(re.findall(r'name="token" value="(\w+)"', page.text))
    return str(token)


def test_who_is_signed_in_at_the_proxy_is_signed_in_at_the_desk(front: Front) -> None:
    page = desk(front, path="/you", who=MIA.upper())
    assert page.status_code == 200
    assert "Publisher" in page.text
    assert "sign-out" not in page.text
    assert "Secure" in page.headers["set-cookie"]
    cookie = page.headers["set-cookie"].partition(";")[0]
    of_another_browser = token_of(desk(front, path="/new", who=MIA))
    new = desk(front, path="/new", who=MIA, cookie=cookie)
    assert "set-cookie" not in new.headers

    fields = {"slug": "tea", "website_name": "Tea", "website_url": "https://tea.example", "lang": "en"}
    fields |= {"question": "Is it hot?", "answer": "Yes.", "action": "publish"}
    for forged in (of_another_browser, ""):
        again = desk(front, "POST", "/new", who=MIA, cookie=cookie, data={**fields, "token": forged})
        assert "Is it hot?" in again.text  # what was typed is kept, and not saved
        assert front.request("GET", "/api/v1/faq/tea").status_code == 404
    data = {**fields, "token": token_of(new)}
    assert desk(front, "POST", "/new", who=MIA, cookie=cookie, data=data).status_code == 303
    assert front.request("GET", "/api/v1/faq/tea").status_code == 200
    assert "by Mia" in desk(front, path="/faqs/tea/history", who=MIA).text


def test_who_is_not_signed_in_is_sent_to_the_proxy(front: Front) -> None:
    for headers in ({}, {"X-Forwarded-Email": MIA}):
        page = desk(front, path="/new", headers=headers)
        assert page.status_code == 302
        assert page.headers["location"].endswith(f"/oauth2/sign_in?rd=https://{NAME}/desk/new")


def test_an_address_that_no_admin_has_added_gets_a_page_that_says_so(front: Front) -> None:
    for headers in ({}, {"X-Forwarded-Email": MIA}):
        page = desk(front, who=EVE, headers=headers)
        assert page.status_code == 403
        assert page.headers["content-type"].startswith("text/html")
        assert EVE in page.text
        assert "set-cookie" not in page.headers


def test_only_a_trusted_proxy_is_believed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/faqs.db"
    storage = open_storage(url)
    storage.people.add("Mia", email=MIA, role="admin")
    storage.close()
    for trusted, path in (([], "/desk/sign-in"), (["--trusted-proxy", "127.0.0.0/8"], "/desk")):
        options = ["--database", url, "--port", "0", "--sign-in-header", "X-Forwarded-Email", *trusted]
        with (
            serving(*options) as base,
            httpx2.Client(base_url=base, trust_env=False, follow_redirects=True, timeout=60) as client,
        ):
            assert client.get("/desk", headers={"X-Forwarded-Email": MIA}).url.path == path
            twice = [("X-Forwarded-Email", MIA), ("X-Forwarded-Email", EVE)]
            assert client.get("/desk", headers=twice).status_code == (403 if trusted else 200)
