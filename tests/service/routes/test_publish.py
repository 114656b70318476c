"""POST /api/v1/faq, and what its body must contain."""

import json
import re
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.fields import MAX_ANSWER, MAX_BODY, MAX_ITEMS, MAX_QUESTION
from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.settings import Settings
from tests.service.bodies import PATH, encoded, is_problem, parsed, publication, publish


def test_the_response_has_the_slug_the_page_and_the_install_hints(client: TestClient, key: str) -> None:
    response = publish(client, key, publication())

    slug = response.json()["slug"]
    assert slug == "tea-sons"
    assert response.status_code == 201
    assert response.json() == {
        "slug": slug,
        "faqUrl": f"http://testserver/faq/{slug}",
        "install": {
            "npm": "npm install @faqsvc/react",
            "component": f'<FAQ slug="{slug}" />',
            "template": f'{{{{ faq("{slug}") }}}}',
        },
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
    }


def test_a_new_slug_is_made_of_the_title(client: TestClient, key: str) -> None:
    for title, name, slug in (
        ("Tea & Sons", "Heron", "tea-sons"),
        ("Café Zürich", "Heron", "cafe-zuerich"),
        ("ＦＡＱ 5", "Heron", "faq-5"),
        ("서울 상점", "Heron & Ink", "heron-ink"),
        (None, "서울", "faq"),
        ("../../etc/passwd", "Tea", "etc-passwd"),
        ("word " * 30, "Tea", "-".join(["word"] * 20)),
        ("x" * 200, "Tea", "x" * 100),
        ("Generate", "Tea", "generate-2"),
    ):
        body = publication(title=title, websiteName=name, lang=None, slug=None)
        assert publish(client, key, body).json()["slug"] == slug


def test_a_number_follows_a_new_slug_only_if_it_is_taken(client: TestClient, key: str) -> None:
    slugs = [publish(client, key, publication(title="Repairs")).json()["slug"] for _ in range(15)]
    assert slugs[:3] == ["repairs", "repairs-2", "repairs-3"]
    assert len(set(slugs)) == 15
    assert all(re.fullmatch(r"repairs(-\d+)?", slug) for slug in slugs)


@pytest.mark.parametrize(
    ("stated", "lang"), [("en-US", "en"), ("de_CH", "de"), ("KO", "ko"), ("zh-Hant-TW", "zh")]
)
def test_a_language_with_a_region_is_that_language(
    client: TestClient, key: str, stated: str, lang: str
) -> None:
    posted = publish(client, key, publication(lang=stated, title="Prices"))
    put = client.put(f"{PATH}/other", json=publication(lang=stated), headers={KEY_HEADER: key})

    assert [response.json()["lang"] for response in (posted, put)] == [lang, lang]
    assert "ignored" not in posted.json()


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


def test_unknown_fields_may_be_nested_as_deeply_as_a_body(client: TestClient, key: str) -> None:
    text = json.dumps(publication(items=[{"question": "One?", "answer": "1", "position": "nested"}]))
    bodies = (text.replace('"nested"', "[" * depth + "]" * depth).encode() for depth in range(960, 1000))
    assert {publish(client, key, body).status_code for body in bodies} <= {201, 422}


def test_two_items_with_one_id_are_refused_by_their_numbers_unless_they_come_from_a_file(
    client: TestClient, key: str
) -> None:
    items = [{"question": f"{number}?", "answer": "Yes.", "id": "abac"[number]} for number in range(4)]
    refused = publish(client, key, publication(items=items))
    put = client.put(f"{PATH}/other", json=publication(items=items), headers={KEY_HEADER: key})
    of_file = client.put(
        f"{PATH}/other", json=publication(items=items, revision=None), headers={KEY_HEADER: key}
    )

    problem = "items[2].id is 'a', as is items[0].id: each needs its own"
    assert [(one.status_code, one.json()["problems"]) for one in (refused, put)] == [(422, [problem])] * 2
    assert (refused.json()["code"], of_file.status_code) == ("invalid-body", 201)


