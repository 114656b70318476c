"""The tools over the life of an FAQ: lists, changes, drafts, and taking back."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from faqsvc_embed import FAQClient, FAQNotFound
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.server import running
from faqsvc_embed.service.storage import open_storage
from tests.mcp.support import TEA, call, content, error, output_schema, tokens
from tests.support.faulty import FaultyServer

pytestmark = pytest.mark.system

ITEMS: Final = [{"question": "Open?", "answer": "Yes, **always**."}]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, FAQClient]]:
    """Clients of our service with keys of each scope, and one of another site."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service')}/faqsvc.db")
    first, other = storage.sites.create("first"), storage.sites.create("other")
    keys = {scope: storage.keys.create(site=first, scope=scope) for scope in ("read", "draft", "publish")}
    keys["other"] = storage.keys.create(site=other)
    with running(create_app(storage)) as address:
        clients = {name: FAQClient(address, key) for name, key in keys.items()}
        yield clients
        for client in clients.values():
            client.close()


@pytest.fixture
def owner(clients: dict[str, FAQClient]) -> FAQClient:
    """The client that may do everything."""
    return clients["publish"]


def put(client: FAQClient, slug: str, **fields: Any) -> None:
    """Publish an FAQ about tea."""
    given = {"website_url": "https://www.tea.example", "website_name": "Tea & Sons", "lang": "en"}
    client.publish_faq(slug=slug, **{**given, "items": [("What does it cost?", "Nothing.")], **fields})


def test_an_update_replaces_the_items_and_keeps_the_rest(owner: FAQClient) -> None:
    put(owner, "kept", title="Prices", answer_format="markdown")
    written = content(call(owner, "update_faq", {"slug": "kept", "items": ITEMS}))
    Draft202012Validator(output_schema("update_faq")).validate(written)
    assert (written["slug"], written["revision"], written["state"]) == ("kept", 2, "published")
    faq = owner.get_faq("kept")
    assert (faq.title, faq.website_name, faq.answer_format, faq.lang) == (
        "Prices",
        "Tea & Sons",
        "markdown",
        "en",
    )
    assert [(item.question, item.answer) for item in faq.items] == [("Open?", "Yes, **always**.")]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_what_an_update_leaves_out_does_not_come_from_a_draft(owner: FAQClient, lang: str) -> None:
    slug = f"relaunch-{lang}"
    put(owner, slug, title="Prices")
    put(owner, slug, title="Secret", website_name="Secret", answer_format="markdown", draft=True)
    updated = content(call(owner, "update_faq", {"slug": slug, "lang": lang, "items": ITEMS}))
    assert updated["state"] == "published"
    faq = owner.get_faq(slug, lang=lang)
    assert (faq.website_name, faq.answer_format) == ("Tea & Sons", "text")
    assert faq.title == ("Prices" if lang == "en" else "Tea & Sons FAQ")  # by default named after the website


def test_what_an_update_to_a_draft_leaves_out_comes_from_the_previous_draft(owner: FAQClient) -> None:
    put(owner, "continued", title="Prices")
    put(owner, "continued", title="Prices from June", draft=True)
    assert content(call(owner, "update_faq", {"slug": "continued", "items": ITEMS, "draft": True}))
    newest = owner.newest_revision("continued")
    assert (newest.state, newest.faq.title) == ("draft", "Prices from June")


def test_an_update_in_another_language_is_a_translation(owner: FAQClient) -> None:
    put(owner, "translated", title="Prices")
    arguments = {"slug": "translated", "lang": "de", "items": [{"question": "Offen?", "answer": "Ja."}]}
    assert content(call(owner, "update_faq", {**arguments, "title": "Preise"}))["lang"] == "de"
    assert owner.get_faq("translated").title == "Prices"
    assert owner.get_faq("translated", lang="de").title == "Preise"


def test_a_preview_of_an_update_writes_nothing(owner: FAQClient) -> None:
    put(owner, "unchanged")
    arguments = {"slug": "unchanged", "items": ITEMS, "preview": True}
    shown = content(call(owner, "update_faq", arguments))
    Draft202012Validator(output_schema("update_faq")).validate(shown)
    assert (shown["preview"]["websiteName"], shown["preview"]["items"]) == ("Tea & Sons", ITEMS)
    assert len(owner.revisions("unchanged")) == 1


