"""GET and HEAD of /api/v1/faq/{slug}."""

import hashlib
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import Storage
from tests.support import samples

PRICING = "/api/v1/faq/pricing"


@pytest.fixture
def pricing(storage: Storage) -> dict[str, Any]:
    """An FAQ in English, its default language, and in Korean."""
    faqs = samples.multilingual()
    storage.put(FAQ.from_dict(faqs["en"]))
    storage.put(FAQ.from_dict(faqs["ko"]))
    return faqs


def headers_of(record: dict[str, Any]) -> dict[str, str]:
    body = FAQ.from_dict(record).to_json().encode()
    return {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Retry-After",
        "cache-control": "public, max-age=3600",
        "content-language": record["lang"],
        "faq-revision": "1",
        "vary": "X-FAQ-Preview",
        "etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        "x-content-type-options": "nosniff",
    }


def test_a_record_is_public_and_cacheable_for_an_hour(client: TestClient, pricing: dict[str, Any]) -> None:
    response = client.get(PRICING)

    assert (response.status_code, response.json()) == (200, pricing["en"])
    assert dict(response.headers) == {
        **headers_of(pricing["en"]),
        "content-length": str(len(response.content)),
        "content-type": "application/json",
    }
    assert client.head(PRICING).headers == response.headers


def test_lang_selects_the_language(client: TestClient, pricing: dict[str, Any]) -> None:
    response = client.get(PRICING, params={"lang": "ko"})

    assert (response.json(), response.headers["content-language"]) == (pricing["ko"], "ko")


def test_a_missing_translation_falls_back_to_the_default_language(
    client: TestClient, pricing: dict[str, Any]
) -> None:
    response = client.get(PRICING, params={"lang": "de"})

    assert (response.status_code, response.json()) == (200, pricing["en"])
    assert response.headers["content-language"] == "en"


@pytest.mark.parametrize("lang", ["", "xx", "EN", "de-CH", "en\x00", "e" * 5000])
def test_an_unsupported_language_is_a_422(client: TestClient, lang: str) -> None:
    response = client.get(PRICING, params={"lang": lang})

    assert (response.status_code, len(response.json()["problems"])) == (422, 1)
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["access-control-allow-origin"] == "*"


def test_positions_are_counted_from_zero(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ("odd", lang="en", items=(Item(7, "Third?", "3"), Item(-2, "First?", "1"))))

    assert client.get("/api/v1/faq/odd").json()["items"] == [
        {"position": 0, "question": "First?", "answer": "1"},
        {"position": 1, "question": "Third?", "answer": "3"},
    ]


@pytest.mark.parametrize("field", ['"{}"', 'W/"{}"', '"other",W/"{}" , "x"', "*", '"a,b", "{}"'])
def test_a_current_version_is_not_sent_again(client: TestClient, pricing: dict[str, Any], field: str) -> None:
    headers = headers_of(pricing["en"])
    response = client.get(PRICING, headers={"If-None-Match": field.format(headers["etag"].strip('"'))})

    assert (response.status_code, response.content) == (304, b"")
    assert dict(response.headers) == headers


@pytest.mark.parametrize("field", ['"other"', "other", "", '"'])
@pytest.mark.usefixtures("pricing")
def test_another_version_is_replaced(client: TestClient, field: str) -> None:
    assert client.get(PRICING, headers={"If-None-Match": field}).status_code == 200


@pytest.mark.parametrize(
    "path", ["unknown", "", ".", "..", "a/b", "a%2Fb", "%00", "a%0Ab", "%5C", "a" * 201, "%FF", "%ED%A0%80"]
)
def test_an_unknown_or_invalid_slug_is_a_404(client: TestClient, path: str) -> None:
    response = client.get(f"/api/v1/faq/{path.replace('.', '%2E')}")  # clients resolve literal dots

    assert (response.status_code, response.json()["status"]) == (404, 404)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("slug", ["자주-묻는-질문", "a b", "100%", "what?", "a#b", "\u00fc", "🫖", "a+b"])
def test_a_slug_may_have_any_script(client: TestClient, storage: Storage, slug: str) -> None:
    storage.put(FAQ.from_dict(samples.record(slug)))

    response = client.get(f"/api/v1/faq/{quote(slug, safe='')}")

    assert (response.status_code, response.json()) == (200, samples.record(slug))


def test_texts_are_returned_unchanged(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.nasty()))

    assert client.get("/api/v1/faq/nasty").json() == samples.nasty()
