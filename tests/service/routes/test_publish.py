"""POST /api/v1/faq."""

import re
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, key_of_another_site, publication, publish


def test_the_response_has_the_slug_the_page_and_the_install_hints(client: TestClient, key: str) -> None:
    response = publish(client, key, publication())

    slug = response.json()["slug"]
    assert re.fullmatch(r"tea-sons-[2-9a-z]{6}", slug)
    assert response.status_code == 201
    assert response.json() == {
        "slug": slug,
        "faqUrl": f"http://testserver/faq/{slug}",
        "install": {"npm": "npm install @faqsvc/react", "component": f'<FAQ slug="{slug}" />'},
        "lang": "en",
        "revision": 1,
        "state": "published",
    }
    assert dict(response.headers) == {
        "cache-control": "no-store",
        "content-language": "en",
        "content-length": str(len(response.content)),
        "content-type": "application/json",
        "etag": client.get(f"{PATH}/{slug}").headers["etag"],
        "location": f"http://testserver/api/v1/faq/{slug}",
        "x-content-type-options": "nosniff",
        "x-request-id": response.headers["x-request-id"],
    }


def test_a_published_faq_can_be_read(client: TestClient, key: str) -> None:
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


def test_every_request_without_a_slug_creates_an_faq(client: TestClient, key: str) -> None:
    slugs = {publish(client, key, publication()).json()["slug"] for _ in range(2)}

    assert len(slugs) == 2


def test_unknown_fields_and_positions_are_ignored(client: TestClient, key: str) -> None:
    items = [
        {"question": "One?", "answer": "1", "position": 7, "id": "x"},
        {"question": "Two?", "answer": "2", "position": "first"},
    ]
    body = publication(items=items, cta={"a": 1}, more="\x00", visits=10**639)
    slug = publish(client, key, body).json()["slug"]

    record = client.get(f"{PATH}/{slug}").json()
    assert record["cta"] is None
    assert [(item["position"], item["question"]) for item in record["items"]] == [(0, "One?"), (1, "Two?")]


