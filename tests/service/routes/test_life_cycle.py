"""The life cycle of an FAQ over HTTP: PUT, DELETE, lists, revisions and previews."""

from base64 import urlsafe_b64encode
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.page.preview import REFUSED
from faqsvc_embed.service import app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, key_of_another_site, publication, publish
from tests.service.storage.writes import a_month_later, put
from tests.support.clock import Clock
from tests.support.waiting import wait_until

PRICING = f"{PATH}/pricing"


class Owner:
    """A client with an API key."""

    def __init__(self, client: TestClient, key: str) -> None:
        self.client = client
        self.key = key

    def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        json = {} if body is None else {"json": body}
        return self.client.request(method, path, headers={"X-Plugin-Key": self.key, **names}, **json)  # type: ignore[arg-type]

    def put(self, path: str = PRICING, *, headers: Any = None, **changes: Any) -> httpx2.Response:
        return self.send("PUT", path, publication(**changes), **(headers or {}))


@pytest.fixture
def owner(client: TestClient, key: str) -> Owner:
    """The owner of a site."""
    return Owner(client, key)


def items_of(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"question": question, "answer": answer} for question, answer in pairs]


def code(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_put_creates_and_then_writes_revisions(owner: Owner) -> None:
    created, again = owner.put(title="One"), owner.put(title="Two")
    read = owner.client.get(PRICING)

    assert (created.status_code, again.status_code) == (201, 200)
    assert created.headers["location"] == f"http://testserver{PRICING}"
    assert (again.json()["slug"], again.json()["revision"], again.json()["state"]) == (
        "pricing",
        2,
        "published",
    )
    assert again.headers["etag"] == read.headers["etag"]
    assert read.json()["title"] == "Two"


def test_put_keeps_the_call_to_action(owner: Owner, storage: Storage) -> None:
    owner.put(title="One")
    record = owner.client.get(PRICING).json()
    put(storage, FAQ.from_dict({**record, "cta": {"label": "Buy"}}))
    owner.put(title="Two", lang="de")
    owner.put(title="Three")
    assert owner.client.get(PRICING).json() == {**record, "title": "Three", "cta": {"label": "Buy"}}
    assert owner.client.get(f"{PRICING}?lang=de").json()["cta"] is None


def test_put_with_an_invalid_slug_is_a_422(owner: Owner) -> None:
    reasons = dict.fromkeys(("%2E%2E", "a%5Cb", "s" * 201, "%00", "%0A"), "slug")
    reasons |= dict.fromkeys(("a%0A", "a%C2%85"), "control character")
    for slug, reason in reasons.items():
        refused = owner.put(f"{PATH}/{slug}")
        assert code(refused) == (422, "invalid-parameter")
        assert reason in refused.text


def test_if_match_accepts_an_earlier_revision_with_the_content_of_the_newest(owner: Owner) -> None:
    tag = owner.put().headers["etag"]
    owner.put(title="Two")
    owner.put()
    assert owner.put(title="Three", headers={"If_Match": tag}).json()["revision"] == 4


def test_preconditions(owner: Owner) -> None:
    first = owner.put(headers={"If_None_Match": "*"})
    tag = first.headers["etag"]
    second = owner.put(title="Two", headers={"If_Match": tag})
    stale = owner.put(title="Three", headers={"If_Match": tag})
    weak = owner.put(title="Four", headers={"If_Match": f"W/{second.headers['etag']}"})

    assert (first.status_code, second.status_code, weak.status_code) == (201, 200, 200)
    assert code(stale) == (412, "revision-conflict")
    assert stale.json()["revision"] == 2
    for headers in ({"If_None_Match": '"a"'}, {"If_Match": "x"}):
        assert code(owner.put(headers=headers)) == (422, "invalid-parameter")
    for method, path in (("DELETE", PRICING), ("POST", f"{PRICING}/revisions/1/publish")):
        assert code(owner.send(method, path, If_Match=tag)) == (412, "revision-conflict")


def test_a_change_of_the_website_address_alone_is_not_overwritten(owner: Owner) -> None:
    tag = owner.put().headers["etag"]
    moved = owner.put(websiteUrl="https://moved.example", headers={"If_Match": tag})
    stale = owner.put(title="Two", headers={"If_Match": tag})

    assert moved.headers["etag"] == owner.client.get(PRICING).headers["etag"] != tag
    assert code(stale) == (412, "revision-conflict")


def test_a_deleted_faq_is_gone_everywhere(owner: Owner, storage: Storage) -> None:
    owner.put()
    deleted = owner.send("DELETE", PRICING)
    record, page = owner.client.get(PRICING), owner.client.get("/faq/pricing")
    markdown = owner.client.get("/faq/pricing.md", headers={"Accept": "text/markdown"})

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert code(record) == (410, "gone")
    assert record.headers["access-control-allow-origin"] == "*"
    assert record.headers["cache-control"] == page.headers["cache-control"] == "no-store"
    assert (page.status_code, page.headers["content-type"]) == (410, "text/html; charset=utf-8")
    assert code(markdown) == (410, "gone")
    assert owner.send("DELETE", PRICING).status_code == 204
    assert owner.send("POST", f"{PRICING}/revisions/1/publish").status_code == 200
    assert owner.client.get(PRICING).status_code == 200


def test_a_purged_faq_is_gone_with_its_history(owner: Owner) -> None:
    owner.put()
    assert owner.send("DELETE", f"{PRICING}?purge=true").status_code == 204

    assert code(owner.client.get(PRICING)) == (410, "gone")
    assert code(owner.put()) == (410, "gone")
    assert code(owner.send("GET", f"{PRICING}/revisions")) == (410, "gone")
    assert code(owner.send("DELETE", f"{PRICING}?purge=maybe")) == (422, "invalid-parameter")


WRITES = [
    ("POST", PATH, publication()),
    ("PUT", PRICING, publication()),
    ("PATCH", PRICING, {"title": "New"}),
    ("DELETE", PRICING, None),
    ("POST", f"{PRICING}/restore", None),
    ("POST", f"{PRICING}/revisions/1/publish", None),
    ("POST", f"{PRICING}/preview", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_write_with_an_unknown_parameter_changes_nothing(
    owner: Owner, method: str, path: str, body: object
) -> None:
    owner.put(title="One")
    owner.put(title="Two")
    many = "&".join(f"x{number}" for number in range(50))
    refused = owner.send(method, f"{path}?language=de&{many}", body, If_Match="*")
    assert code(refused) == (422, "invalid-parameter")
    assert all(part in refused.text for part in ("'language'", "'x18'", "and 31 more"))
    assert "x19" not in refused.text
    assert owner.client.get(PRICING).json()["title"] == "Two"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", f"{PRICING}?lang=de&lang=en"),
        ("GET", "/faq/pricing?lang=de&x=1&lang=de"),
        ("GET", "/api/v1/faqs?state=draft&state=published"),
        ("DELETE", f"{PRICING}?lang=de&lang=en"),
        ("DELETE", f"{PRICING}?purge=now&purge=false"),
    ],
)
def test_a_parameter_that_is_in_the_address_twice_is_refused(owner: Owner, method: str, address: str) -> None:
    for lang in ("en", "de"):
        owner.put(f"{PRICING}?lang={lang}", title=lang)
        for path in (PRICING, "/faq/pricing"):
            assert owner.client.get(f"{path}?lang={lang}").status_code == 200
    assert code(owner.send(method, address)) == (400, "bad-request")
    assert [owner.client.get(f"{PRICING}?lang={lang}").json()["title"] for lang in ("en", "de")] == [
        "en",
        "de",
    ]


@pytest.mark.parametrize(
    ("method", "path"), [(method, path) for method, path, body in WRITES if body is None]
)
def test_a_write_with_a_language_in_a_body_that_it_does_not_read_changes_nothing(
    owner: Owner, method: str, path: str
) -> None:
    owner.put(title="One")
    owner.put(f"{PRICING}?lang=de", title="Zwei")
    owner.send("DELETE", f"{PRICING}?lang=de")
    for body in ({"lang": "de"}, ["de"], "de", 0):
        assert code(owner.send(method, path, body)) == (422, "invalid-body")
    assert owner.client.get(f"{PRICING}?lang=de").json()["title"] == "One"
    nothings: list[object] = [{}, [], None]
    for nothing in nothings:
        assert owner.send(method, path, nothing).status_code != 422


def test_history(owner: Owner) -> None:
    owner.put(title="One", websiteUrl="https://one.example")
    before = owner.client.get(PRICING)
    owner.put(title="Two", draft=True)
    revisions = owner.send("GET", f"{PRICING}/revisions").json()
    page = owner.send("GET", f"{PRICING}/revisions?limit=1").json()
    first = owner.send("GET", f"{PRICING}/revisions/1")

    assert [(entry["revision"], entry["state"], entry["key"]) for entry in revisions["items"]] == [
        (2, "draft", "tests"),
        (1, "published", "tests"),
    ]
    assert revisions["next"] is None
    rest = owner.send("GET", f"{PRICING}/revisions?limit=1&after={page['next']}").json()
    assert [page["items"][0]["revision"], rest["items"][0]["revision"]] == [2, 1]
    assert (first.json()["faq"], first.json()["websiteUrl"]) == (before.json(), "https://one.example")
    assert first.headers["etag"] == before.headers["etag"]
    assert code(owner.send("GET", f"{PRICING}/revisions/3")) == (404, "not-found")
    assert code(owner.send("GET", f"{PRICING}/revisions/x")) == (404, "not-found")
    assert code(owner.send("GET", f"{PRICING}/revisions?lang=xx")) == (422, "invalid-parameter")
    assert code(owner.send("GET", f"{PRICING}/revisions?lang=fr")) == (404, "not-found")


def test_an_old_revision_is_published_again_byte_for_byte(owner: Owner) -> None:
    owner.put(title="One")
    before = owner.client.get(PRICING).content
    owner.put(title="Two")
    again = owner.send("POST", f"{PRICING}/revisions/1/publish")

    assert (again.status_code, again.json()["revision"], again.json()["state"]) == (200, 3, "published")
    assert owner.client.get(PRICING).content == before


def test_the_content_of_the_newest_revision_is_not_published_again(owner: Owner) -> None:
    owner.put(title="One")
    owner.put(title="Two")
    first = owner.send("POST", f"{PRICING}/revisions/1/publish")
    assert owner.send("POST", f"{PRICING}/revisions/1/publish").json() == first.json()
    owner.put(title="Two", draft=True)
    assert owner.send("POST", f"{PRICING}/revisions/2/publish").json()["revision"] == 4
    history = owner.send("GET", f"{PRICING}/revisions").json()["items"]
    assert [(entry["revision"], entry["state"]) for entry in history] == [
        (4, "published"),
        *((number, "superseded") for number in (3, 2, 1)),
    ]


@pytest.mark.parametrize("purge", ["now", "true"], ids=["by law", "in the bin for a month"])
def test_an_faq_that_was_purged_language_by_language_can_be_written_after_an_admin_allows_it(
    owner: Owner, storage: Storage, clock: Clock, purge: str
) -> None:
    owner.put(title="One")
    owner.put(title="Eins", lang="de")
    owner.send("DELETE", f"{PRICING}?lang=de&purge=now")
    owner.send("DELETE", f"{PRICING}?lang=en&purge={purge}")
    a_month_later(storage, clock)
    assert (code(owner.client.get(PRICING)), code(owner.put())) == ((410, "gone"), (410, "gone"))
    assert [site.faq_count for site in storage.sites.list()] == [0]
    storage.removal.unblock("pricing")
    assert owner.put().status_code == 201


def test_a_full_bin_is_emptied_in_portions_between_which_others_can_write(
    owner: Owner, storage: Storage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    slugs = [f"{PATH}/tea-{number}" for number in range(45)]
    for slug in slugs:
        owner.put(slug)
        owner.send("DELETE", f"{slug}?purge=true")
    assert 0 < a_month_later(storage, clock) < len(slugs)
    monkeypatch.setattr(app, "FIRST_CLEARING", 0.01)
    with TestClient(app.create_app(storage)):
        wait_until(lambda: owner.send("GET", "/api/v1/faqs?state=binned").json()["items"] == [])


def test_what_was_purged_is_not_there_to_be_removed_again(owner: Owner) -> None:
    owner.put(title="One")
    owner.put(title="Eins", lang="de")
    german = f"{PRICING}?lang=de"
    purged = [owner.send("DELETE", f"{german}&purge=now") for _ in range(2)]
    others = [owner.send("DELETE", url) for url in (german, f"{german}&purge=true")]
    assert (purged[0].status_code, code(purged[1])) == (204, (404, "not-found"))
    assert [code(response) for response in others] == [(404, "not-found")] * 2
    assert owner.client.get(german).json()["lang"] == "en"

    purged = [owner.send("DELETE", f"{PRICING}?purge=now") for _ in range(2)]
    assert (purged[0].status_code, code(purged[1])) == (204, (410, "gone"))


def test_if_none_match_only_creates_an_faq_or_the_translation_that_the_address_names(owner: Owner) -> None:
    only_new: Any = {"headers": {"If-None-Match": "*"}}
    assert owner.put(title="One", **only_new).status_code == 201
    assert code(owner.put(title="Two", **only_new)) == (412, "revision-conflict")
    assert code(owner.put(title="Zwei", lang="de", **only_new)) == (412, "revision-conflict")
    assert owner.put(f"{PRICING}?lang=de", title="Eins", **only_new).status_code == 200
    refused = owner.put(f"{PRICING}?lang=de", title="Zwei", **only_new)
    assert code(refused) == (412, "revision-conflict")
    assert refused.json()["current"]["revision"] == 1
    assert owner.client.get(f"{PRICING}?lang=de").json()["title"] == "Eins"


def test_a_conflict_says_whether_the_newest_revision_is_a_draft(owner: Owner) -> None:
    etag = owner.put(title="One").headers["etag"]
    for title, is_draft in (("Two", True), ("Three", False)):
        owner.put(title=title, draft=is_draft)
        current = owner.put(title="Mine", headers={"If-Match": etag}).json()["current"]
        assert (current["state"], current["hasDraft"]) == ("published", is_draft)


def test_the_list_has_every_faq_of_the_site(owner: Owner) -> None:
    owner.put(title="Prices")
    owner.put(f"{PRICING}?lang=de", title="Preise")
    owner.put(f"{PATH}/new", draft=True)
    everything = owner.send("GET", "/api/v1/faqs").json()
    first = owner.send("GET", "/api/v1/faqs?limit=1").json()
    second = owner.send("GET", "/api/v1/faqs", None).json()

    assert {entry["slug"]: (entry["state"], entry["languages"]) for entry in everything["items"]} == {
        "new": ("draft", ["en"]),
        "pricing": ("published", ["en", "de"]),
    }
    assert (len(first["items"]), first["next"] is None, second["next"]) == (1, False, None)
    for times in (b"2026-01-01 ", b"0001-01-01T00:00+09:00 9999-12-31"):
        after = urlsafe_b64encode(times + b" \x00").decode()
        assert owner.send("GET", f"/api/v1/faqs?after={after}").status_code == 200
    for query in ("limit=0", "limit=501", "limit=x", "after=%00", "state=gone", "lang=xx"):
        assert code(owner.send("GET", f"/api/v1/faqs?{query}")) == (422, "invalid-parameter")


def test_nobody_is_told_that_there_is_a_draft(owner: Owner) -> None:
    owner.put(f"{PATH}/drafted", draft=True)
    for path in (PATH, "/faq"):
        drafted, unknown = (owner.client.get(f"{path}/{slug}") for slug in ("drafted", "unknown"))
        assert (drafted.status_code, drafted.text) == (404, unknown.text.replace("unknown", "drafted"))


def test_a_draft_is_read_with_a_preview_token_only(owner: Owner) -> None:
    owner.put(title="Published")
    owner.put(title="Secret draft", draft=True)
    preview = owner.send("POST", f"{PRICING}/preview")
    draft = owner.client.get(PRICING, headers={"X-FAQ-Preview": preview.json()["token"]})
    foreign = owner.client.get(PRICING, headers={"X-FAQ-Preview": "wrong"})
    page = owner.client.get("/faq/pricing", params={"faq_preview": preview.json()["token"]})

    assert (preview.status_code, draft.json()["title"]) == (201, "Secret draft")
    assert draft.headers["cache-control"] == page.headers["cache-control"] == "no-store"
    assert page.headers["x-robots-tag"] == "noindex"
    assert "Secret draft" in page.text
    assert "application/ld+json" not in page.text
    assert code(foreign) == (403, "invalid-preview")
    assert code(owner.send("POST", f"{PRICING}/preview?lang=de")) == (404, "not-found")
    for path in (PRICING, "/faq/pricing", "/faq/pricing.md", "/faq/pricing?faq_preview=wrong", "/llms.txt"):
        assert "Secret draft" not in owner.client.get(path).text


def test_a_hosted_page_says_that_its_preview_token_is_not_valid(owner: Owner) -> None:
    for lang, words in REFUSED.items():
        owner.put(lang=lang)
        page = owner.client.get(f"/faq/pricing?faq_preview=wrong&lang={lang}")
        assert words in page.text
    assert "application/ld+json" not in page.text
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    for accept in ("application/json", "text/markdown"):
        headers = {"Accept": accept}
        assert owner.client.get("/faq/pricing?faq_preview=wrong", headers=headers).status_code == 406
    assert owner.client.get("/faq/pricing").headers["cache-control"] == "public, max-age=300"


def test_a_scope_limits_what_a_key_may_do(client: TestClient, storage: Storage, key: str) -> None:
    reader, drafter = (Owner(client, storage.keys.create(scope=scope)) for scope in ("read", "draft"))
    Owner(client, key).put()

    assert reader.send("GET", "/api/v1/faqs").status_code == 200
    assert code(reader.put(draft=True)) == (403, "missing-scope")
    assert drafter.put(draft=True).status_code == 200
    assert drafter.send("POST", f"{PRICING}/preview").status_code == 201
    assert code(drafter.put()) == (403, "missing-scope")
    assert code(drafter.send("DELETE", PRICING)) == (403, "missing-scope")
    assert code(drafter.send("POST", f"{PRICING}/revisions/2/publish")) == (403, "missing-scope")
    assert publish(client, drafter.key, publication(draft=True)).json()["state"] == "draft"


def test_another_site_sees_nothing_but_what_is_public(owner: Owner, storage: Storage) -> None:
    other = Owner(owner.client, key_of_another_site(storage))
    owner.put()
    owner.put(f"{PATH}/draft", draft=True)
    owner.put(f"{PATH}/taken-back")
    owner.send("DELETE", f"{PATH}/taken-back")
    before = owner.client.get(PRICING).json()
    for slug in ("pricing", "draft", "taken-back"):
        path = f"{PATH}/{slug}"
        expected = (403, "not-your-site") if slug == "pricing" else (404, "not-found")
        assert code(other.put(path)) == code(other.put(f"{path}?lang=en")) == expected
        for method, rest in (
            ("DELETE", ""),
            ("GET", "/revisions"),
            ("GET", "/revisions/1"),
            ("POST", "/revisions/1/publish"),
            ("POST", "/preview"),
            ("POST", "/restore"),
        ):
            for query in ("", "?lang=en", "?lang=de") if rest != "/restore" else ("",):
                assert code(other.send(method, path + rest + query)) == expected
    assert other.send("GET", "/api/v1/faqs").json() == {"items": [], "next": None}
    assert owner.client.get(PRICING).json() == before


def test_a_full_site_is_a_409(storage: Storage, key: str) -> None:
    from faqsvc_embed.service import create_app

    with TestClient(create_app(storage, max_faqs=1)) as client:
        full = Owner(client, key)
        full.put()
        assert code(full.put(f"{PATH}/second")) == (409, "quota-exceeded")
        assert full.put(title="Two").status_code == 200


TEXTS = {
    "en": items_of(
        ("What does it cost?", "Nothing."), ("May I cancel?", "Any time."), ("Who are you?", "We.")
    ),
    "de": items_of(("Was kostet es?", "Nichts."), ("Wann?", "Das ist morgen."), ("Wer sind Sie?", "Wir.")),
    "ko": items_of(("얼마인가요?", "무료입니다.")),
    "ja": items_of(("いくらですか？", "無料です。")),
    "zh": items_of(("多少钱？", "免费。")),
    "one in English": items_of(("What does it cost?", "Nothing.")),
    "uncertain": items_of(("Heron?", "Heron.")),
}


@pytest.mark.parametrize("lang", ["ko", "ja", "zh", "de"])
def test_a_missing_language_is_detected(owner: Owner, lang: str) -> None:
    assert owner.put(items=TEXTS[lang]).json()["lang"] == lang
    assert publish(owner.client, owner.key, publication(items=TEXTS[lang])).json()["lang"] == lang


@pytest.mark.parametrize(
    ("default", "text", "lang"),
    [
        ("en", "ko", "ko"),
        ("en", "ja", "ja"),
        ("de", "zh", "zh"),
        ("en", "de", "de"),
        ("de", "en", "en"),
        ("de", "one in English", "de"),
        ("ko", "en", "en"),
        ("zh", "de", "de"),
        ("ko", "zh", "zh"),
        ("zh", "ja", "ja"),
        ("ja", "ko", "ko"),
        ("ja", "zh", "ja"),
        ("ko", "ko", "ko"),
        ("ko", "one in English", "ko"),
        ("ko", "uncertain", "ko"),
    ],
)
def test_without_a_language_a_revision_is_in_the_detected_one_if_that_is_certain(
    owner: Owner, default: str, text: str, lang: str
) -> None:
    owner.put(items=TEXTS[default], lang=default)
    before = owner.client.get(f"{PRICING}?lang={default}").json()
    written = owner.put(items=TEXTS[text]).json()
    again = owner.put(items=TEXTS[text], title="Again").json()

    number = 2 if lang == default and text != default else 1
    assert (written["lang"], written["revision"]) == (lang, number)
    assert (again["lang"], again["revision"]) == (lang, number + 1)
    after = owner.client.get(f"{PRICING}?lang={default}").json()
    assert (after == before) is (lang != default)
    assert owner.client.get(f"{PRICING}?lang={lang}").json()["lang"] == lang


def test_a_revision_in_another_script_does_not_match_the_tag_of_the_default_language(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    response = owner.put(items=TEXTS["ko"], headers={"If_Match": etag})

    assert code(response) == (412, "revision-conflict")
    assert response.json()["detail"] == "The FAQ 'pricing' has no translation in ko"
    assert owner.put(headers={"If_Match": etag}).json()["lang"] == "en"


@pytest.mark.parametrize("had_draft", [False, True])
def test_a_translation_does_not_make_an_faq_public_again_that_was_unpublished_meanwhile(
    owner: Owner, had_draft: bool
) -> None:
    owner.put()
    german = f"{PRICING}?lang=de"
    condition = {"If-None-Match": "*"}
    if had_draft:
        condition = {"If-Match": owner.put(german, draft=True).headers["etag"]}
    owner.send("DELETE", PRICING)
    assert code(owner.put(german, headers=condition)) == (412, "revision-conflict")
    assert owner.client.get(PRICING).status_code == 410
    assert owner.put(german, title="Preise", draft=True).json()["state"] == "draft"
    assert owner.put(german).json()["state"] == "published"  # without a condition
