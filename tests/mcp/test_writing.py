"""The tools that need a key: generate_faq and publish_faq."""

import asyncio
import json
import threading
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult

from faqsvc_embed import FAQClient
from faqsvc_embed.errors import OutcomeUnknown
from tests.mcp.support import GENERATED, SECRET, TEA, TEXTS, call, content, error, output_schema, talk, tokens
from tests.support import faulty as behaviours
from tests.support.faulty import Exchange, FaultyServer
from tests.support.service import Service

WEBSITE = {"websiteUrl": "https://www.tea.example"}


def test_a_published_faq_is_read(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client:
        published = content(call(client, "publish_faq", {**TEA, "lang": "en", "title": "Prices"}))
    with FAQClient(ours.base_url) as client:
        faq = content(call(client, "get_faq", {"slug": published["slug"]}))
    assert published["faqUrl"] == f"{ours.base_url}/faq/{published['slug']}"
    assert next(iter(published)) == "template"
    assert published["template"] == f'{{{{ faq("{published["slug"]}") }}}}'
    assert "npm" not in json.dumps(published)  # npm has no package of the specified name
    Draft202012Validator(output_schema("publish_faq")).validate(published)
    assert (faq["title"], faq["websiteName"]) == ("Prices", "Tea & Sons")
    assert faq["items"] == TEA["items"]


def test_a_preview_returns_what_readers_would_see_and_sends_nothing(faulty: FaultyServer) -> None:
    with FAQClient(faulty.base_url) as keyless:
        shown = content(call(keyless, "publish_faq", {**TEA, "title": "Prices", "preview": True}))
    assert (shown["shown"], shown["answerFormat"]) == ("Prices\n\nWhat does it cost?\nNothing.", "text")
    assert faulty.connections == 0
    Draft202012Validator(output_schema("publish_faq")).validate(shown)


def test_generated_items_come_with_their_sources_and_sections(
    client: FAQClient, faulty: FaultyServer
) -> None:
    items = [*GENERATED, {**GENERATED[0], "question": "Is it hot?", "section": "Tea"}]
    generated = [items[0], {**items[1], "answer": "Very.", "answerMarkdown": items[1]["answer"]}]
    faulty.behave(behaviours.body(json.dumps({"items": generated}).encode()))
    arguments = {**WEBSITE, "lang": "ko", "count": 5}
    found = content(call(client, "generate_faq", arguments))
    assert found == {"items": items, "total": 2}
    Draft202012Validator(output_schema("generate_faq")).validate(found)
    assert json.loads(faulty.log[0].body) == arguments


def test_a_large_generation_is_cut_with_a_count(client: FAQClient, faulty: FaultyServer) -> None:
    items = [{"question": f"Question {n}?", "answer": TEXTS["english"]} for n in range(150)]
    faulty.behave(behaviours.body(json.dumps({"items": items}).encode()))
    result = call(client, "generate_faq", WEBSITE)
    assert tokens(result) < 25_000
    assert "of 150" in content(result)["note"]


def test_an_empty_generation_has_a_note(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.body(b'{"items": []}'))
    found = content(call(client, "generate_faq", WEBSITE))
    assert (found["items"], found["total"], bool(found["note"])) == ([], 0, True)


def test_an_faq_that_cannot_be_read_can_be_unpublished(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.in_turn(behaviours.body(b"<p>"), behaviours.status(204)))
    assert content(call(client, "unpublish_faq", {"slug": "pricing"}))["state"] == "unpublished"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("publish_faq", TEA),
        ("generate_faq", WEBSITE),
        ("list_faqs", {}),
        ("update_faq", {"slug": "a", "revision": 1, "title": "A"}),
        ("unpublish_faq", {"slug": "a"}),
    ],
)
def test_without_a_key_a_tool_that_needs_one_says_which_variable_to_set_and_sends_nothing(
    faulty: FaultyServer, name: str, arguments: dict[str, Any]
) -> None:
    with FAQClient(faulty.base_url) as keyless:
        message = error(call(keyless, name, arguments))
    assert "FAQSVC_API_KEY" in message
    assert "faqsvc keys create" in message
    assert faulty.connections == 0
    assert error(call(None, name, arguments)) == message  # no address is needed to say so


def test_of_two_new_faqs_with_one_slug_the_second_is_told(ours: Service) -> None:
    arguments = [
        {**TEA, "slug": "race", "lang": "en", "items": [{"question": "What does it cost?", "answer": answer}]}
        for answer in ("Nothing.", "A lot.", "Nothing.")
    ]

    async def publish(connected: Client) -> list[CallToolResult]:
        results: list[CallToolResult] = []

        async def one(given: dict[str, Any]) -> None:
            results.append(await connected.call_tool("publish_faq", given))

        async with anyio.create_task_group() as group:
            for given in arguments:
                group.start_soon(one, given)
        return results

    with FAQClient(ours.base_url, ours.key) as client:
        results = talk(client, publish)
        messages = [error(result) for result in results if result.is_error]
        assert len(messages) == 2
        assert all("There is an FAQ 'race' already" in message for message in messages)
        german = arguments[0] | {"lang": "de"}
        refused = error(call(client, "publish_faq", german))
        assert all(part in refused for part in ("There is an FAQ 'race' already", "revision 0"))
        assert len(client.revisions("race")) == 1
        assert client.list_faqs()[0].languages == ["en"]
        changes = [{"question": "Was kostet es?", "answer": "Nichts."}]
        call(client, "update_faq", {"slug": "race", "lang": "de", "revision": 0, "changes": changes})
        refused = error(call(client, "publish_faq", german))
        assert ("lang de" in refused, "revision 0" in refused) == (True, False)


