"""What all routes have in common: methods, `Accept`, bodies, time limits, and the form of errors."""

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.service.http import threads
from faqsvc_embed.service.http.requests import parse_object
from faqsvc_embed.service.http.responses import Problem, best_media_type
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from faqsvc_embed.service.storage.overview import Filter
from tests.service.bodies import PATH, encoded, is_problem, publication, publish

READABLE = [f"{PATH}/a", "/faq/a", "/llms.txt", "/openapi.json", "/readyz"]
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
    assert dict(response.headers) == {
        "allow": "PUT, PATCH, DELETE, GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "*",
        "access-control-max-age": "86400",
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", f"{PATH}/pricing", "PUT, PATCH, DELETE, GET, HEAD, OPTIONS"),
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


@pytest.mark.parametrize("path", ["/api/v2/faq/pricing", "/readyz/", "/llms.txt/"])
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


HTML, MARKDOWN = "text/html", "text/markdown"
CHROMIUM = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)


def request(*accept: str) -> Request:
    headers = [(b"accept", value.encode("latin-1")) for value in accept]
    return Request({"type": "http", "method": "GET", "headers": headers})


@pytest.mark.parametrize(
    ("accept", "best"),
    [
        ((), HTML),
        (("",), HTML),
        (("nonsense, ;;, q=1, text/markdown;q=2",), HTML),  # nothing well-formed
        (("*/*",), HTML),
        (("text/*",), HTML),
        ((CHROMIUM,), HTML),
        (("Text/Markdown; Charset=UTF-8",), MARKDOWN),
        (("text/markdown, */*",), MARKDOWN),
        (("text/markdown, text/html, */*",), MARKDOWN),
        (("text/html, text/markdown",), HTML),
        (("text/markdown;q=0.5, text/html;q=0.4",), MARKDOWN),
        (("text/markdown;q=0.4, text/html;q=0.5",), HTML),
        (("text/markdown;q=0.001, text/html;q=0",), MARKDOWN),
        (("text/html;q=0, */*",), MARKDOWN),
        (("text/markdown;q=0, text/*",), HTML),
        (("text/*;q=0.5, text/html;q=0.1",), MARKDOWN),
        (("text/html ; level=1 ; q=0.3 , text/markdown ; q=0.4",), MARKDOWN),
        (("text/html;q=0.1", "text/markdown"), MARKDOWN),  # two header lines
        (("text/markdown; qs=0.5; , text/html;q=0.5",), MARKDOWN),
    ],
)
def test_the_preferred_media_type_is_chosen(accept: tuple[str, ...], best: str) -> None:
    assert best_media_type(request(*accept), HTML, MARKDOWN) == best


@pytest.mark.parametrize("accept", ["image/png", "text/html;q=0, text/markdown;q=0.0", "*/*;q=0"])
def test_without_an_acceptable_media_type_it_is_a_406(accept: str) -> None:
    with pytest.raises(Problem) as caught:
        best_media_type(request(accept), HTML, MARKDOWN)

    assert caught.value.status == 406


@given(accept=st.text(st.characters(max_codepoint=255), max_size=200))
def test_any_header_is_answered(accept: str) -> None:
    try:
        assert best_media_type(request(accept), HTML, MARKDOWN) in (HTML, MARKDOWN)
    except Problem as problem:
        assert problem.status == 406  # noqa: PT017  # it need not be raised


def test_nothing_is_published_if_the_response_is_not_acceptable(
    client: TestClient, storage: Storage, key: str
) -> None:
    assert is_problem(publish(client, key, publication(), Accept="application/xml"), 406)
    assert storage.sites.list()[0].faq_count == 0


@pytest.mark.parametrize("media_type", ["", "text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_a_body_that_is_not_json_is_a_415(client: TestClient, key: str, media_type: str) -> None:
    response = publish(client, key, publication(), Content_Type=media_type)

    assert is_problem(response, 415)
    assert response.headers["accept"] == "application/json"


@pytest.mark.parametrize("media_type", ["Application/JSON", 'application/json; version=1; charset="UTF-8"'])
def test_the_media_type_may_be_written_in_other_ways(client: TestClient, key: str, media_type: str) -> None:
    assert publish(client, key, publication(), Content_Type=media_type).status_code == 201


def test_a_compressed_body_is_a_415(client: TestClient, key: str) -> None:
    response = publish(client, key, b"\x1f\x8b", Content_Encoding="gzip")

    assert is_problem(response, 415)
    assert response.headers["accept-encoding"] == "identity"


def test_the_size_of_a_body_is_limited(client: TestClient, key: str) -> None:
    fits = encoded(publication()).ljust(MAX_BODY)

    assert publish(client, key, fits).status_code == 201
    assert is_problem(publish(client, key, fits + b" "), 413)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{",
        b'{"a": NaN}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\\ud800"}',
        b"{} {}",
        encoded(publication()).decode().encode("utf-16"),
        b'{"a": ' + b"1" * 5000 + b"}",
        b"[" * MAX_BODY,
        b"[]",
        b"null",
        b'"text"',
    ],
    ids=lambda body: body[:20],
)
def test_a_body_that_is_not_a_json_object_is_one_problem(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        parse_object(body)

    assert (caught.value.status, len(caught.value.problems)) == (422, 1)


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_object(b"\xef\xbb\xbf" + json.dumps({"a": "ä"}).encode()) == {"a": "ä"}


def test_a_call_that_does_not_end_in_time_fails_and_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CALL_TIMEOUT", 0.05)
    may_end = threading.Event()

    async def main() -> str:
        limiter = anyio.CapacityLimiter(1)
        with pytest.raises(StorageUnavailable):
            await run_blocking(may_end.wait, 10.0, limiter=limiter)
        monkeypatch.setattr(threads, "CALL_TIMEOUT", 10.0)
        return await run_blocking(str.upper, "done", limiter=limiter)

    assert anyio.run(main) == "DONE"
    may_end.set()


@pytest.mark.parametrize("path", ["/api/v1/faqs", "/api/v1/faq/pricing/revisions"])
def test_a_slow_search_delays_no_other_request_of_editors_and_programs(
    client: TestClient, key: str, storage: Storage, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    has_begun, may_end = threading.Event(), threading.Event()
    page, headers = storage.overview.page, {"X-Plugin-Key": key}

    def slow_page(site: str, wanted: Filter, **others: Any) -> Any:
        if wanted.search:
            has_begun.set()
            may_end.wait(60)
        return page(site, wanted, **others)

    client.put(f"{PATH}/pricing", json=publication(), headers=headers)
    monkeypatch.setattr(storage.overview, "page", slow_page)
    with ThreadPoolExecutor() as pool:
        search = pool.submit(client.get, "/api/v1/faqs?q=cost", headers=headers)
        has_begun.wait(60)
        other = client.get(path, headers=headers)
        is_searching = not search.done()
        may_end.set()

    assert (other.status_code, search.result().status_code) == (200, 200)
    assert is_searching