@pytest.mark.parametrize("name", ["publish_faq", "update_faq"])
def test_a_key_for_drafts_writes_a_draft_and_says_where_to_look(
    clients: dict[str, FAQClient], owner: FAQClient, name: str
) -> None:
    put(owner, "drafted")
    arguments = TEA if name == "publish_faq" else {"slug": "drafted", "items": ITEMS}
    written = content(call(clients["draft"], name, arguments))
    Draft202012Validator(output_schema(name)).validate(written)
    assert written["state"] == "draft"
    assert written["previewUrl"].startswith(f"{owner.settings.base_url}/faq/{written['slug']}?faq_preview=")
    assert owner.newest_revision(written["slug"]).state == "draft"
    if name == "publish_faq":
        with pytest.raises(FAQNotFound):
            owner.get_faq(written["slug"])


def test_a_draft_can_be_asked_for(owner: FAQClient) -> None:
    put(owner, "asked")
    written = content(call(owner, "update_faq", {"slug": "asked", "items": ITEMS, "draft": True}))
    assert (written["state"], "previewUrl" in written) == ("draft", True)
    assert owner.get_faq("asked").items[0].answer == "Nothing."


def test_an_faq_is_taken_back_by_the_address_of_its_page(owner: FAQClient) -> None:
    put(owner, "taken")
    put(owner, "taken", lang="de")
    page = f"{owner.settings.base_url}/faq/taken"
    assert content(call(owner, "unpublish_faq", {"slug": page, "lang": "de"}))["lang"] == "de"
    assert owner.get_faq("taken").lang == "en"
    gone = content(call(owner, "unpublish_faq", {"slug": page}))
    Draft202012Validator(output_schema("unpublish_faq")).validate(gone)
    assert gone["state"] == "unpublished"
    assert "410" in error(call(owner, "get_faq", {"slug": "taken"}))


@pytest.mark.parametrize(
    "address",
    [
        "{}/faq/a%20b",
        "{}/faq/a%20b.md?lang=en",
        "{}/faq/a%20b/#x",
        "{}/api/v1/faq/a%20b/revisions",
        "{}/desk/faqs/a%20b/history",
        "https://faq.example.com/faq/a%20b",
        "a b",
    ],
)
def test_an_address_stands_for_its_slug(owner: FAQClient, address: str) -> None:
    put(owner, "a b")
    found = content(call(owner, "get_faq", {"slug": address.format(owner.settings.base_url)}))
    assert found["slug"] == "a b"


def in_two_languages(client: FAQClient, slug: str) -> None:
    """Publish an FAQ in English and German."""
    put(client, slug)
    put(client, slug, lang="de", items=[("Was kostet es?", "Nichts.")])


PATHS_IN_GERMAN: Final = [
    "/faq/{}?lang=de",
    "/faq/{}?lang=de-AT",
    "/faq/{}.md?lang=de",
    "/api/v1/faq/{}?lang=de",
    "/api/v1/faq/{}/revisions?limit=1&lang=de",
    "/desk/faqs/{}?lang=de",
]


@pytest.mark.parametrize("path", PATHS_IN_GERMAN)
@pytest.mark.parametrize("lang", [{}, {"lang": "de"}])
def test_an_address_stands_for_its_language(owner: FAQClient, path: str, lang: dict[str, str]) -> None:
    in_two_languages(owner, "heron")
    target = {"slug": owner.settings.base_url + path.format("heron"), **lang}
    assert content(call(owner, "get_faq", target))["lang"] == "de"
    assert content(call(owner, "get_faq_jsonld", target))["mainEntity"][0]["name"] == "Was kostet es?"
    offen = [{"question": "Offen?", "answer": "Ja."}]
    assert content(call(owner, "update_faq", {**target, "items": offen}))["lang"] == "de"
    assert owner.get_faq("heron", lang="de").items[0].question == "Offen?"
    assert owner.get_faq("heron").items[0].question == "What does it cost?"
    assert content(call(owner, "unpublish_faq", target))["lang"] == "de"
    assert owner.get_faq("heron", lang="de").lang == "en"


@pytest.mark.parametrize(
    ("query", "lang", "named"),
    [
        ("lang=de", "fr", ("'de'", "'fr'")),
        ("lang=de&lang=en", None, ("'de'", "'en'")),
        ("lang=xx", None, ("'xx'",)),
        ("lang=", "de", ("''",)),
    ],
)
@pytest.mark.parametrize("name", ["get_faq", "update_faq", "unpublish_faq"])
def test_a_language_that_is_invalid_or_contradicts_is_refused(
    owner: FAQClient, name: str, query: str, lang: str | None, named: tuple[str, ...]
) -> None:
    in_two_languages(owner, "clear")
    before = [owner.newest_revision("clear", lang=of) for of in ("en", "de")]
    arguments = {"items": ITEMS} if name == "update_faq" else {}
    address = f"{owner.settings.base_url}/faq/clear?{query}"
    message = error(call(owner, name, {"slug": address, "lang": lang, **arguments}))
    assert all(value in message for value in named)
    assert [owner.newest_revision("clear", lang=of) for of in ("en", "de")] == before