def test_post_does_not_use_the_slug_in_its_body(client: TestClient, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    before = client.get(f"{PATH}/{slug}").json()
    response = publish(client, key, publication(slug=slug, title="Other"))

    assert (response.status_code, response.json()["slug"]) == (201, "other")
    assert response.json()["ignored"] == ["slug"]
    assert client.get(f"{PATH}/{slug}").json() == before


def test_a_slug_is_escaped_in_the_snippet_and_the_url(
    client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "faqsvc_embed.service.storage.writer.proposed_slug", lambda title, website_name: 'a "b" <c>'
    )
    body = publish(client, key, publication()).json()

    assert body["slug"] == 'a "b" <c>'
    assert body["faqUrl"] == "http://testserver/faq/a%20%22b%22%20%3Cc%3E"
    assert body["install"]["component"] == '<FAQ slug="a &quot;b&quot; &lt;c&gt;" />'


# Idempotency-Key


def test_a_repeated_request_publishes_once(client: TestClient, key: str) -> None:
    first, second = (publish(client, key, publication(), Idempotency_Key="once") for _ in range(2))

    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert is_problem(publish(client, key, publication(title="Other"), Idempotency_Key="once"), 422)


def test_a_failed_request_does_not_use_up_its_idempotency_key(client: TestClient, key: str) -> None:
    without_website = {"items": publication()["items"], "revision": None}
    failed = publish(client, key, without_website, Idempotency_Key="once")
    corrected = publish(client, key, publication(), Idempotency_Key="once")

    assert (failed.status_code, corrected.status_code) == (422, 201)


@pytest.mark.parametrize("value", ["", "a b", "k" * 256])
def test_an_invalid_idempotency_key_is_refused(client: TestClient, key: str, value: str) -> None:
    assert is_problem(publish(client, key, publication(), Idempotency_Key=value), 422)


# Public URLs


@pytest.mark.parametrize("host", ["faq.tea.example", "127.0.0.1:8700", "[::1]:8700"])
def test_urls_have_the_origin_of_the_request(client: TestClient, key: str, host: str) -> None:
    response = publish(client, key, publication(), Host=host)

    assert response.json()["faqUrl"] == f"http://{host}/faq/{response.json()['slug']}"


def test_an_invalid_host_is_a_400_and_nothing_is_stored(
    client: TestClient, storage: Storage, key: str
) -> None:
    for host in ("", "a b", 'x"><script>', "a,b", "user@host", "h/path", "[x]", "x:port"):
        assert is_problem(publish(client, key, publication(), Host=host), 400), host
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


def test_a_new_slug_that_looks_like_another_is_refused(client: TestClient, key: str) -> None:
    marks = "\u200b\u202e\u00ad\ufe0f\u3164\u00a0"
    for slug in (" tea", "tea ", *(f"te{mark}a" for mark in marks)):
        response = client.put(f"{PATH}/{quote(slug)}", json=publication(), headers={KEY_HEADER: key})
        assert (slug, response.status_code) == (slug, 422)
        assert client.get(f"{PATH}/{quote(slug)}").status_code == 404


def test_two_spellings_of_one_slug_are_one_faq(client: TestClient, storage: Storage) -> None:
    headers = {KEY_HEADER: storage.keys.create()}
    for slug in ("caf\u00e9 \u6599\u91d1", "cafe\u0301 \u6599\u91d1"):
        assert client.put(f"{PATH}/{quote(slug)}", json=publication(), headers=headers).is_success
        assert client.get(f"{PATH}/{quote(slug)}").json()["slug"] == "caf\u00e9 \u6599\u91d1"
        assert client.get(f"/faq/{quote(slug)}").status_code == 200
    assert len(storage.overview.page(storage.sites.list()[0].id, limit=10)[0]) == 1


def problems_of(body: object) -> list[str]:
    """Return the path of each problem, which its text begins with."""
    with pytest.raises(Problem) as caught:
        parsed(encoded(body))
    return [problem.split(" ")[0] for problem in caught.value.problems]


def test_required_fields_are_reported() -> None:
    assert problems_of({}) == ["websiteUrl", "websiteName", "items"]


@pytest.mark.parametrize(
    ("items", "path"),
    [
        ([], "items"),
        ({}, "items"),
        ("ab", "items"),
        ([{}] * (MAX_ITEMS + 1), "items"),
        ([{"question": "q" * (MAX_QUESTION + 1), "answer": "a"}], "items[0].question"),
        ([{"question": "q", "answer": "a" * (MAX_ANSWER + 1)}], "items[0].answer"),
    ],
    ids=["empty", "object", "text", "too many", "long question", "long answer"],
)
def test_invalid_items_are_reported(items: object, path: str) -> None:
    assert problems_of(publication(items=items)) == [path]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("websiteUrl", "javascript:alert(1)"),
        ("websiteUrl", "https://["),
        ("websiteUrl", "https://me:secret@a.example"),
        ("websiteUrl", "https://℀.example"),  # which some decompose to one with a slash
        ("websiteUrl", ["https://a.example"]),
        ("websiteUrl", "https://a.example/" + "a" * 2000),
        ("websiteName", ""),
        ("title", ""),
        ("title", "t" * 201),
        ("lang", ["en"]),
        ("slug", ""),
        ("slug", "a/b"),
        ("slug", 7),
        ("slug", "s" * 201),
    ],
)
def test_an_invalid_field_is_reported(field: str, value: object) -> None:
    assert problems_of(publication(**{field: value})) == [field]


