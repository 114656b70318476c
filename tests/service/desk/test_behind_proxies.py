"""The desk behind proxies: hosts, ports and headers as they write them, and what strangers may send."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.requests import mark_as_from_proxy
from faqsvc_embed.service.storage import Storage, open_storage
from tests.service.bodies import PATH, publication
from tests.service.desk.conftest import Editor
from tests.support.growth import grows_linearly

ADDED: Final = {
    "proxies": {
        "X-Forwarded-For": "203.0.113.9, 10.0.0.1",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "faq.example",
        "X-Forwarded-Port": "443",
        "X-Forwarded-Server": "faq.example",
        "X-Forwarded-User": "mia",
        "X-Real-IP": "203.0.113.9",
        "Forwarded": 'for="[2001:db8::1]:4711";proto=https;host=faq.example',
        "Via": "2.0 a, 1.1 Caddy",
        "Connection": "close",
        "Accept-Encoding": "",
        "Authorization": "Basic bWlhOnNlY3JldA==",  # a password in front
        "Cookie": '_ga=GA1.2; theme="a\\"b"; empty=; =nameless; {"a":1}',  # of another application
    },
    "no-referrer": {"Origin": "null", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"},
    "same-origin": {
        "Referrer-Policy": "same-origin",
        "Sec-Fetch-Site": "same-origin",
        "Accept-Encoding": "gzip",
    },
}
"""The headers of requests that proxies add, and what the headers of hardening guides make of a browser's."""


def tour(file: Path, headers: dict[str, str]) -> Iterator[str]:
    """Request every route, and send every form of the desk; yield each address and its status."""
    storage = open_storage(f"sqlite:///{file}")
    mia = storage.people.add("Mia", role="admin")
    key = storage.keys.create("ci")
    own = {**headers, "X-Plugin-Key": key}
    app = create_app(storage, metrics=True)
    with TestClient(app, follow_redirects=False) as client:
        client.put(f"{PATH}/pricing", json=publication(lang="en"), headers=own).raise_for_status()
        form = {"origin": "http://testserver"} | {name.lower(): value for name, value in headers.items()}
        signed_in = client.post(
            "/desk/sign-in", data={"link": storage.sign_ins.create_link(mia)}, headers=form
        )
        cookie = "; ".join(
            [signed_in.headers["set-cookie"].split(";")[0], *filter(None, [headers.get("Cookie")])]
        )
        client.cookies.clear()
        page = client.get("/desk/new", headers={**headers, "Cookie": cookie})
        token = re.findall(r'name="token" value="([^"]+)"', page.text)[0]
        names = {"slug": "pricing", "number": "1", "person": mia.id, "key": storage.keys.list()[0].id}
        for route in app.routes:
            assert isinstance(route, Route)
            path = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: names.get(found[1], "x"), route.path)
            if path == "/api/v1/events":
                path += "?slug=pricing"
            method = "HEAD" if path.startswith("/api/v1/events") else "GET"
            with_key = {**own, "Cookie": cookie}
            yield f"{method} {path} {client.request(method, path, headers=with_key).status_code}"
            if path.startswith("/desk") and path != "/desk/sign-out":
                sent = {**form, "cookie": cookie}
                response = client.post(path, data={"token": token, "part": "preview"}, headers=sent)
                yield f"POST {path} {response.status_code}"
        response = client.post("/desk/sign-out", data={"token": token}, headers={**form, "cookie": cookie})
        yield f"sign out {response.status_code}"
    storage.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The tour without a proxy."""
    return list(tour(tmp_path_factory.mktemp("plain") / "faqs.db", {}))


@pytest.mark.system
@pytest.mark.parametrize("headers", ADDED.values(), ids=ADDED)
def test_every_page_route_and_form_is_the_same_with_the_headers_that_proxies_add(
    tmp_path: Path, plain: list[str], headers: dict[str, str]
) -> None:
    ids = re.compile(r"[0-9a-f]{8}")

    behind = [ids.sub("ID", line) for line in tour(tmp_path / "faqs.db", headers)]
    assert behind == [ids.sub("ID", line) for line in plain]
    assert len(plain) > 40
    assert not [line for line in plain if re.search(r" 5\d\d$", line)]


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


@pytest.mark.parametrize("written", ['faqsvc_desk="{}', "a={}", "{}"])
@pytest.mark.parametrize("piece", ['\\"', "b;a=", "="])
def test_a_cookie_header_costs_no_more_than_its_length(stranger: Editor, written: str, piece: str) -> None:
    def visit(cookie: str) -> None:
        assert stranger.client.get("/desk", headers={"cookie": cookie}).status_code == 200

    assert grows_linearly(visit, lambda count: written.format(piece * count), 2_000)


def test_the_error_for_a_wrong_sign_in_header_names_its_option(storage: Storage) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^sign_in_header is 'X Email': expected the name of a header"
    ):
        create_app(storage, sign_in_header="X Email")


def test_a_proxy_may_name_a_person_in_utf_8(storage: Storage) -> None:
    storage.people.add("Jürgen", email="jürgen@heron.example", role="editor")
    app = create_app(storage, sign_in_header="X-Forwarded-Email")

    async def behind_proxy(scope: Scope, receive: Receive, send: Send) -> None:
        mark_as_from_proxy(scope)
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