def test_a_translation_is_published_under_the_slug(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    response = publish(client, key, publication(slug=slug, lang="de", title="Preise"))

    assert (response.status_code, response.json()["slug"]) == (201, slug)
    assert client.get(f"{PATH}/{slug}").json()["title"] == "Tea & Sons FAQ"
    assert client.get(f"{PATH}/{slug}?lang=de").json()["title"] == "Preise"


def test_without_lang_the_default_language_is_replaced(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication(lang="ko", title="요금")).json()["slug"]
    publish(client, key, publication(slug=slug, title="새 제목"))

    record = client.get(f"{PATH}/{slug}").json()
    assert (record["lang"], record["title"]) == ("ko", "새 제목")
    assert client.get(f"{PATH}/{slug}?lang=en").json() == record


@pytest.mark.parametrize("lang", [None, "de"])
def test_the_faq_of_another_site_is_not_replaced(
    client: TestClient, storage: Storage, key: str, lang: str | None
) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    before = client.get(f"{PATH}/{slug}?lang=de").json()
    response = publish(client, key_of_another_site(storage), publication(slug=slug, lang=lang))

    assert is_problem(response, 403)
    assert client.get(f"{PATH}/{slug}?lang=de").json() == before


def test_an_unknown_slug_is_a_404_and_nothing_is_created(client: TestClient, key: str) -> None:
    assert is_problem(publish(client, key, publication(slug="nothing", lang="en")), 404)
    assert client.get(f"{PATH}/nothing").status_code == 404


def test_a_slug_is_escaped_in_the_snippet_and_the_url(
    client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "faqsvc_embed.service.storage.writer.new_slug", lambda words, website_url: 'a "b" <c>'
    )
    body = publish(client, key, publication()).json()

    assert body["slug"] == 'a "b" <c>'
    assert body["faqUrl"] == "http://testserver/faq/a%20%22b%22%20%3Cc%3E"
    assert body["install"]["component"] == '<FAQ slug="a &quot;b&quot; &lt;c&gt;" />'


# Idempotency-Key


def test_a_repeated_request_publishes_once(client: TestClient, key: str) -> None:
    first, second = (publish(client, key, publication(), Idempotency_Key="once") for _ in range(2))

    assert (second.status_code, second.json()) == (first.status_code, first.json())


def test_another_body_with_the_same_idempotency_key_is_refused(client: TestClient, key: str) -> None:
    publish(client, key, publication(), Idempotency_Key="once")
    response = publish(client, key, publication(title="Other"), Idempotency_Key="once")

    assert is_problem(response, 422)


def test_a_failed_request_does_not_use_up_its_idempotency_key(client: TestClient, key: str) -> None:
    failed = publish(client, key, publication(slug="nothing"), Idempotency_Key="once")
    corrected = publish(client, key, publication(), Idempotency_Key="once")

    assert (failed.status_code, corrected.status_code) == (404, 201)


@pytest.mark.parametrize("value", ["", "a b", "k" * 256])
def test_an_invalid_idempotency_key_is_refused(client: TestClient, key: str, value: str) -> None:
    assert is_problem(publish(client, key, publication(), Idempotency_Key=value), 422)


# Public URLs


@pytest.mark.parametrize("host", ["faq.tea.example", "127.0.0.1:8700", "[::1]:8700"])
def test_urls_have_the_origin_of_the_request(client: TestClient, key: str, host: str) -> None:
    response = publish(client, key, publication(), Host=host)

    assert response.json()["faqUrl"] == f"http://{host}/faq/{response.json()['slug']}"


@pytest.mark.parametrize("host", ["", "a b", 'x"><script>', "a,b", "user@host", "h/path", "[x]", "x:port"])
def test_an_invalid_host_is_a_400_and_nothing_is_stored(
    client: TestClient, storage: Storage, key: str, host: str
) -> None:
    assert is_problem(publish(client, key, publication(), Host=host), 400)
    assert storage.sites.list()[0].faq_count == 0


def test_urls_have_the_base_url_if_one_is_configured(
    storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.tea.example/de/")
    with TestClient(create_app(storage)) as client:
        published = publish(client, key, publication(), Host="internal:8700")

    slug = published.json()["slug"]
    assert published.json()["faqUrl"] == f"https://faq.tea.example/de/faq/{slug}"
    assert published.headers["location"] == f"https://faq.tea.example/de/api/v1/faq/{slug}"


@pytest.mark.parametrize("url", ["faq.example.com", "https://서울.한국", "https://a.example/?b"])
def test_an_invalid_base_url_is_a_configuration_error(storage: Storage, url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        create_app(storage, base_url=url)


@pytest.mark.parametrize(
    "slug", [" tea", "tea ", "te\u200ba", "te\u202ea", "te\u00ada", "te\ufe0fa", "te\u3164a", "te\u00a0a"]
)
def test_a_new_slug_that_looks_like_another_is_refused(
    client: TestClient, storage: Storage, slug: str
) -> None:
    headers = {KEY_HEADER: storage.keys.create()}
    response = client.put(f"{PATH}/{quote(slug)}", json=publication(), headers=headers)
    assert response.status_code == 422
    assert client.get(f"{PATH}/{quote(slug)}").status_code == 404


def test_two_spellings_of_one_slug_are_one_faq(client: TestClient, storage: Storage) -> None:
    headers = {KEY_HEADER: storage.keys.create()}
    for slug in ("caf\u00e9 \u6599\u91d1", "cafe\u0301 \u6599\u91d1"):
        assert client.put(f"{PATH}/{quote(slug)}", json=publication(), headers=headers).is_success
        assert client.get(f"{PATH}/{quote(slug)}").json()["slug"] == "caf\u00e9 \u6599\u91d1"
        assert client.get(f"/faq/{quote(slug)}").status_code == 200
    assert len(storage.overview.faqs(storage.sites.list()[0].id, limit=10)) == 1
