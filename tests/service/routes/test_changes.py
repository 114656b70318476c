"""PATCH: some questions of an FAQ are changed, and nobody's work is undone without a word."""

import json
import random
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH
from tests.service.routes.test_life_cycle import PRICING, Owner, code, items_of


@pytest.fixture
def owner(client: TestClient, key: str) -> Owner:
    """The owner of a site."""
    return Owner(client, key)


def patch(owner: Owner, etag: str | None, *changes: dict[str, Any], **body: Any) -> httpx2.Response:
    headers = {} if etag is None else {"If_Match": etag}
    body |= {"changes": list(changes)} if changes else {}
    return owner.send("PATCH", PRICING, body, **headers)


def test_one_answer_of_200_costs_less_than_a_kilobyte_and_changes_nothing_else(owner: Owner) -> None:
    items = [
        {"question": f"Question {n}?", "answer": f"Answer {n}.", "section": f"{n // 20}"} for n in range(200)
    ]
    items[7]["id"] = "seven"
    etag = owner.put(items=items, title="Prices", answerFormat="markdown").headers["etag"]
    before = owner.client.get(PRICING).content
    change = {"question": "Question 7?", "answer": "It changed."}
    changed = patch(owner, etag, change)

    assert len(json.dumps({"changes": [change]})) < 1000
    assert (changed.status_code, changed.json()["revision"], changed.json()["state"]) == (200, 2, "published")
    assert owner.client.get(PRICING).content == before.replace(b"Answer 7.", b"It changed.")
    assert changed.headers["etag"] == owner.client.get(PRICING).headers["etag"]


