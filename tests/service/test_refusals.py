"""Publications that are refused: keys, forms and sizes."""

import json
import socket

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, publication, publish

# Keys


def test_without_a_key_nothing_is_published(client: TestClient) -> None:  # V2
    response = client.post(PATH, json=publication())

    assert is_problem(response, 401)
    assert response.headers["www-authenticate"] == 'ApiKey header="X-Plugin-Key"'
    assert response.json()["detail"] == "an API key is needed, in the header X-Plugin-Key"


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
            "items[1].answer is 5, not text",
            "items[2] is not an object with question and answer",
            "items[3].question is missing",
            "items[3].answer is missing",
            "lang is 'xx': one of en, ko, ja, zh, es, fr, de is accepted",
        ],
    }
