"""The tools over the life of an FAQ: lists, changes, drafts, and unpublishing."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from faqsvc_embed import FAQClient, FAQNotFound
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import open_storage
from tests.mcp.support import TEA, call, content, error, output_schema, tokens
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer
from tests.support.running import running

pytestmark = pytest.mark.system

CHANGE: Final[dict[str, Any]] = {
    "revision": 1,
    "changes": [{"question": "What does it cost?", "answer": "Two euros."}],
}


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


@pytest.mark.parametrize("name", ["publish_faq", "update_faq"])
def test_a_key_for_drafts_writes_a_draft_and_says_where_to_look(
    clients: dict[str, FAQClient], owner: FAQClient, name: str
) -> None:
    put(owner, f"drafted-{name}")
    arguments = TEA if name == "publish_faq" else {"slug": f"drafted-{name}", **CHANGE}
    written = content(call(clients["draft"], name, arguments))
    Draft202012Validator(output_schema(name)).validate(written)
    assert written["state"] == "draft"
    assert written["previewUrl"].startswith(f"{owner.settings.base_url}/faq/{written['slug']}?faq_preview=")
    assert owner.newest_revision(written["slug"]).state == "draft"
    if name == "publish_faq":
        with pytest.raises(FAQNotFound):
            owner.get_faq(written["slug"])


def test_an_faq_is_taken_back_by_the_address_of_its_page(owner: FAQClient) -> None:
    put(owner, "taken")
    put(owner, "taken", lang="de")
    page = f"{owner.settings.base_url}/faq/taken"
    translation = content(call(owner, "unpublish_faq", {"slug": page, "lang": "de"}))
    assert translation["lang"] == "de"
    assert "get another published language" in translation["note"]
    assert owner.get_faq("taken", lang="de").lang == "en"
    again = content(call(owner, "unpublish_faq", {"slug": page, "lang": "de"}))
    assert ("no change" in again["note"], "undo" in again) == (True, False)
    gone = content(call(owner, "unpublish_faq", {"slug": page}))
    Draft202012Validator(output_schema("unpublish_faq")).validate(gone)
    assert gone["state"] == "unpublished"
    assert (gone["undo"], "undo: true" in gone["note"]) == ("faqsvc restore taken", True)
    message = error(call(owner, "get_faq", {"slug": "taken"}))
    assert ("410" in message, "unpublish_faq with undo: true" in message) == (True, True)


def test_an_assistant_undoes_what_was_unpublished_last(
    clients: dict[str, FAQClient], owner: FAQClient
) -> None:
    for lang in ("en", "de", "fr"):
        put(owner, "back", lang=lang)
    put(owner, "back", lang="ja", draft=True)
    content(call(owner, "unpublish_faq", {"slug": "back", "lang": "fr"}))
    content(call(owner, "unpublish_faq", {"slug": "back"}))
    undo = {"slug": "back", "undo": True}
    for who, arguments in (("publish", {**undo, "lang": "fr"}), ("draft", undo), ("other", undo)):
        error(call(clients[who], "unpublish_faq", arguments))
    assert "410" in error(call(owner, "get_faq", {"slug": "back"}))
    back = content(call(owner, "unpublish_faq", undo))
    Draft202012Validator(output_schema("unpublish_faq")).validate(back)
    assert (back["state"], "en, de" in back["note"]) == ("published", True)
    assert ("fr" in back["note"], "ja" in back["note"]) == (False, False)
    assert [owner.get_faq("back", lang=lang).lang for lang in ("de", "fr")] == ["de", "en"]
    content(call(owner, "unpublish_faq", undo))
    assert owner.get_faq("back", lang="fr").lang == "fr"
    message = error(call(owner, "unpublish_faq", undo))
    assert all(part in message for part in ("nothing to restore", "update_faq", "faqsvc revert")), message
    put(owner, "drafted-back", draft=True)
    assert content(call(owner, "unpublish_faq", {"slug": "drafted-back"}))["state"] == "draft"
    owner.unpublish_faq("drafted-back", purge=True)
    back = content(call(owner, "unpublish_faq", {"slug": "drafted-back", "undo": True}))
    assert (back["state"], "Nothing" in back["note"]) == ("draft", True)


@pytest.mark.parametrize(
    "address",
    [
        "{}/faq/a%20b",
        "{}/faq/a%20b.md?lang=en",
        "{}/faq/a%20b/#x",
        "{}/api/v1/faq/a%20b/revisions",
        "{}/desk/faqs/a%20b/history",
        "https://faq.example.com/faq/a%20b",
        "faq.example.com/faq/a%20b",
        "/faq/a%20b",
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


@pytest.mark.parametrize(
    ("path", "lang"),
    [
        ("/faq/{}?lang=de-AT", {}),
        ("/faq/{}.md?lang=de", {"lang": "de"}),
        ("/api/v1/faq/{}/revisions?limit=1&lang=de", {}),
        ("/desk/faqs/{}?lang=de", {}),
    ],
)
def test_an_address_stands_for_its_language(owner: FAQClient, path: str, lang: dict[str, str]) -> None:
    in_two_languages(owner, "heron")
    target = {"slug": owner.settings.base_url + path.format("heron"), **lang}
    assert content(call(owner, "get_faq", target))["lang"] == "de"
    assert content(call(owner, "get_faq_jsonld", target))["mainEntity"][0]["name"] == "Was kostet es?"
    renamed = {"revision": 1, "changes": [{"question": "Was kostet es?", "newQuestion": "Offen?"}]}
    number = owner.newest_revision("heron", lang="de").revision
    assert content(call(owner, "update_faq", {**target, **renamed, "revision": number}))["lang"] == "de"
    assert owner.get_faq("heron", lang="de").items[0].question == "Offen?"
    assert owner.get_faq("heron").items[0].question == "What does it cost?"
    assert content(call(owner, "unpublish_faq", target))["lang"] == "de"
    assert owner.get_faq("heron", lang="de").lang == "en"


@pytest.mark.parametrize(
    ("name", "query", "lang", "named"),
    [
        ("unpublish_faq", "lang=de", "fr", ("'de'", "'fr'")),
        ("update_faq", "lang=de&lang=en", None, ("'de'", "'en'")),
        ("get_faq", "lang=xx", None, ("'xx'",)),
        ("unpublish_faq", "lang=", "de", ("''",)),
    ],
)
def test_a_language_that_is_invalid_or_contradicts_is_refused(
    owner: FAQClient, name: str, query: str, lang: str | None, named: tuple[str, ...]
) -> None:
    in_two_languages(owner, "clear")
    before = [owner.newest_revision("clear", lang=of) for of in ("en", "de")]
    arguments = CHANGE if name == "update_faq" else {}
    address = f"{owner.settings.base_url}/faq/clear?{query}"
    message = error(call(owner, name, {"slug": address, "lang": lang, **arguments}))
    assert all(value in message for value in named)
    assert [owner.newest_revision("clear", lang=of) for of in ("en", "de")] == before


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("get_faq", "https://shop.example/same"),
        ("get_faq", "{}"),
        ("unpublish_faq", "{}/same"),
        ("unpublish_faq", "{}/other/faq/same"),
        ("unpublish_faq", "{}/faq/caf%E9"),
        ("unpublish_faq", "https://staging.other.example/faq/same"),
        ("update_faq", "https://staging.other.example/api/v1/faq/same"),
        ("update_faq", "http://[/faq/same"),
    ],
)
def test_an_address_that_is_not_of_an_faq_of_the_service_is_refused(
    owner: FAQClient, name: str, address: str
) -> None:
    put(owner, "same")
    before = owner.newest_revision("same")
    arguments = CHANGE if name == "update_faq" else {}
    assert "slug" in error(call(owner, name, {"slug": address.format(owner.settings.base_url), **arguments}))
    assert owner.newest_revision("same") == before


def test_a_page_of_the_host_beside_the_service_is_no_faq(owner: FAQClient) -> None:
    with FAQClient(f"{owner.settings.base_url}/service", owner.settings.api_key) as client:
        address = f"{owner.settings.base_url}/faq/same"
        assert "is not a slug" in error(call(client, "unpublish_faq", {"slug": address}))


def test_a_list_has_drafts_and_can_be_searched(owner: FAQClient, clients: dict[str, FAQClient]) -> None:
    put(owner, "listed-1", title="Shipping")
    put(owner, "listed-2", title="Hidden", draft=True)
    found = content(call(clients["read"], "list_faqs", {"query": "LISTED-"}))
    Draft202012Validator(output_schema("list_faqs")).validate(found)
    assert "etag" not in str(found)
    assert [(faq["slug"], faq["state"]) for faq in found["items"]] == [
        ("listed-2", "draft"),
        ("listed-1", "published"),
    ]
    assert content(call(owner, "list_faqs", {"query": "listed-", "offset": 1}))["items"] == found["items"][1:]
    assert content(call(owner, "list_faqs", {"query": '"shipping"'}))["items"] == found["items"][1:]
    by_state = content(call(owner, "list_faqs", {"query": "listed-", "state": "published"}))
    assert by_state["items"] == found["items"][1:]
    put(owner, "listed-3", lang="de", items=[("Was kostet listed-Post?", "Sieben Euro Porto.")])
    by_answer = content(call(owner, "list_faqs", {"query": "porto", "lang": "de"}))
    assert [faq["slug"] for faq in by_answer["items"]] == ["listed-3"]
    assert content(call(clients["other"], "list_faqs", {})) == {"items": [], "total": 0}
    nothing = content(call(owner, "list_faqs", {"query": "no such words"}))
    assert (nothing["items"], "without query" in nothing["note"]) == ([], True)


def test_a_long_list_is_cut(client: FAQClient, faulty: FaultyServer) -> None:
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


def test_a_draft_that_was_never_published_is_read_with_a_key_and_said_to_be_one(
    clients: dict[str, FAQClient], owner: FAQClient
) -> None:
    put(owner, "unseen", draft=True)
    read = content(call(clients["draft"], "get_faq", {"slug": "unseen"}))
    assert (read["revision"], read["items"][0]["answer"]) == (1, "Nothing.")
    assert "Readers do not see this" in read["note"]
    with FAQClient(owner.settings.base_url) as keyless:
        assert "404" in error(call(keyless, "get_faq", {"slug": "unseen"}))
    assert "404" in error(call(clients["other"], "get_faq", {"slug": "unseen"}))
    assert "drafts" in error(call(owner, "get_faq_jsonld", {"slug": "unseen"}))
    put(owner, "unseen", items=[("Gratuit ?", "Oui.")], lang="fr")
    read = content(call(clients["draft"], "get_faq", {"slug": "unseen", "lang": "en"}))
    assert (read["lang"], read["revision"], "Readers do not see this" in read["note"]) == ("en", 1, True)
    assert content(call(clients["other"], "get_faq", {"slug": "unseen", "lang": "en"}))["lang"] == "fr"


def test_a_missing_translation_is_not_said_to_be_a_wrong_slug(owner: FAQClient) -> None:
    put(owner, "one-language")
    message = error(call(owner, "unpublish_faq", {"slug": "one-language", "lang": "ja"}))
    assert ("no translation" in message, "list_faqs" in message) == (True, True)


@pytest.mark.parametrize(
    ("who", "name", "arguments", "advice"),
    [
        ("other", "update_faq", {"slug": "mine", **CHANGE}, "list_faqs"),
        ("other", "unpublish_faq", {"slug": "mine"}, "list_faqs"),
        ("read", "update_faq", {"slug": "mine", **CHANGE}, "scope"),
        ("draft", "unpublish_faq", {"slug": "mine"}, "scope"),
        ("publish", "update_faq", {"slug": "no-such", **CHANGE}, "list_faqs"),
        ("publish", "update_faq", {"slug": "mine", "revision": 1, "changes": []}, "changes"),
    ],
)
def test_a_failure_says_what_to_change(
    clients: dict[str, FAQClient], who: str, name: str, arguments: dict[str, Any], advice: str
) -> None:
    if all(faq.slug != "mine" for faq in clients["publish"].list_faqs()):
        put(clients["publish"], "mine")
    assert advice in error(call(clients[who], name, arguments))