@pytest.mark.parametrize("name", ["update_faq", "unpublish_faq"])
@pytest.mark.parametrize("path", ["/faq/same", "/api/v1/faq/same"])
def test_an_address_of_another_service_changes_nothing(owner: FAQClient, name: str, path: str) -> None:
    put(owner, "same")
    before = owner.newest_revision("same")
    address = f"https://staging.other.example{path}"
    arguments = {"items": [{"question": "Who?", "answer": "We."}]} if name == "update_faq" else {}
    assert "slug" in error(call(owner, name, {"slug": address, **arguments}))
    assert owner.newest_revision("same") == before


@pytest.mark.parametrize(
    "address",
    [
        "https://shop.example/same",
        "{}/same",
        "{}/other/faq/same",
        "{}",
        "http://[/faq/same",
    ],
)
@pytest.mark.parametrize("name", ["get_faq", "unpublish_faq"])
def test_an_address_that_is_not_of_an_faq_of_the_service_is_refused(
    owner: FAQClient, name: str, address: str
) -> None:
    put(owner, "same")
    address = address.format(owner.settings.base_url)
    assert "slug" in error(call(owner, name, {"slug": address}))
    assert owner.get_faq("same").slug == "same"


def test_an_address_that_is_not_utf_8_stands_for_no_slug(owner: FAQClient) -> None:
    put(owner, "caf\ufffd")
    assert "slug" in error(call(owner, "unpublish_faq", {"slug": f"{owner.settings.base_url}/faq/caf%E9"}))
    assert owner.get_faq("caf\ufffd").lang == "en"


def test_a_list_has_drafts_and_can_be_searched(owner: FAQClient, clients: dict[str, FAQClient]) -> None:
    put(owner, "listed-1", title="Shipping")
    put(owner, "listed-2", title="Hidden", draft=True)
    found = content(call(clients["read"], "list_faqs", {"query": "LISTED-"}))
    Draft202012Validator(output_schema("list_faqs")).validate(found)
    assert [(faq["slug"], faq["state"]) for faq in found["items"]] == [
        ("listed-2", "draft"),
        ("listed-1", "published"),
    ]
    assert content(call(owner, "list_faqs", {"query": "listed-", "offset": 1}))["items"] == found["items"][1:]
    assert content(call(clients["other"], "list_faqs", {})) == {"items": [], "total": 0}


def test_a_long_list_is_cut(client: FAQClient, faulty: FaultyServer) -> None:
    import json

    from tests.support import faulty as behaviours

    entry = {
        "title": "Preise " * 30,
        "languages": ["de"],
        "state": "published",
        "revision": 1,
        "updatedAt": "2026-11-22T12:00:00Z",
    }
    items = [{"slug": f"faq-{number}", **entry} for number in range(400)]
    faulty.behave(behaviours.body(json.dumps({"items": items, "next": None}).encode()))
    result = call(client, "list_faqs", {})
    assert tokens(result) < 25_000
    shown = content(result)
    assert (shown["total"], shown["nextOffset"]) == (400, len(shown["items"]))


@pytest.mark.parametrize(
    ("who", "name", "arguments", "advice"),
    [
        ("other", "update_faq", {"slug": "mine", "items": ITEMS}, "list_faqs"),
        ("other", "unpublish_faq", {"slug": "mine"}, "list_faqs"),
        ("read", "update_faq", {"slug": "mine", "items": ITEMS}, "scope"),
        ("draft", "unpublish_faq", {"slug": "mine"}, "scope"),
        ("publish", "update_faq", {"slug": "no-such", "items": ITEMS}, "list_faqs"),
        ("publish", "update_faq", {"slug": "mine", "items": []}, "items"),
    ],
)
def test_a_failure_says_what_to_change(
    clients: dict[str, FAQClient], who: str, name: str, arguments: dict[str, Any], advice: str
) -> None:
    put(clients["publish"], "mine")
    assert advice in error(call(clients[who], name, arguments))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("list_faqs", {}), ("update_faq", {"slug": "a", "items": ITEMS}), ("unpublish_faq", {"slug": "a"})],
)
def test_without_a_key_nothing_is_sent(faulty: FaultyServer, name: str, arguments: dict[str, Any]) -> None:
    with FAQClient(faulty.base_url) as keyless:
        assert "FAQSVC_API_KEY" in error(call(keyless, name, arguments))
    assert faulty.connections == 0
