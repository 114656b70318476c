"""POST /api/v1/faq."""

import re

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, publication, publish
from tests.support import samples


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
    assert storage.listed(limit=1) == []


def test_who_runs_the_service_may_say_where_the_public_reaches_it(
    storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.tea.example/de/")
    with TestClient(create_app(storage)) as client:
        published = publish(client, key, publication(), Host="internal:8700")

    slug = published.json()["slug"]
    assert published.json()["faqUrl"] == f"https://faq.tea.example/de/faq/{slug}"
    assert published.headers["location"] == f"https://faq.tea.example/de/api/v1/faq/{slug}"