def test_all_problems_are_reported_together(client: TestClient, key: str) -> None:
    items = [{"question": "Good?", "answer": "Yes."}, {"question": " ", "answer": 5}, "no object", {}]
    response = publish(client, key, publication(items=items, lang="xx", websiteName=None))

    assert is_problem(response, 422)
    assert [problem.split(" ")[0] for problem in response.json()["problems"]] == [
        "websiteName",
        "items[1].question",
        "items[1].answer",
        "items[2]",
        "items[3].question",
        "items[3].answer",
        "lang",
    ]


def test_the_largest_body_makes_a_record_that_clients_accept() -> None:
    def body_of(answer: str) -> bytes:
        items = [{"question": "q", "answer": answer}] * MAX_ITEMS
        return json.dumps(publication(items=items), separators=(",", ":")).encode()

    body = body_of("a" * ((MAX_BODY - len(body_of(""))) // MAX_ITEMS))
    assert MAX_BODY - MAX_ITEMS < len(body) <= MAX_BODY
    request = parsed(body)
    items = tuple(Item(index, item.question, item.answer) for index, item in enumerate(request.items))
    record = FAQ("s" * 200, "t" * 200, str(request.website_name), "en", items).to_json()

    assert len(record.encode()) <= Settings(base_url="https://faq.example.com").max_bytes


def test_an_introduction_is_kept_until_it_is_changed_or_removed(client: TestClient, key: str) -> None:
    headers = {"X-Plugin-Key": key}

    def patched(**body: object) -> object:
        etag = client.get(f"{PATH}/tea/revisions/{revisions[-1]}", headers=headers).headers["etag"]
        response = client.patch(f"{PATH}/tea", json=body, headers={**headers, "If-Match": etag})
        assert response.status_code == 200, response.text
        revisions.append(response.json()["revision"])
        return client.get(f"{PATH}/tea").json().get("introduction")

    body = publication(introduction="We sell tea.", lang="en")
    revisions = [client.put(f"{PATH}/tea", json=body, headers=headers).json()["revision"]]
    [first] = body["items"][:1]
    assert client.get(f"{PATH}/tea").json()["introduction"] == "We sell tea."
    assert patched(changes=[{"question": first["question"], "answer": "New."}]) == "We sell tea."
    assert patched(introduction="We sell *tea*.", title="Tea") == "We sell *tea*."
    assert patched(introduction=None) is None
    assert client.get(f"{PATH}/tea").json()["title"] == "Tea"


@pytest.mark.parametrize("introduction", ["", "x" * 5001, 1])
def test_an_invalid_introduction_is_refused(client: TestClient, key: str, introduction: object) -> None:
    response = publish(client, key, publication(introduction=introduction))

    assert (response.status_code, len(response.json()["problems"])) == (422, 1)
    assert "introduction" in response.json()["problems"][0]