def test_a_change_can_be_a_draft_and_the_next_one_is_made_to_it(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    draft = patch(owner, etag, {"question": "May I cancel?", "answer": "No."}, draft=True)
    assert (draft.json()["state"], owner.client.get(PRICING).headers["etag"]) == ("draft", etag)
    patch(owner, draft.headers["etag"], {"question": "New?", "answer": "Yes.", "add": True})

    record = owner.client.get(PRICING).json()
    assert [item["answer"] for item in record["items"]] == ["Nothing.", "No.", "Yes."]


def test_a_change_needs_the_entity_tag_of_a_revision(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    change = {"question": "May I cancel?", "answer": "No."}
    owner.put(title="Two", items=items_of(("May I cancel?", "Perhaps.")))
    stale = patch(owner, etag, change)
    current = stale.json()["current"]

    assert code(patch(owner, None, change)) == (428, "precondition-required")
    assert code(stale) == (412, "revision-conflict")
    assert (stale.json()["revision"], current["revision"], current["state"]) == (2, 2, "published")
    assert current["items"] == [{"position": 0, "question": "May I cancel?", "answer": "Perhaps."}]
    assert patch(owner, current["etag"], change).status_code == 200
    assert patch(owner, "*", {"question": "new", "answer": "Yes.", "add": True}).status_code == 200


def test_a_refused_change_is_named_and_no_change_is_made(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    new = {"question": "New?", "answer": "Yes.", "add": True}
    refused = patch(owner, etag, new, {"question": "May we cancel?", "answer": "No."})

    assert code(refused) == (422, "unknown-question")
    assert (refused.json()["index"], refused.json()["closest"][0]) == (1, "May I cancel?")
    assert "May I cancel?" in refused.json()["problems"][0]
    assert owner.client.get(PRICING).headers["etag"] == etag
    bodies: list[dict[str, Any]] = [
        {},
        {"changes": []},
        {"changes": [{"answer": "No."}]},
        {"changes": [{"question": " "}]},
    ]
    for body in bodies:
        invalid = owner.send("PATCH", PRICING, body, If_Match=etag)
        assert code(invalid) == (422, "invalid-body")
    tag = etag
    for part in "ab":
        large: list[dict[str, Any]] = [
            {"question": f"{part}{n}?", "answer": "x" * 19_000, "add": True} for n in range(40)
        ]
        response = patch(owner, tag, *large)
        tag = response.headers.get("etag", "")
    assert code(response) == (413, "body-too-large")


def test_title_introduction_format_section_and_id_are_changed(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    change = {"question": "may I cancel", "section": "Orders", "id": "cancel"}
    fields = {"title": "Prices", "introduction": "*All* of them.", "answerFormat": "markdown"}
    etag = patch(owner, etag, change, **fields).headers["etag"]
    record = owner.client.get(PRICING).json()
    assert {name: record[name] for name in fields} == fields
    assert (record["items"][-1]["section"], record["items"][-1]["id"]) == ("Orders", "cancel")
    text = owner.send("PATCH", PRICING, {"answerFormat": "text"}, If_Match=etag)
    assert "answerFormat" not in owner.client.get(PRICING).json()
    assert code(owner.send("PATCH", PRICING, {"answerFormat": "html"}, If_Match=text.headers["etag"])) == (
        422,
        "invalid-body",
    )


def test_fields_that_nothing_is_done_with_are_named_in_the_response(owner: Owner) -> None:
    items: list[dict[str, Any]] = [
        {"position": 0, "question": "Q?", "answer": "A.", "tags": []},
        {"position": 5, "question": "R?", "answer": "B."},
    ]
    made = owner.put(items=items, publishAt="2030-01-01", cta=None)
    assert sorted(made.json()["ignored"]) == ["cta", "items[0].tags", "items[1].position", "publishAt"]
    change = {"question": "Q?", "answer": "C.", "html": "<p>"}
    assert patch(owner, made.headers["etag"], change).json()["ignored"] == ["changes[0].html"]
    many = owner.put(**{f"{n:02}" + "x" * 200: "" for n in range(50)}).json()["ignored"]
    assert (len(many), many[-1], max(map(len, many))) == (21, "and 30 more", 100)
    assert "ignored" not in owner.put().json()
    refused = owner.put(items=[{"q": "Q?", "answer": "A."}], website_url="https://tea.example").json()
    assert (refused["status"], sorted(refused["ignored"])) == (422, ["items[0].q", "website_url"])
    elsewhere = owner.put(f"{PRICING}?lang=ko", slug="other", lang="de").json()
    assert (elsewhere["slug"], elsewhere["lang"], elsewhere["ignored"]) == ("pricing", "ko", ["slug", "lang"])


def test_patch_uses_the_language_in_its_body_unless_the_url_has_one(owner: Owner) -> None:
    owner.put(title="One")
    etag = owner.put(f"{PRICING}?lang=de", title="Eins").headers["etag"]
    changed = patch(owner, etag, title="Zwei", lang="de-CH")
    assert (changed.json()["lang"], "ignored" in changed.json()) == ("de", False)
    body = {"title": "Drei", "lang": "en"}
    other = owner.send("PATCH", f"{PRICING}?lang=de", body, If_Match=changed.headers["etag"]).json()
    assert (other["lang"], other["ignored"]) == ("de", ["lang"])
    assert owner.client.get(PRICING).json()["title"] == "One"


def test_a_key_does_only_what_its_scope_allows(owner: Owner, storage: Storage) -> None:
    etag = owner.put().headers["etag"]
    drafter = Owner(owner.client, storage.keys.create(scope="draft"))
    change = {"question": "May I cancel?", "answer": "No."}

    assert code(patch(drafter, etag, change)) == (403, "missing-scope")
    assert patch(drafter, etag, change, draft=True).json()["state"] == "draft"
    assert code(owner.send("PATCH", f"{PATH}/missing", {"changes": [change]}, If_Match="*")) == (
        404,
        "not-found",
    )
    assert code(owner.send("PATCH", f"{PRICING}?lang=de", {"changes": [change]}, If_Match="*")) == (
        404,
        "not-found",
    )


def test_the_same_body_makes_one_revision_and_one_event(owner: Owner, storage: Storage) -> None:
    first, again = owner.put(), owner.put()
    etag = first.headers["etag"]
    same = patch(owner, etag, {"question": "May I cancel?", "answer": "Any time."})
    as_draft = owner.put(draft=True)

    assert first.json() == again.json() == same.json() == as_draft.json()
    assert (again.status_code, storage.changes.version()[0].number) == (200, 1)
    draft = owner.put(title="Two", draft=True)
    assert owner.put(title="Two", draft=True).json() == draft.json()
    published = owner.put(title="Two")
    assert (published.json()["revision"], published.json()["state"]) == (2, "published")
    assert storage.changes.version()[0].number == 2


@pytest.mark.parametrize("method", ["PUT", "PATCH", "publish"])
def test_a_writer_who_read_an_faq_before_it_was_unpublished_cannot_publish_it(
    owner: Owner, method: str
) -> None:
    etag = owner.put().headers["etag"]
    owner.send("DELETE", PRICING)
    calls = {
        "PUT": lambda tag: owner.put(title="Two", headers={"If_Match": tag}),
        "PATCH": lambda tag: patch(owner, tag, {"question": "May I cancel?", "answer": "No."}),
        "publish": lambda tag: owner.send("POST", f"{PRICING}/revisions/1/publish", If_Match=tag),
    }
    conflict = calls[method](etag)
    current = conflict.json()["current"]

    assert code(conflict) == (412, "revision-conflict")
    assert (current["state"], current["revision"]) == ("unpublished", 1)
    assert owner.send("GET", f"{PRICING}/revisions/1").headers["etag"] == current["etag"] != etag
    assert calls[method](current["etag"]).status_code == 200
    assert owner.client.get(PRICING).status_code == 200


def test_a_writer_who_read_an_faq_before_it_was_deleted_cannot_write_it(owner: Owner) -> None:
    etag = owner.put().headers["etag"]
    for purge in ("true", "now"):
        owner.send("DELETE", f"{PRICING}?purge={purge}")
        assert code(patch(owner, etag, {"question": "May I cancel?", "answer": "No."})) == (410, "gone")
        assert code(owner.put(title="Two")) == (410, "gone")


def test_a_restore_with_an_old_entity_tag_is_refused(owner: Owner) -> None:
    old = owner.put(title="One").headers["etag"]
    owner.put(title="Two")
    owner.send("DELETE", PRICING)
    for tag in (old, '"*"'):  # in quotes, the star is a tag like any other
        assert code(owner.send("POST", f"{PRICING}/restore", if_match=tag)) == (412, "revision-conflict")
    assert owner.client.get(PRICING).status_code == 410
    assert owner.send("POST", f"{PRICING}/restore", if_match="*").status_code == 200


def test_no_acknowledged_change_is_lost_in_100_interleavings(owner: Owner) -> None:
    dice = random.Random(36)
    etags = dict.fromkeys(("person", "agent"), owner.put(items=items_of(("Who?", "We."))).headers["etag"])
    expected = {"Who?"}
    for step in range(100):
        if dice.random() < 0.2:
            owner.send("DELETE", PRICING)
        if dice.random() < 0.2:
            owner.send("POST", f"{PRICING}/restore")
        who = dice.choice(("person", "agent"))
        question = f"Question {step}?"
        response = patch(owner, etags[who], {"question": question, "answer": who, "add": True})
        if response.status_code == 412:
            etags[who] = response.json()["current"]["etag"]
        else:
            etags[who] = response.headers["etag"]
            expected.add(question)

    owner.send("POST", f"{PRICING}/restore")
    record = owner.client.get(PRICING).json()
    assert {item["question"] for item in record["items"]} == expected
    assert 20 < len(expected) < 100
