"""GET, HEAD and OPTIONS of /api/v1/faq/{slug}."""

import hashlib
import json
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.storage import Storage
from tests.support import samples

PRICING = "/api/v1/faq/pricing"


@pytest.fixture
def pricing(storage: Storage) -> dict[str, Any]:
    """An FAQ whose own language is English, and which is there in Korean too."""
    faqs = samples.multilingual()
    storage.put(FAQ.from_dict(faqs["en"]))
    storage.put(FAQ.from_dict(faqs["ko"]))
    return faqs


def etag_of(record: dict[str, Any]) -> str:
    body = FAQ.from_dict(record).to_json().encode()
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def test_everybody_reads_the_record_and_may_keep_it_for_an_hour(
    client: TestClient, pricing: dict[str, Any]
) -> None:  # V1
    response = client.get(PRICING)

    assert response.status_code == 200
    assert response.json() == pricing["en"]
    assert dict(response.headers) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Retry-After",
        "cache-control": "public, max-age=3600",
        "content-language": "en",
        "content-length": str(len(response.content)),
        "content-type": "application/json",
        "etag": etag_of(pricing["en"]),
        "x-content-type-options": "nosniff",
    }


def test_lang_selects_the_language(client: TestClient, pricing: dict[str, Any]) -> None:
    response = client.get(PRICING, params={"lang": "ko"})

    assert response.json() == pricing["ko"]
    assert response.headers["content-language"] == "ko"


def test_a_language_that_is_missing_falls_back_to_the_faqs_own_and_lang_says_so(
    client: TestClient, pricing: dict[str, Any]
) -> None:  # V3
    response = client.get(PRICING, params={"lang": "de"})

    assert response.status_code == 200
    assert response.json() == pricing["en"]
    assert response.headers["content-language"] == "en"


@pytest.mark.parametrize("lang", ["", "xx", "EN", "de-CH", "en\x00", "e" * 5000])
def test_a_language_that_the_service_has_not_is_refused(client: TestClient, lang: str) -> None:
    response = client.get(PRICING, params={"lang": lang})

    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["access-control-allow-origin"] == "*"
    assert "en, ko, ja, zh, es, fr, de" in response.json()["problems"][0]


def test_positions_are_counted_from_zero_whatever_came_in(client: TestClient, storage: Storage) -> None:  # V4
    storage.put(FAQ("odd", lang="en", items=(Item(7, "Third?", "3"), Item(-2, "First?", "1"))))

    assert client.get("/api/v1/faq/odd").json()["items"] == [
        {"position": 0, "question": "First?", "answer": "1"},
        {"position": 1, "question": "Third?", "answer": "3"},
    ]


@pytest.mark.parametrize(
    "field", ['"{}"', 'W/"{}"', '"other", "{}"', '"other",W/"{}" , "x"', "*", '"a,b", "{}"']
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_who_holds_the_record_is_not_sent_it_again(
    client: TestClient, pricing: dict[str, Any], method: str, field: str
) -> None:  # V1
    etag = etag_of(pricing["en"])
    response = client.request(method, PRICING, headers={"If-None-Match": field.format(etag.strip('"'))})

    assert (response.status_code, response.content) == (304, b"")
    assert dict(response.headers) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Retry-After",
        "cache-control": "public, max-age=3600",
        "content-language": "en",
        "etag": etag,
        "x-content-type-options": "nosniff",
    }


@pytest.mark.parametrize("held", ['"other"', "other", "", '"'])
@pytest.mark.usefixtures("pricing")
def test_who_holds_something_else_is_sent_the_record(client: TestClient, held: str) -> None:
    assert client.get(PRICING, headers={"If-None-Match": held}).status_code == 200


def test_a_record_that_changes_gets_another_etag(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.pricing()))
    before = client.get(PRICING)
    storage.put(FAQ.from_dict({**samples.pricing(), "title": "Prices"}))
    after = client.get(PRICING, headers={"If-None-Match": before.headers["etag"]})

    assert after.status_code == 200
    assert after.headers["etag"] != before.headers["etag"]


