"""The desk behind proxies: hosts, ports and headers as they write them, and what strangers may send."""

import time

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.trusted_proxy import mark
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import Editor


def posted(storage: Storage, base_url: str | None, **headers: str) -> int:
    """Return the status of a form that signs in."""
    link = storage.sign_ins.create_link(storage.people.add("Mia", role="admin"))
    with TestClient(create_app(storage, base_url=base_url), follow_redirects=False) as client:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post("/desk/sign-in", data={"link": link}, headers=sent).status_code


@pytest.mark.parametrize(
    ("base_url", "origin"),
    [
        (None, "http://testserver"),
        (None, "https://testserver:443"),
        ("https://faq.example:443", "https://faq.example"),
        ("https://faq.example", "https://FAQ.example:443"),
        ("https://faq.example:8443/docs", "https://faq.example:8443"),
    ],
)
def test_a_form_of_the_own_address_is_accepted_however_it_is_written(
    storage: Storage, base_url: str | None, origin: str
) -> None:
    assert posted(storage, base_url, origin=origin) == 303


def test_the_origin_may_be_hidden_if_the_browser_says_that_it_is_the_same(storage: Storage) -> None:
    assert posted(storage, None, origin="null", sec_fetch_site="same-origin") == 303
    assert posted(storage, None, origin="null", sec_fetch_site="cross-site") == 403
    assert posted(storage, None, origin="null") == 403


def test_with_a_public_address_the_host_of_the_request_is_no_origin(storage: Storage) -> None:
    evil = {"host": "evil.example", "origin": "http://evil.example"}
    assert posted(storage, "https://faq.example", **evil) == 403


def test_a_long_cookie_header_costs_nothing(stranger: Editor) -> None:
    started = time.process_time()
    for cookie in ('faqsvc_desk="' + '\\"' * 29_000, "a=b;" * 15_000, "=" * 60_000):
        assert stranger.client.get("/desk/sign-in", headers={"cookie": cookie}).status_code == 200
        assert stranger.client.get("/desk", headers={"cookie": cookie}).status_code == 200
    assert time.process_time() - started < 1


def test_a_proxy_may_name_a_person_in_utf_8(storage: Storage) -> None:
    storage.people.add("Jürgen", email="jürgen@heron.example", role="editor")
    app = create_app(storage, sign_in_header="X-Forwarded-Email")

    async def behind_proxy(scope: Scope, receive: Receive, send: Send) -> None:
        mark(scope)
        await app(scope, receive, send)

    with TestClient(behind_proxy) as client:
        email = "jürgen@heron.example".encode()
        assert client.get("/desk", headers={b"X-Forwarded-Email": email}).status_code == 200


def test_a_file_under_the_address_of_another_version_is_not_kept(stranger: Editor) -> None:
    page = stranger.client.get("/desk/sign-in").text
    path = page.partition('href="/desk/static/')[2].partition('"')[0]
    current = stranger.client.get(f"/desk/static/{path}")
    other = stranger.client.get(f"/desk/static/0123456789ab/{path.partition('/')[2]}")

    assert "immutable" in current.headers["cache-control"]
    assert (other.status_code, other.headers["cache-control"]) == (200, "no-store")
