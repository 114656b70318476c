"""What people send who mean no good: nothing of it may hurt, and all of it is answered."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from random import Random
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.service import lingering
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.submission import parse_submission
from tests.service.bodies import PATH, is_problem, publication, publish
from tests.support import strategies

HEAD = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def nearly_good() -> st.SearchStrategy[Any]:
    """Bodies with all fields, most of them what they should be."""
    text = strategies.any_text | strategies.json_values
    item = st.fixed_dictionaries({}, optional={"question": text, "answer": text, "position": text})
    fields = {
        "websiteUrl": st.just("https://www.tea.example") | text,
        "websiteName": st.just("Tea & Sons") | text,
        "items": strategies.items | st.lists(item, max_size=3) | strategies.json_values,
    }
    optional = {"lang": st.just("de") | text, "slug": text, "title": text, "x": strategies.json_values}
    return st.fixed_dictionaries(fields, optional=optional)


def written_bodies() -> st.SearchStrategy[bytes]:
    return (nearly_good() | strategies.json_values).map(lambda body: json.dumps(body).encode()) | st.binary()


def damaged(body: bytes, how: Random) -> Iterator[bytes]:
    """Yield a body, and fifty others: cut off, with bytes put in, or with a piece in it twice."""
    yield body
    for _ in range(25):
        start, end = sorted(how.randrange(len(body) + 1) for _ in range(2))
        yield body[:start]
        yield body[:end] + how.randbytes(2) + body[start:]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(body=written_bodies(), how=st.randoms(use_true_random=False))
def test_ten_thousand_hostile_bodies_are_read_or_refused(body: bytes, how: Random) -> None:  # D4, D12
    for hostile in damaged(body, how):
        try:
            submission = parse_submission(hostile)
        except PublishRejected as error:
            assert error.problems  # noqa: PT017  # it need not be raised
        else:
            texts = [text for item in submission.items for text in (item.question, item.answer)]
            texts += [submission.website_name, submission.website_url, submission.title or ""]
            assert all("\x00" not in text and text.encode() is not None for text in texts)


def test_hostile_bodies_are_answered_and_what_was_stored_is_read(storage: Storage, key: str) -> None:
    app = create_app(storage, reads_per_minute=None, writes_per_minute=None)

    @settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
    @given(body=written_bodies())
    def check(body: bytes) -> None:
        response = publish(client, key, body)
        if response.status_code == 201:
            slug = response.json()["slug"]
            sent = json.loads(body)["items"]
            read = client.get(f"{PATH}/{slug}").json()["items"]
            texts = [(item["question"], item["answer"]) for item in read]
            assert texts == [(item["question"], item["answer"]) for item in sent]
            assert client.get(f"/faq/{slug}").status_code == 200
        else:
            assert response.status_code in (404, 422)
            assert response.json()["status"] == response.status_code

    with TestClient(app) as client:
        check()


@pytest.mark.parametrize("text", ["a\x00b", "\x00", "a\ud800b", "\udfff", "\ud83d \ude00"])
@pytest.mark.parametrize("field", ["title", "websiteName", "slug", "question", "answer"])
def test_what_no_text_can_hold_is_refused(client: TestClient, key: str, field: str, text: str) -> None:
    item = {"question": "Q?", "answer": "A."}
    changes = {"items": [{**item, field: text}]} if field in item else {field: text}
    response = publish(client, key, publication(**changes))

    assert is_problem(response, 422)
    assert len(response.json()["problems"]) == 1


# Keys where they do not belong


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Bearer {key}"},
        {"Authorization": "{key}"},
        {"X-API-Key": "{key}"},
        {"X-Plugin-Key2": "{key}"},
        {"Cookie": "X-Plugin-Key={key}"},
        {"X-Plugin-Key": ""},
    ],
)
def test_a_key_elsewhere_is_no_key_and_is_not_repeated(
    client: TestClient, key: str, header: dict[str, str]
) -> None:
    headers = {name: value.format(key=key) for name, value in header.items()}
    response = client.post(f"{PATH}?X-Plugin-Key={key}&key={key}", json=publication(key=key), headers=headers)

    assert is_problem(response, 401)
    assert key not in response.text + str(response.headers)


@pytest.mark.parametrize("changed", ["{key} ", " {key}", "{key}"])
def test_white_space_around_a_key_does_not_count(client: TestClient, key: str, changed: str) -> None:
    assert publish(client, changed.format(key=key), publication()).status_code in (201, 403)


# Origins


def test_no_page_may_publish_from_elsewhere(client: TestClient, key: str) -> None:  # D12
    origin = {"Origin": "https://evil.example"}
    preflight = client.options(
        PATH,
        headers={
            **origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-plugin-key",
        },
    )
    published = publish(client, key, publication(), **origin)
    refused = publish(client, key, {}, **origin)

    assert (preflight.status_code, published.status_code, refused.status_code) == (204, 201, 422)
    for response in (preflight, published, refused):
        assert not [name for name in response.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["/api/v1/faq/a", "/faq/a", "/llms.txt", "/openapi.json"])
def test_every_page_may_read_but_never_as_its_visitor(client: TestClient, path: str) -> None:  # D12
    for method in ("GET", "HEAD", "OPTIONS"):
        response = client.request(method, path, headers={"Origin": "https://evil.example"})
        assert response.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in response.headers
    assert "access-control-allow-origin" not in client.delete(path).headers


# Sizes and speeds


def connected(address: str) -> socket.socket:
    url = httpx2.URL(address)
    return socket.create_connection((url.host, url.port), timeout=10)


def megabytes(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * 1_000_000


@SQLITE
@pytest.mark.parametrize("length", [{}, {"Content-Length": "100000000"}])
@pytest.mark.parametrize("with_key", [True, False])
def test_a_body_of_100_mb_is_refused_and_its_sender_hears_why(
    server: httpx2.Client, key: str, length: dict[str, str], with_key: bool
) -> None:  # V3, D12
    headers = {"Content-Type": "application/json", **length} | ({"X-Plugin-Key": key} if with_key else {})
    response = server.post(PATH, content=megabytes(100), headers=headers)

    assert is_problem(response, 413 if with_key else 401)
    assert response.headers["connection"] == "close"


@SQLITE
def test_who_sends_all_before_it_listens_hears_why_too(server: httpx2.Client, key: str) -> None:
    headers = {"Content-Type": "application/json", "X-Plugin-Key": key}
    with closing(HTTPConnection(server.base_url.host, server.base_url.port or 80)) as connection:
        connection.request("POST", PATH, body=b" " * 5_000_000, headers=headers)

        assert connection.getresponse().status == 413


@SQLITE
def test_who_never_stops_sending_is_cut_off(storage: Storage) -> None:
    sent = 0
    with running(create_app(storage)) as address, connected(address) as connection:
        connection.sendall(f"{HEAD}Content-Length: 1000000000\r\n\r\n".encode())
        with suppress(ConnectionError):
            for chunk in megabytes(1000):
                sent += connection.send(chunk)

    assert sent < 4 * lingering.MOST  # what is on its way in two machines' buffers comes to that


@SQLITE
def test_who_stops_sending_is_not_waited_for_long(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingering, "PATIENCE", 0.05)
    with running(create_app(storage)) as address, connected(address) as connection:
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n".encode())
        began = time.monotonic()
        answer = b"".join(iter(lambda: connection.recv(4096), b""))

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert time.monotonic() - began < 5


@SQLITE
def test_a_connection_is_used_again_after_a_small_body_was_refused(server: httpx2.Client) -> None:
    response = server.post(PATH, json=publication())

    assert response.status_code == 401
    assert "connection" not in response.headers


@SQLITE
def test_a_hundred_who_send_nothing_keep_nobody_from_reading(storage: Storage, key: str) -> None:
    head = f"{HEAD}X-Plugin-Key: {key}\r\nContent-Length: 1000\r\n\r\n{{".encode()
    with running(create_app(storage)) as address:
        slow = [connected(address) for _ in range(100)]
        try:
            for connection in slow:
                connection.sendall(head)
            assert httpx2.get(f"{address}/healthz", trust_env=False, timeout=5).status_code == 200
        finally:
            for connection in slow:
                connection.close()


def test_two_hundred_publishers_at_once_all_succeed(storage: Storage, key: str) -> None:
    limits = httpx2.Limits(max_connections=None)
    with (
        running(create_app(storage)) as address,
        httpx2.Client(base_url=address, trust_env=False, limits=limits, timeout=60) as client,
        ThreadPoolExecutor(200) as threads,
    ):

        def send(number: int) -> tuple[str, str]:
            body = publication(title=f"Number {number}")
            response = client.post(PATH, json=body, headers={"X-Plugin-Key": key})
            return response.json()["slug"], body["title"]

        published = dict(threads.map(send, range(200)))
        read = {slug: client.get(f"{PATH}/{slug}").json()["title"] for slug in published}

    assert len(published) == 200
    assert read == published
