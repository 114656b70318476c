"""POST /api/v1/faq."""

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.records import FAQ
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import publication
from tests.support import samples
from tests.support.clock import Clock

PATH = "/api/v1/faq"


def publish(client: TestClient, key: str, body: object, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"X-Plugin-Key": key, "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(PATH, content=content, headers=sent)


def is_problem(response: httpx2.Response, status: int) -> bool:
    """Tell whether a response is a problem that neither caches nor pages elsewhere may have."""
    return (
        response.status_code == response.json()["status"] == status
        and response.headers["content-type"] == "application/problem+json"
        and response.headers["cache-control"] == "no-store"
        and "access-control-allow-origin" not in response.headers  # D12
    )


def test_who_publishes_is_told_the_slug_and_how_to_show_it(client: TestClient, key: str) -> None:  # V2
    response = publish(client, key, publication())

    slug = response.json()["slug"]
    assert re.fullmatch(r"tea-sons-[2-9a-z]{6}", slug)
    assert response.status_code == 201
    assert response.json() == {
        "slug": slug,
        "faqUrl": f"http://testserver/faq/{slug}",
        "install": {"npm": "npm install @faqsvc/react", "component": f'<FAQ slug="{slug}" />'},
    }
    assert dict(response.headers) == {
        "cache-control": "no-store",
        "content-length": str(len(response.content)),
        "content-type": "application/json",
        "location": f"http://testserver/api/v1/faq/{slug}",
        "x-content-type-options": "nosniff",
    }


def test_what_was_published_is_read(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]

    assert client.get(f"{PATH}/{slug}").json() == {
        "slug": slug,
        "title": "Tea & Sons FAQ",
        "websiteName": "Tea & Sons",
        "lang": "en",
        "items": [
            {"position": 0, "question": "What does it cost?", "answer": "Nothing."},
            {"position": 1, "question": "May I cancel?", "answer": "Any time."},
        ],
        "cta": None,
    }


def test_two_publications_of_the_same_are_two_faqs(client: TestClient, key: str) -> None:
    slugs = {publish(client, key, publication()).json()["slug"] for _ in range(2)}

    assert len(slugs) == 2


def test_unknown_fields_and_positions_are_ignored(client: TestClient, key: str) -> None:  # V4
    items = [
        {"question": "One?", "answer": "1", "position": 7, "id": "x"},
        {"question": "Two?", "answer": "2", "position": "first"},
    ]
    slug = publish(client, key, publication(items=items, cta={"a": 1}, more="\x00")).json()["slug"]

    record = client.get(f"{PATH}/{slug}").json()
    assert record["cta"] is None
    assert [(item["position"], item["question"]) for item in record["items"]] == [(0, "One?"), (1, "Two?")]


def test_title_and_language_may_be_given(client: TestClient, key: str) -> None:
    response = publish(client, key, publication(title="요금", lang="ko"))

    slug = response.json()["slug"]
    record = client.get(f"{PATH}/{slug}").json()
    assert (record["title"], record["lang"]) == ("요금", "ko")


def test_another_language_is_published_under_the_slug(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    response = publish(client, key, publication(slug=slug, lang="de", title="Preise"))

    assert (response.status_code, response.json()["slug"]) == (201, slug)
    assert client.get(f"{PATH}/{slug}").json()["title"] == "Tea & Sons FAQ"
    assert client.get(f"{PATH}/{slug}?lang=de").json()["title"] == "Preise"


def test_an_faq_is_replaced_in_its_own_language_if_none_is_named(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication(lang="ko")).json()["slug"]
    publish(client, key, publication(slug=slug, title="새 제목"))

    record = client.get(f"{PATH}/{slug}").json()
    assert (record["lang"], record["title"]) == ("ko", "새 제목")
    assert client.get(f"{PATH}/{slug}?lang=en").json() == record


@pytest.mark.parametrize("lang", [None, "en", "de"])
def test_nobody_replaces_the_faq_of_another(
    client: TestClient, storage: Storage, key: str, lang: str | None
) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    before = client.get(f"{PATH}/{slug}?lang=de").json()
    response = publish(client, storage.keys.create("another"), publication(slug=slug, lang=lang))

    assert is_problem(response, 403)
    assert response.json()["detail"] == f"the FAQ {slug!r} belongs to another key"
    assert client.get(f"{PATH}/{slug}?lang=de").json() == before


def test_nobody_replaces_what_the_operator_put_there(client: TestClient, storage: Storage, key: str) -> None:
    storage.put(FAQ.from_dict(samples.pricing()))

    assert is_problem(publish(client, key, publication(slug="pricing", lang="de")), 403)


def test_an_faq_that_is_not_there_is_not_replaced(client: TestClient, key: str) -> None:
    response = publish(client, key, publication(slug="nothing", lang="en"))

    assert is_problem(response, 404)
    assert client.get(f"{PATH}/nothing").status_code == 404


def test_the_snippet_of_a_slug_with_quotes_is_one_attribute(client: TestClient, storage: Storage) -> None:
    key = storage.keys.create()
    owner = storage.keys.owner(key)
    with storage._database.writing() as connection:
        storage._claim(connection, 'a "b" <c>/', owner, "en")
        storage._claim(connection, 'a "b" <c>', owner, "en")

    response = publish(client, key, publication(slug='a "b" <c>'))

    assert response.json() == {
        "slug": 'a "b" <c>',
        "faqUrl": "http://testserver/faq/a%20%22b%22%20%3Cc%3E",
        "install": {
            "npm": "npm install @faqsvc/react",
            "component": '<FAQ slug="a &quot;b&quot; &lt;c&gt;" />',
        },
    }


# Keys


def test_without_a_key_nothing_is_published(client: TestClient) -> None:  # V2
    response = client.post(PATH, json=publication())

    assert is_problem(response, 401)
    assert response.headers["www-authenticate"] == 'ApiKey header="X-Plugin-Key"'
    assert response.json()["detail"] == "an API key is needed, in the header X-Plugin-Key"


def test_a_key_in_the_wrong_header_is_no_key(client: TestClient, key: str) -> None:
    response = client.post(PATH, json=publication(), headers={"Authorization": f"Bearer {key}"})

    assert is_problem(response, 401)


@pytest.mark.parametrize(
    "wrong", ["fs_live_", "fs_live_" + "A" * 43, "x", "' OR 1=1 --", "\xff\xfe", "k" * 9000]
)
def test_a_wrong_key_is_refused(client: TestClient, key: str, wrong: str) -> None:  # V2
    response = client.post(PATH, json=publication(), headers={b"X-Plugin-Key": wrong.encode("latin-1")})

    assert is_problem(response, 403)
    assert response.json()["detail"] == "the API key in X-Plugin-Key is unknown or was revoked"


def test_a_key_with_one_letter_changed_is_refused(client: TestClient, key: str) -> None:
    changed = key[:-1] + ("A" if key[-1] != "A" else "B")

    assert is_problem(publish(client, changed, publication()), 403)


def test_a_revoked_key_is_refused_and_its_faqs_stay(client: TestClient, storage: Storage, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    storage.keys.revoke(storage.keys.list()[0].id)

    assert is_problem(publish(client, key, publication()), 403)
    assert client.get(f"{PATH}/{slug}").status_code == 200


@pytest.mark.parametrize(("key_line", "status"), [(b"", 401), (b"X-Plugin-Key: fs_live_wrong\r\n", 403)])
def test_the_key_is_checked_before_a_byte_of_the_body_is_there(
    storage: Storage, key_line: bytes, status: int
) -> None:
    head = b"POST /api/v1/faq HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + key_line
    with running(create_app(storage)) as address, connected(address) as connection:
        connection.sendall(head + b"Content-Length: 500000\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 %d " % status)


# Forms of a body


@pytest.mark.parametrize(
    "media_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/json; charset=utf-16"],
)
def test_only_json_is_taken(client: TestClient, key: str, media_type: str) -> None:  # V3
    response = publish(client, key, publication(), Content_Type=media_type)

    assert is_problem(response, 415)
    assert response.headers["accept"] == "application/json"


@pytest.mark.parametrize(
    "media_type", ["Application/JSON", "application/json;charset=UTF-8", 'application/json; charset="utf-8"']
)
def test_json_may_be_named_in_other_ways(client: TestClient, key: str, media_type: str) -> None:
    assert publish(client, key, publication(), Content_Type=media_type).status_code == 201


def test_a_compressed_body_is_refused(client: TestClient, key: str) -> None:
    response = publish(client, key, b"\x1f\x8b", Content_Encoding="gzip")

    assert is_problem(response, 415)
    assert response.headers["accept-encoding"] == "identity"


def sized(size: int) -> bytes:
    """Return a good body of exactly `size` bytes."""
    body = json.dumps(publication()).encode()
    return body + b" " * (size - len(body))


def test_a_body_may_be_as_large_as_the_cap_and_no_larger(storage: Storage, key: str) -> None:  # V3
    with TestClient(create_app(storage, max_body=1000)) as client:
        fits, larger = publish(client, key, sized(1000)), publish(client, key, sized(1001))

    assert fits.status_code == 201
    assert is_problem(larger, 413)
    assert larger.json()["detail"] == "the body has more than 1000 bytes"


def test_a_body_is_counted_although_nobody_said_how_long_it_is(
    server: httpx2.Client, key: str
) -> None:  # D12
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1_000_000

    headers = {"X-Plugin-Key": key, "Content-Type": "application/json"}
    response = server.post(PATH, content=endless(), headers=headers)

    assert is_problem(response, 413)


def test_a_length_that_is_too_large_is_refused_before_the_body_is_sent(storage: Storage, key: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Plugin-Key: {key}\r\n"
    with running(create_app(storage)) as address, connected(address) as connection:
        connection.sendall(f"{head}Content-Length: 100000000\r\n\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_slow_sender_is_not_waited_for(storage: Storage, key: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Plugin-Key: {key}\r\n"
    app = create_app(storage, body_timeout=0.05)
    with running(app) as address, connected(address) as connection:
        connection.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))  # until it hangs up

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body had not come in 0.05 s" in answer


def test_who_hangs_up_in_the_middle_does_no_harm(
    storage: Storage, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Plugin-Key: {key}\r\n"
    with running(create_app(storage)) as address:
        with connected(address) as connection:
            connection.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        assert httpx2.get(f"{address}/healthz", trust_env=False).status_code == 200

    assert caplog.records == []


def connected(address: str) -> socket.socket:
    url = httpx2.URL(address)
    return socket.create_connection((url.host, url.port), timeout=10)


def test_everything_that_is_wrong_is_said_at_once(client: TestClient, key: str) -> None:  # V3
    items = [{"question": "Good?", "answer": "Yes."}, {"question": " ", "answer": 5}, "no object", {}]
    response = publish(client, key, publication(items=items, lang="xx", websiteName=None))

    assert is_problem(response, 422)
    assert response.json() == {
        "type": "about:blank",
        "title": "Unprocessable Content",
        "status": 422,
        "detail": "the body has 7 problems",
        "problems": [
            "websiteName is missing",
            "items[1].question is empty",
            "items[1].answer is not a string",
            "items[2] is not an object with question and answer",
            "items[3].question is missing",
            "items[3].answer is missing",
            "lang is 'xx': one of en, ko, ja, zh, es, fr, de is accepted",
        ],
    }


# Retries


def test_a_retry_with_its_idempotency_key_publishes_nothing_new(client: TestClient, key: str) -> None:
    first, second = (publish(client, key, publication(), Idempotency_Key="once") for _ in range(2))

    assert (second.status_code, second.json()) == (first.status_code, first.json())


def test_an_idempotency_key_with_another_body_is_a_mistake(client: TestClient, key: str) -> None:
    publish(client, key, publication(), Idempotency_Key="once")
    response = publish(client, key, publication(title="Other"), Idempotency_Key="once")

    assert is_problem(response, 422)
    assert response.json()["problems"] == ["the Idempotency-Key 'once' came before, with another body"]


def test_an_idempotency_key_of_another_is_not_the_same(
    client: TestClient, storage: Storage, key: str
) -> None:
    mine = publish(client, key, publication(), Idempotency_Key="once").json()
    theirs = publish(client, storage.keys.create(), publication(), Idempotency_Key="once").json()

    assert mine["slug"] != theirs["slug"]


def test_an_idempotency_key_is_forgotten_after_a_day(client: TestClient, key: str, clock: Clock) -> None:
    first = publish(client, key, publication(), Idempotency_Key="once").json()
    clock.advance(24 * 3600 + 1)
    later = publish(client, key, publication(), Idempotency_Key="once").json()

    assert first["slug"] != later["slug"]


def test_a_publication_that_failed_can_be_corrected_under_its_idempotency_key(
    client: TestClient, key: str
) -> None:
    failed = publish(client, key, publication(slug="nothing"), Idempotency_Key="once")
    corrected = publish(client, key, publication(), Idempotency_Key="once")

    assert (failed.status_code, corrected.status_code) == (404, 201)


@pytest.mark.parametrize("token", ["", "a b", "k" * 256])
def test_an_idempotency_key_has_a_form(client: TestClient, key: str, token: str) -> None:
    assert is_problem(publish(client, key, publication(), Idempotency_Key=token), 422)


def test_retries_at_the_same_time_publish_once(server: httpx2.Client, storage: Storage, key: str) -> None:
    headers = {"X-Plugin-Key": key, "Idempotency-Key": "once"}

    def send(_: int) -> Any:
        return server.post(PATH, json=publication(), headers=headers).json()["slug"]

    with ThreadPoolExecutor(16) as threads:
        slugs = set(threads.map(send, range(32)))

    assert len(slugs) == 1


def test_two_hundred_publishers_at_once_all_succeed(server: httpx2.Client, key: str) -> None:
    def send(number: int) -> tuple[str, int]:
        body = publication(title=f"Number {number}")
        response = server.post(PATH, json=body, headers={"X-Plugin-Key": key}, timeout=60)
        return response.json()["slug"], number

    with ThreadPoolExecutor(50) as threads:
        published = dict(threads.map(send, range(200)))

    assert len(published) == 200
    for slug, number in published.items():
        assert server.get(f"{PATH}/{slug}").json()["title"] == f"Number {number}"


# Where it is


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_publishing_takes_no_other_methods(client: TestClient, method: str) -> None:  # V3
    response = client.request(method, PATH)

    assert (response.status_code, response.headers["allow"]) == (405, "POST, OPTIONS")
    assert "access-control-allow-origin" not in response.headers


def test_no_page_elsewhere_may_publish(client: TestClient) -> None:  # D12
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    response = client.options(PATH, headers=headers)

    assert (response.status_code, dict(response.headers)) == (204, {"allow": "POST, OPTIONS"})


def test_the_public_address_is_a_setting(storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.example.com/")
    with TestClient(create_app(storage)) as client:
        response = publish(client, key, publication())

    slug = response.json()["slug"]
    assert response.json()["faqUrl"] == f"https://faq.example.com/faq/{slug}"
    assert response.headers["location"] == f"https://faq.example.com/api/v1/faq/{slug}"


# Addresses


@pytest.mark.parametrize(
    ("host", "page"),
    [
        ("faq.tea.example", "http://faq.tea.example/faq/"),
        ("127.0.0.1:8700", "http://127.0.0.1:8700/faq/"),
        ("[::1]:8700", "http://[::1]:8700/faq/"),
    ],
)
def test_the_hosted_page_is_where_the_request_came_to(
    client: TestClient, key: str, host: str, page: str
) -> None:
    assert publish(client, key, publication(), Host=host).json()["faqUrl"].startswith(page)


@pytest.mark.parametrize("host", ["", "a b", 'x"><script>', "a,b", "user@host", "h/path", "[x]", "x:port"])
def test_a_host_that_is_none_is_refused_before_anything_is_stored(
    client: TestClient, storage: Storage, key: str, host: str
) -> None:
    refused = publish(client, key, publication(), Host=host)

    assert is_problem(refused, 400)
    assert storage.keys.list()[0].last_used_at is None


def test_who_runs_the_service_may_say_where_the_public_reaches_it(
    storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.tea.example/de/")
    with TestClient(create_app(storage)) as client:
        published = publish(client, key, publication(), Host="internal:8700")

    slug = published.json()["slug"]
    assert published.json()["faqUrl"] == f"https://faq.tea.example/de/faq/{slug}"
    assert published.headers["location"] == f"https://faq.tea.example/de/api/v1/faq/{slug}"
