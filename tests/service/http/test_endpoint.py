"""What all routes have in common: methods, cross-origin reads and the form of errors."""

import logging

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.storage import Storage, StorageUnavailable
from tests.service.bodies import PATH, is_problem, publication, publish

READABLE = [f"{PATH}/a", "/faq/a", "/llms.txt", "/openapi.json", "/healthz"]
EVIL = {"Origin": "https://evil.example"}


@pytest.mark.parametrize("path", READABLE)
def test_any_origin_may_read_but_without_credentials(client: TestClient, path: str) -> None:
    for method in ("GET", "HEAD", "OPTIONS"):
        response = client.request(method, path, headers=EVIL)
        assert response.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in response.headers
    assert "access-control-allow-origin" not in client.delete(path).headers


def test_no_origin_may_publish(client: TestClient, key: str) -> None:
    requested = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-plugin-key"}
    preflight = client.options(PATH, headers={**EVIL, **requested})
    published = publish(client, key, publication(), **EVIL)
    refused = publish(client, key, {}, **EVIL)

    assert (preflight.status_code, published.status_code, refused.status_code) == (204, 201, 422)
    for response in (preflight, published, refused):
        assert not [name for name in response.headers if name.startswith("access-control-")]


def test_a_preflight_allows_any_request_header(client: TestClient) -> None:
    headers = {
        "Origin": "https://www.tea.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "traceparent, sentry-trace, baggage",
    }
    response = client.options(f"{PATH}/pricing", headers=headers)

    assert (response.status_code, response.content) == (204, b"")
    assert {name: value for name, value in response.headers.items() if name != "x-request-id"} == {
        "allow": "GET, PUT, PATCH, DELETE, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "*",
        "access-control-max-age": "86400",
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", f"{PATH}/pricing", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"),
        ("DELETE", "/faq/pricing", "GET, HEAD, OPTIONS"),
        ("BREW", "/faq/pricing", "GET, HEAD, OPTIONS"),
        ("GET", PATH, "POST, OPTIONS"),
        ("GET", f"{PATH}/generate", "POST, OPTIONS"),
    ],
)
def test_other_methods_are_refused(client: TestClient, method: str, path: str, allow: str) -> None:
    response = client.request(method, path)

    assert response.status_code == 405
    assert response.headers["allow"] == allow
    assert response.json().items() >= {"type": "about:blank", "title": "Method Not Allowed"}.items()


@pytest.mark.parametrize("path", ["/api/v2/faq/pricing", "/healthz/", "/llms.txt/"])
def test_an_unknown_path_is_a_404_and_no_redirect(client: TestClient, path: str) -> None:
    response = client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)

    assert (response.status_code, response.json()["status"]) == (404, 404)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["access-control-allow-origin"] == "*"
    assert "location" not in response.headers


def test_a_database_failure_is_a_503_that_does_not_name_the_database(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(slug: str, lang: str | None) -> None:
        raise StorageUnavailable("the database '/srv/secret.db': disk I/O error")

    monkeypatch.setattr(storage.publications, "get", fail)
    with caplog.at_level(logging.ERROR, "faqsvc_embed"):
        response = client.get(f"{PATH}/pricing")

    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.headers["access-control-allow-origin"] == "*"
    assert "secret" not in response.text
    assert "secret" in caplog.text


def test_an_internal_error_is_a_500_that_any_origin_may_read(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(storage.publications, "get", fail)
    monkeypatch.setattr(storage.writer, "write", fail)
    read = client.get(f"{PATH}/pricing")
    written = publish(client, storage.keys.create(), publication())

    assert (read.status_code, read.json()["status"]) == (500, 500)
    assert read.headers["access-control-allow-origin"] == "*"
    assert read.headers["cache-control"] == "no-store"
    assert "secret" not in read.text
    assert is_problem(written, 500)


def test_healthz_checks_the_database(client: TestClient) -> None:
    response = client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert response.headers["cache-control"] == "no-store"