def test_a_new_faq_with_the_title_of_another_gets_a_note(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client:
        first, second = (
            content(call(client, "publish_faq", {**TEA, "title": "Opening hours", "lang": lang}))
            for lang in ("en", "de")
        )
        numbered = content(call(client, "publish_faq", {**TEA, "title": "Top 10"}))
    assert ("note" in first, "note" in numbered) == (False, False)
    assert second["slug"] == "opening-hours-2"
    assert "'opening-hours'" in second["note"]


# Retries


def test_a_repeated_call_does_not_publish_twice(client: FAQClient, faulty: FaultyServer) -> None:
    created = behaviours.body(b'{"slug": "tea"}', status=201)
    faulty.then(behaviours.reset, created, created)

    async def publish(connected: Client) -> list[CallToolResult]:
        return [await connected.call_tool("publish_faq", TEA) for _ in range(3)]

    lost, again, anew = talk(client, publish)
    assert "same arguments" in error(lost) or "exactly these arguments" in error(lost)
    assert (content(again)["slug"], content(anew)["slug"]) == ("tea", "tea")
    keys = [request.headers["idempotency-key"] for request in faulty.log]
    assert len(keys) == 3 > len(set(keys)) == 1


def test_a_repeated_call_does_not_report_an_unpublished_faq_as_published(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client:
        arguments = {**TEA, "websiteName": "Once"}
        slug = content(call(client, "publish_faq", arguments))["slug"]
        assert content(call(client, "publish_faq", arguments))["slug"] == slug
        client.unpublish_faq(slug)
        assert repr(slug) in error(call(client, "publish_faq", arguments))
        client.unpublish_faq(slug, purge=True)
        deleted = error(call(client, "publish_faq", arguments))
        assert (repr(slug) in deleted, "restore it" in deleted, "Idempotency" in deleted) == (
            True,
            True,
            False,
        )


def test_a_repeated_call_for_a_slug_that_the_lost_one_took_sends_nobody_to_another_slug(
    ours: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = FAQClient.apublish_faq

    async def lose(self: FAQClient, **fields: Any) -> None:
        await publish(self, **fields)
        raise OutcomeUnknown("the response was lost")

    monkeypatch.setattr(FAQClient, "apublish_faq", lose)

    async def repeat(connected: Client) -> list[CallToolResult]:
        return [await connected.call_tool("publish_faq", {**TEA, "slug": "lost"}) for _ in range(2)]

    with FAQClient(ours.base_url, ours.key) as client:
        lost, again = talk(client, repeat)
    assert "exactly these arguments" in error(lost)
    assert ("get_faq" in error(again), "another slug" in error(again)) == (True, False)


def test_a_publication_without_a_slug_in_the_response_can_be_repeated(
    client: FAQClient, faulty: FaultyServer
) -> None:
    faulty.behave(behaviours.body(b"{}", status=201))
    assert "exactly these arguments" in error(call(client, "publish_faq", TEA))


def test_a_key_that_the_service_echoes_is_masked(client: FAQClient, faulty: FaultyServer) -> None:
    install = {"npm": f"npm install --key {SECRET}"}
    faulty.behave(behaviours.body(json.dumps({"slug": "tea", "install": install}).encode(), status=201))
    result = call(client, "publish_faq", TEA)
    assert content(result)["install"] == {"npm": "npm install --key fs_live_***"}


# Cancellation


@pytest.mark.parametrize(
    ("name", "arguments", "mode"),
    [("get_faq", {"slug": "pricing"}, "auto"), ("publish_faq", TEA, "legacy")],
)
def test_a_cancelled_call_ends_its_request(
    client: FAQClient, faulty: FaultyServer, name: str, arguments: dict[str, Any], mode: str
) -> None:
    gone = threading.Event()

    def hang(exchange: Exchange) -> None:
        try:
            exchange.hang()
        finally:
            gone.set()

    async def give_up(connected: Client) -> bool:
        async with anyio.create_task_group() as group:
            group.start_soon(connected.call_tool, name, arguments)
            await asyncio.to_thread(faulty.wait_for_requests, 1)
            group.cancel_scope.cancel()
        return await asyncio.to_thread(gone.wait, 2)

    faulty.behave(hang)
    assert talk(client, give_up, mode)