@pytest.mark.usefixtures("pricing")
def test_head_has_the_headers_of_get_and_no_body(server: httpx2.Client) -> None:  # V1
    get, head = server.get(PRICING), server.head(PRICING)
    for response in (get, head):
        del response.headers["date"]

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == get.headers


@pytest.mark.parametrize(
    "path",
    [
        "unknown",
        "",
        ".",
        "..",
        "a/b",
        "a%2Fb",
        "%00",
        "a%0Ab",
        "%5C",
        "a" * 201,
        "%FF",
        "%ED%A0%80",
    ],
)
def test_what_is_no_slug_or_names_no_faq_is_not_found(client: TestClient, path: str) -> None:  # V3
    # Clients tidy dots away unless they are encoded.
    response = client.get(f"/api/v1/faq/{path.replace('.', '%2E')}")
    problem = response.json()

    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["access-control-allow-origin"] == "*"
    assert "detail" in problem
    assert {**problem, "detail": ""} == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "",
    }


@pytest.mark.parametrize(
    "slug", ["자주-묻는-질문", "a b", "100%", "what?", "a#b", "ü", "u\u0308", "🫖", "a+b"]
)
def test_a_slug_may_have_any_script(client: TestClient, storage: Storage, slug: str) -> None:
    storage.put(FAQ.from_dict(samples.record(slug)))

    response = client.get(f"/api/v1/faq/{quote(slug, safe='')}")

    assert (response.status_code, response.json()) == (200, samples.record(slug))


def test_texts_come_out_to_the_letter(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.nasty()))

    assert client.get("/api/v1/faq/nasty").json() == samples.nasty()


def test_our_own_client_reads_what_the_service_says(server: httpx2.Client, pricing: dict[str, Any]) -> None:
    with FAQEmbed(str(server.base_url)) as embed:
        read = {lang: embed.get_faq("pricing", lang=lang).to_dict() for lang in ("en", "ko", "de")}

    assert read == {"en": pricing["en"], "ko": pricing["ko"], "de": pricing["en"]}


def test_a_page_elsewhere_may_ask_before_it_reads(client: TestClient) -> None:  # V1
    headers = {"Origin": "https://www.tea.example", "Access-Control-Request-Method": "GET"}
    response = client.options(PRICING, headers=headers)

    assert (response.status_code, response.content) == (204, b"")
    assert dict(response.headers) == {
        "allow": "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "Accept, Content-Type, If-None-Match",
        "access-control-max-age": "86400",
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_an_faq_takes_no_other_methods(client: TestClient, method: str) -> None:  # V3
    response = client.request(method, PRICING)

    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"
    assert "access-control-allow-origin" not in response.headers  # D12
    assert response.json() == {
        "type": "about:blank",
        "title": "Method Not Allowed",
        "status": 405,
        "detail": "this address takes GET, HEAD, OPTIONS",
    }


def test_a_database_that_fails_is_told_without_its_name(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(slug: str, lang: str | None) -> None:
        raise StorageUnavailable("the database '/srv/secret.db': disk I/O error")

    monkeypatch.setattr(storage, "edition", fails)
    response = TestClient(client.app).get(PRICING)

    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.headers["access-control-allow-origin"] == "*"
    assert "secret" not in response.text


def test_healthz_says_that_the_database_answers(client: TestClient) -> None:
    response = client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert response.headers["cache-control"] == "no-store"


def test_other_addresses_do_not_exist(client: TestClient) -> None:
    response = client.get("/api/v2/faq/pricing")

    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert json.loads(response.content)["detail"] == "there is nothing at this address"


@pytest.mark.parametrize("path", ["/healthz/", "/llms.txt/", "/openapi.json/"])
def test_nobody_is_sent_on_to_where_the_host_header_says(client: TestClient, path: str) -> None:
    response = client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)

    assert (response.status_code, response.headers.get("location")) == (404, None)
