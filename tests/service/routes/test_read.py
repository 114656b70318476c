"""GET and HEAD of one FAQ, and the list of all: by words, state and language."""

import hashlib
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.contract import LIST_PATH
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, publication
from tests.service.routes.test_life_cycle import Owner, items_of
from tests.service.storage.writes import put
from tests.support import samples

PRICING = "/api/v1/faq/pricing"


@pytest.fixture
def pricing(storage: Storage) -> dict[str, Any]:
    """An FAQ in English, its default language, and in Korean."""
    faqs = samples.multilingual()
    put(storage, FAQ.from_dict(faqs["en"]))
    put(storage, FAQ.from_dict(faqs["ko"]))
    return faqs


def headers_of(record: dict[str, Any]) -> dict[str, str]:
    body = FAQ.from_dict(record).to_json().encode()
    return {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, FAQ-Revision, Retry-After",
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


@pytest.mark.parametrize("lang", ["", "xx", "en\x00", "e" * 5000])
def test_an_unsupported_language_is_a_422(client: TestClient, lang: str) -> None:
    response = client.get(PRICING, params={"lang": lang})

    assert (response.status_code, len(response.json()["problems"])) == (422, 1)
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("lang", "served"), [("ko", "ko"), ("KO", "ko"), ("ko-KR", "ko"), ("ko_KR", "ko"), ("de", "en")]
)
def test_lang_selects_the_language_or_else_the_default(
    client: TestClient, pricing: dict[str, Any], lang: str, served: str
) -> None:
    response = client.get(PRICING, params={"lang": lang})

    assert (response.headers["content-language"], response.json()) == (served, pricing[served])


def test_positions_are_counted_from_zero(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ("odd", lang="en", items=(Item(7, "Third?", "3"), Item(-2, "First?", "1"))))

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


def test_an_unknown_or_invalid_slug_is_a_404(client: TestClient) -> None:
    slugs = ("unknown", "", ".", "..", "a/b", "a%2Fb", "%00", "a%0Ab", "%5C", "a" * 201, "%FF", "%ED%A0%80")
    for slug in slugs:
        response = client.get(f"/api/v1/faq/{slug.replace('.', '%2E')}")  # clients resolve literal dots
        assert (response.status_code, response.json()["status"]) == (404, 404), slug
        assert response.headers["content-type"] == "application/problem+json"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["access-control-allow-origin"] == "*"


def test_texts_are_returned_unchanged(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ.from_dict(samples.nasty()))

    assert client.get("/api/v1/faq/nasty").json() == samples.nasty()


@pytest.fixture
def owner(client: TestClient, key: str) -> Owner:
    """The owner of FAQs in all states."""
    owner = Owner(client, key)
    for slug, text, fields in (
        ("pricing", "Six euros.", {}),
        ("changed", "Seven euros.", {}),
        ("new", "Eight euros.", {"draft": True}),
        ("closed", "Nothing.", {}),
        ("deleted", "Nine euros.", {}),
    ):
        body = publication(items=items_of(("What does it cost?", text)), lang="en", **fields)
        assert owner.send("PUT", f"{PATH}/{slug}", body).is_success
    body = publication(items=items_of(("Was kostet es?", "Sechs Euro.")), draft=True)
    owner.send("PUT", f"{PATH}/changed?lang=de", body)
    owner.send("DELETE", f"{PATH}/closed")
    owner.send("DELETE", f"{PATH}/deleted?purge=true")
    return owner


def listed(owner: Owner, query: str = "") -> list[dict[str, Any]]:
    response = owner.send("GET", f"{LIST_PATH}{query}")
    assert response.status_code == 200
    items: list[dict[str, Any]] = response.json()["items"]
    return items


def test_faqs_are_found_by_words_state_and_language(owner: Owner) -> None:
    for query, slugs in (
        ("", {"pricing", "changed", "new", "closed"}),
        ("?q=euros", {"pricing", "changed", "new"}),
        ("?q=COST%20seven", {"changed"}),
        ("?lang=de", {"changed"}),
        ("?lang=de&q=kostet", {"changed"}),
        ("?state=published", {"pricing", "changed"}),
        ("?state=draft", {"changed", "new"}),
        ("?state=unpublished", {"closed"}),
        ("?state=binned", {"deleted"}),
        ("?state=draft&q=eight", {"new"}),
    ):
        assert (query, {faq["slug"] for faq in listed(owner, query)}) == (query, slugs)


@pytest.mark.parametrize(
    "others", ["seven " * 3000, " ".join(map(str, range(3000)))], ids=["found", "not found"]
)
def test_a_search_of_thousands_of_words_is_a_search(owner: Owner, others: str) -> None:
    found = listed(owner, f"?q={quote(f'cost {others}')[:30_000]}")
    assert [faq["slug"] for faq in found] == (["changed"] if "seven" in others else [])


def test_an_faq_is_listed_with_its_drafts_and_entity_tags(owner: Owner) -> None:
    [faq] = listed(owner, "?lang=de")
    revisions = [
        owner.send("GET", f"{PATH}/changed/revisions?lang={lang}").json()["items"][0] for lang in ("en", "de")
    ]
    states = ("published", "draft")
    assert (faq["state"], faq["hasDraft"], faq["languages"]) == ("published", True, ["en", "de"])
    assert (faq["revision"], faq["etag"]) == (1, revisions[0]["etag"])
    assert faq["translations"] == [
        {"lang": lang, "revision": 1, "etag": one["etag"], "state": state, "hasDraft": state == "draft"}
        for lang, one, state in zip(("en", "de"), revisions, states, strict=True)
    ]


def test_a_search_has_pages(owner: Owner) -> None:
    first = owner.send("GET", f"{LIST_PATH}?q=euros&limit=2").json()
    rest = owner.send("GET", f"{LIST_PATH}?q=euros&limit=2&after={first['next']}").json()
    assert {faq["slug"] for faq in first["items"] + rest["items"]} == {"pricing", "changed", "new"}
    assert rest["next"] is None


def test_a_test_client_without_a_lifespan_reads_after_each_change(storage: Storage) -> None:
    """It runs each request in an event loop of its own."""
    client = TestClient(create_app(storage))
    for slug in ("one", "two", "three"):
        put(storage, FAQ(slug, lang="en", items=(Item(0, "Why?", "So."),)))
        assert [client.get(f"/api/v1/faq/{slug}").status_code for _ in range(3)] == [200, 200, 200]
