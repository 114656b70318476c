"""The list of FAQs: by words, state and language, with what a program needs to compare files."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.contract import LIST_PATH
from tests.service.bodies import PATH, publication
from tests.service.routes.test_life_cycle import Owner, code, items_of


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


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
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
    ],
)
def test_faqs_are_found_by_words_state_and_language(owner: Owner, query: str, slugs: set[str]) -> None:
    assert {faq["slug"] for faq in listed(owner, query)} == slugs


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


def test_the_tag_of_an_unpublished_faq_is_another_one(owner: Owner) -> None:
    [before] = listed(owner, "?q=six")
    owner.send("DELETE", f"{PATH}/pricing")
    [after] = listed(owner, "?q=six")
    assert before["etag"] != after["etag"]
    assert before["revision"] == after["revision"]


def test_a_search_has_pages(owner: Owner) -> None:
    first = owner.send("GET", f"{LIST_PATH}?q=euros&limit=2").json()
    rest = owner.send("GET", f"{LIST_PATH}?q=euros&limit=2&after={first['next']}").json()
    assert {faq["slug"] for faq in first["items"] + rest["items"]} == {"pricing", "changed", "new"}
    assert rest["next"] is None


@pytest.mark.parametrize("query", ["?state=gone", "?lang=xx", "?limit=0"])
def test_what_no_faq_can_have_is_refused(owner: Owner, query: str) -> None:
    assert code(owner.send("GET", f"{LIST_PATH}{query}")) == (422, "invalid-parameter")
