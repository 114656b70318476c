"""The four tools in memory, by the SDK's own client, in both eras of the protocol."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from faqsvc_embed import FAQ, FAQClient, to_json_ld, to_json_ld_string
from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.mcp import tools
from faqsvc_embed.mcp.definitions import INSTRUCTIONS, TOOLS
from faqsvc_embed.mcp.server import create_server
from tests.mcp.conftest import SECRET
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import Exchange, FaultyServer
from tests.support.service import Service

T = TypeVar("T")

NAMES: Final = ["get_faq", "get_faq_jsonld", "generate_faq", "publish_faq"]
TEA: Final[dict[str, Any]] = {
    "websiteUrl": "https://www.tea.example",
    "websiteName": "Tea & Sons",
    "items": [{"question": "What does it cost?", "answer": "Nothing."}],
}
GENERATED: Final = [{"question": "Open?", "answer": "Yes.", "source": "https://www.tea.example/#open"}]


def talk(client: FAQClient | None, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """Return what `work` returns, which talks to a tool server over `client`."""

    async def run() -> T:
        async with Client(create_server(client), mode=mode) as connected:
            return await work(connected)

    return asyncio.run(run())


def call(
    client: FAQClient | None, name: str, arguments: dict[str, Any], mode: str = "auto"
) -> CallToolResult:
    return talk(client, lambda connected: connected.call_tool(name, arguments), mode)


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if block.type == "text"]


def content(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a success, which its first text repeats and its schema allows."""
    assert not result.is_error, texts(result)
    assert isinstance(result.structured_content, dict)
    assert json.loads(texts(result)[0]) == result.structured_content
    return result.structured_content


def refused(result: CallToolResult) -> str:
    assert (result.is_error, result.structured_content, len(result.content)) == (True, None, 1)
    return texts(result)[0]


def schema(name: str) -> dict[str, Any]:
    return next(tool["outputSchema"] for tool in TOOLS if tool["name"] == name)


# What a client is told


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_there_are_four_tools_in_the_order_of_the_specification(
    client: FAQClient, mode: str
) -> None:  # G1, G6
    async def twice(connected: Client) -> list[list[str]]:
        lists = [await connected.list_tools(cache_mode="bypass") for _ in range(2)]
        return [[tool.name for tool in listed.tools] for listed in lists]

    assert talk(client, twice, mode) == [NAMES, NAMES]


def test_each_tool_says_what_it_takes_gives_and_does() -> None:  # G2
    hints = {tool["name"]: tool["annotations"] for tool in TOOLS}
    reads = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
    writes = {**reads, "readOnlyHint": False, "idempotentHint": False}
    assert hints == {"get_faq": reads, "get_faq_jsonld": reads, "generate_faq": reads, "publish_faq": writes}
    for tool in TOOLS:
        assert tool["title"]
        assert tool["description"]
        for part in ("inputSchema", "outputSchema"):
            Draft202012Validator.check_schema(tool[part])
        for described in _objects(tool["inputSchema"]):
            assert described["additionalProperties"] is False
            assert all(field["description"] for field in described["properties"].values())


def _objects(part: Any) -> list[dict[str, Any]]:
    if not isinstance(part, dict):
        return []
    inner = [found for value in part.values() for found in _objects(value)]
    return [part, *inner] if part.get("type") == "object" else inner


def test_the_arguments_have_their_names_on_the_wire() -> None:
    arguments = {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in TOOLS}
    assert arguments == {
        "get_faq": ["slug", "lang", "offset"],
        "get_faq_jsonld": ["slug", "lang", "offset"],
        "generate_faq": ["websiteUrl", "lang", "count", "topic"],
        "publish_faq": ["websiteUrl", "websiteName", "items", "lang", "title", "preview"],
    }


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_all_definitions_together_are_short(client: FAQClient, mode: str) -> None:  # G10
    async def measure(connected: Client) -> int:
        return len((await connected.list_tools()).model_dump_json(by_alias=True, exclude_none=True))

    assert talk(client, measure, mode) / 4 < 1_250


def test_a_list_may_be_kept_for_a_day(client: FAQClient) -> None:  # G6
    async def listed(connected: Client) -> tuple[int, str, str]:
        found = await connected.list_tools()
        return found.ttl_ms, found.cache_scope, found.result_type

    assert talk(client, listed) == (86_400_000, "public", "complete")


def test_the_instructions_are_the_same_whatever_an_faq_says(client: FAQClient) -> None:  # G11
    async def told(connected: Client) -> str | None:
        await connected.call_tool("get_faq", {"slug": "pricing"})
        return connected.instructions

    assert talk(client, told) == INSTRUCTIONS


# Reading


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_get_faq_returns_the_record(client: FAQClient, mode: str) -> None:  # G3
    found = content(call(client, "get_faq", {"slug": "pricing"}, mode))
    assert found == {**samples.pricing(), "total": 3}
    Draft202012Validator(schema("get_faq")).validate(found)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_get_faq_jsonld_returns_the_page_of_the_one_serialiser(
    client: FAQClient, mode: str
) -> None:  # G3, E8
    result = call(client, "get_faq_jsonld", {"slug": "pricing"}, mode)
    faq = FAQ.from_dict(samples.pricing())
    assert content(result) == to_json_ld(faq)
    assert texts(result) == [to_json_ld_string(faq)]
    Draft202012Validator(schema("get_faq_jsonld")).validate(content(result))


def test_a_language_is_asked_for(client: FAQClient, faulty: FaultyServer) -> None:
    call(client, "get_faq", {"slug": "pricing", "lang": "ko"})
    assert faulty.log[-1].target == "/api/v1/faq/pricing?lang=ko"


def test_null_counts_as_left_out(client: FAQClient, faulty: FaultyServer) -> None:
    content(call(client, "get_faq", {"slug": "pricing", "lang": None, "offset": None}))
    assert faulty.log[-1].target == "/api/v1/faq/pricing"


def test_reads_carry_no_key(client: FAQClient, faulty: FaultyServer) -> None:  # G8
    call(client, "get_faq", {"slug": "pricing"})
    assert "x-plugin-key" not in faulty.log[0].headers


def test_every_text_comes_through_as_data(client: FAQClient, faulty: FaultyServer) -> None:  # G11
    record = {**samples.nasty(), "cta": {"label": "\ud800", "x": "\u2028"}}
    faulty.behave(behaviours.body(json.dumps(record).encode()))
    found = content(call(client, "get_faq", {"slug": "nasty"}))
    assert found["items"] == samples.nasty()["items"]
    content(call(client, "get_faq_jsonld", {"slug": "nasty"}))


TEXTS: Final = {
    "english": "The quick brown fox jumps. " * 40,
    "korean": "무엇이든 물어보세요. " * 60,
    "quotes": '"\\"\n<&>' * 150,
    "emoji": "👩‍👩‍👧‍👦" * 60,
}


def tokens(result: CallToolResult) -> float:
    """Estimate the tokens of a result: four ASCII characters, or three bytes of others, are one."""
    text = result.model_dump_json(by_alias=True, exclude_none=True)
    ascii_count = sum(c.isascii() for c in text)
    return ascii_count / 4 + (len(text.encode()) - ascii_count) / 3


@pytest.mark.parametrize("name", ["get_faq", "get_faq_jsonld"])
@pytest.mark.parametrize("text", list(TEXTS))
def test_a_large_faq_comes_in_parts_that_are_it_all_together(
    client: FAQClient, faulty: FaultyServer, name: str, text: str
) -> None:  # G9
    pairs = [(f"Question {n}?", f"{n}: {TEXTS[text]}".strip()) for n in range(150)]
    faulty.serve(samples.record("large", *pairs))
    parts, offset = list[tuple[str, str]](), 0
    for _ in range(150):
        result = call(client, name, {"slug": "large", "offset": offset})
        found = content(result)
        assert tokens(result) < 25_000
        if name == "get_faq":
            assert found["total"] == 150
            parts += [(item["question"], item["answer"]) for item in found["items"]]
        else:
            parts += [(q["name"], q["acceptedAnswer"]["text"]) for q in found["mainEntity"]]
        if len(parts) == 150:
            break
        assert f"{offset} to {len(parts) - 1} of 150" in (found.get("note") or texts(result)[1])
        offset = len(parts)
    assert parts == pairs
    assert len(texts(result)) == 1
    assert "nextOffset" not in found


@pytest.mark.parametrize("name", ["get_faq", "get_faq_jsonld"])
@pytest.mark.parametrize("text", list(TEXTS))
def test_an_answer_that_is_alone_too_large_is_cut_and_says_so(
    client: FAQClient, faulty: FaultyServer, name: str, text: str
) -> None:  # G9
    long = TEXTS[text] * 100
    faulty.serve(samples.record("long", ("Long?", long), ("Short?", "Yes."), title=long, website_name=long))
    result = call(client, name, {"slug": "long"})
    assert tokens(result) < 25_000
    found = content(result)
    assert f"… [cut; {len(long)} characters]" in json.dumps(found, ensure_ascii=False)
    note = found["note"] if name == "get_faq" else texts(result)[1]
    assert note.endswith(f"The whole text is public at {client.settings.base_url}/api/v1/faq/long")
    Draft202012Validator(schema(name)).validate(found)


@pytest.mark.parametrize("name", ["get_faq", "get_faq_jsonld"])
def test_the_longest_answer_that_can_be_published_is_read_whole(
    client: FAQClient, faulty: FaultyServer, name: str
) -> None:  # G9
    long = (TEXTS["english"] * 20)[:MAX_ANSWER]
    faulty.serve(samples.record("long", ("Long?", long)))
    assert long in json.dumps(content(call(client, name, {"slug": "long"})))


def test_an_offset_beyond_the_end_is_told_how_many_there_are(client: FAQClient) -> None:  # G4
    assert "has 3 items" in refused(call(client, "get_faq", {"slug": "pricing", "offset": 3}))


def test_an_offset_counts_what_is_marked_up(client: FAQClient, faulty: FaultyServer) -> None:  # G4
    faulty.serve(samples.record("twice", ("Twice?", "Yes."), ("Twice?", "Yes."), ("Empty?", " ")))
    said = refused(call(client, "get_faq_jsonld", {"slug": "twice", "offset": 1}))
    assert said == "offset is 1, but the FAQPage has 1 questions."


def test_a_call_to_action_that_is_too_large_is_left_out(
    client: FAQClient, faulty: FaultyServer
) -> None:  # G9
    faulty.serve({**samples.pricing(), "cta": {"text": "x" * 100_000}})
    assert content(call(client, "get_faq", {"slug": "pricing"}))["cta"] is None


def test_an_faq_with_nothing_to_mark_up_is_told(client: FAQClient, faulty: FaultyServer) -> None:  # J5
    faulty.serve(samples.record("empty", ("Question?", " ")))
    assert "has no question with an answer" in refused(call(client, "get_faq_jsonld", {"slug": "empty"}))


# Writing


def test_what_is_published_is_read(ours: Service) -> None:  # G3
    with FAQClient(ours.base_url, ours.key) as client:
        arguments = {**TEA, "lang": "en", "title": "Prices"}
        published = content(call(client, "publish_faq", arguments))
        faq = content(call(client, "get_faq", {"slug": published["slug"]}))
    assert published["faqUrl"] == f"{ours.base_url}/faq/{published['slug']}"
    assert set(published["install"]) == {"npm", "component"}
    Draft202012Validator(schema("publish_faq")).validate(published)
    assert (faq["title"], faq["websiteName"]) == ("Prices", "Tea & Sons")
    assert faq["items"] == [{"position": 0, **TEA["items"][0]}]


def test_a_preview_shows_what_would_be_published_and_sends_nothing(faulty: FaultyServer) -> None:
    with FAQClient(faulty.base_url) as keyless:
        shown = content(call(keyless, "publish_faq", {**TEA, "title": "Prices", "preview": True}))
    assert shown["preview"] == {**TEA, "title": "Prices"}
    assert shown["note"].startswith("Nothing was published.")
    assert faulty.connections == 0
    Draft202012Validator(schema("publish_faq")).validate(shown)


def test_a_large_preview_is_cut_and_says_so(client: FAQClient) -> None:  # G9
    items = [{"question": f"Question {n}?", "answer": TEXTS["korean"]} for n in range(150)]
    result = call(client, "publish_faq", {**TEA, "items": items, "preview": True})
    shown = content(result)
    assert tokens(result) < 25_000
    assert (shown["total"], shown["preview"]["items"]) == (150, items[: len(shown["preview"]["items"])])
    assert "of 150 items; all were checked" in shown["note"]


def test_what_was_generated_comes_with_its_source(client: FAQClient, faulty: FaultyServer) -> None:  # G3
    faulty.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    arguments = {"websiteUrl": "https://www.tea.example", "lang": "ko", "count": 5, "topic": "Hours"}
    found = content(call(client, "generate_faq", arguments))
    assert found == {"items": GENERATED, "total": 1}
    Draft202012Validator(schema("generate_faq")).validate(found)
    assert json.loads(faulty.log[0].body) == arguments


def test_much_that_was_generated_is_cut_with_a_count(client: FAQClient, faulty: FaultyServer) -> None:  # G9
    items = [{"question": f"Question {n}?", "answer": TEXTS["english"]} for n in range(150)]
    faulty.behave(behaviours.body(json.dumps({"items": items}).encode()))
    result = call(client, "generate_faq", {"websiteUrl": "https://www.tea.example"})
    assert tokens(result) < 25_000
    assert "of 150; generate again about a narrower topic" in content(result)["note"]


def test_that_nothing_was_found_is_said(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.body(b'{"items": []}'))
    found = content(call(client, "generate_faq", {"websiteUrl": "https://www.tea.example"}))
    assert (found["items"], found["total"]) == ([], 0)
    assert "found no questions" in found["note"]


# What goes wrong


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("publish_faq", TEA), ("generate_faq", {"websiteUrl": "https://www.tea.example"})],
)
def test_without_a_key_a_write_says_which_variable_to_set_and_sends_nothing(
    faulty: FaultyServer, name: str, arguments: dict[str, Any]
) -> None:  # G8
    with FAQClient(faulty.base_url) as keyless:
        said = refused(call(keyless, name, arguments))
    assert "FAQSVC_API_KEY" in said
    assert "Developer, API Keys & Integrations" in said
    assert faulty.connections == 0
    assert refused(call(None, name, arguments)) == said  # nor is an address needed to say so


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("get_faq", {}, ["'slug' is a required property"]),
        ("get_faq", {"slug": 7}, ["slug: 7 is not of type 'string'"]),
        ("get_faq", {"slug": None}, ["'slug' is a required property"]),
        ("get_faq", {"slug": {"key": SECRET}}, ["slug: {'key': 'fs_live_***'} is not of type 'string'"]),
        ("get_faq", {"slug": "a/b"}, ["'a/b' is no slug", "Check the slug"]),
        ("get_faq", {"slug": "x", "lang": "tlh"}, ["lang: 'tlh' is not one of ['en', 'ko'"]),
        ("get_faq", {"slug": "x", "offset": -1}, ["offset: -1 is less than the minimum of 0"]),
        ("get_faq", {"slug": "x", "apiKey": SECRET}, ["('apiKey' was unexpected)"]),
        ("get_faq_jsonld", {"Slug": "x"}, ["'slug' is a required property", "('Slug' was unexpected)"]),
        ("generate_faq", {"websiteUrl": "tea", "count": 0, "x": 1},
         ["websiteUrl is 'tea'", "count is 0", "('x' was unexpected)"]),
        ("publish_faq", {}, ["websiteUrl is missing", "websiteName is missing", "items is missing"]),
        ("publish_faq", {**TEA, "items": "text"}, ["items is 'text': a list of items is accepted"]),
        ("publish_faq", {**TEA, "items": [{"question": "", "answer": 1, "source": "x"}], "preview": "yes"},
         ["items[0].question is empty", "items[0].answer is 1, not text",
          "items[0]: Additional properties are not allowed ('source' was unexpected)", "preview is 'yes'"]),
        ("publish_faq", {**TEA, "items": [["a", "b"]]}, ["items[0]: ['a', 'b'] is not of type 'object'"]),
        ("publish_faq", {**TEA, "slug": "tea"}, ["('slug' was unexpected)"]),
    ],
)  # fmt: skip
def test_bad_arguments_are_told_all_at_once_before_anything_is_sent(
    client: FAQClient, faulty: FaultyServer, name: str, arguments: dict[str, Any], said: list[str]
) -> None:  # G4, G5
    message = refused(call(client, name, arguments))
    assert [part for part in said if part not in message] == []
    assert "s3cret" not in message
    assert faulty.connections == 0


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Ask the user to set FAQSVC_API_KEY to a valid key"),
        (403, "Ask the user to set FAQSVC_API_KEY to a valid key"),
        (404, "Ask the user whether FAQSVC_BASE_URL is the address of an FAQ service"),
        (422, "Correct this and call again: the service refused it (422): items[0] is rude"),
        (429, "Try again in 7 seconds"),
        (
            500,
            "500: items[0] is rude; it may have been published: another attempt with the same idempotency",
        ),
        (503, "To try again with that key, call with exactly these arguments in 7 seconds."),
    ],
)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_the_service_refuses_is_told_with_what_to_do(
    client: FAQClient, faulty: FaultyServer, status: int, advice: str, mode: str
) -> None:  # G4, G7
    headers = {"Retry-After": "7"} if status in (429, 503) else {}

    def refuse(exchange: Exchange) -> None:
        problems = ["items[0] is rude", exchange.request.headers["x-plugin-key"]]
        exchange.reply(status, json.dumps({"problems": problems}).encode(), headers)

    faulty.behave(refuse)
    said = refused(call(client, "publish_faq", TEA, mode))
    assert advice in said
    assert "s3cret" not in said


def test_what_may_have_been_published_is_not_published_twice(
    client: FAQClient, faulty: FaultyServer
) -> None:  # W5
    created = behaviours.body(b'{"slug": "tea"}', status=201)
    faulty.then(behaviours.reset, created, created)

    async def publish(connected: Client) -> list[CallToolResult]:
        return [await connected.call_tool("publish_faq", TEA) for _ in range(3)]

    lost, again, anew = talk(client, publish)
    assert "it may have been published: another attempt with the same idempotency key" in refused(lost)
    assert refused(lost).endswith("To try again with that key, call with exactly these arguments.")
    assert (content(again), content(anew)) == ({"slug": "tea"}, {"slug": "tea"})
    keys = [request.headers["idempotency-key"] for request in faulty.log]
    assert keys[0] == keys[1] != keys[2]


def test_a_publication_whose_slug_is_not_told_was_published_all_the_same(
    client: FAQClient, faulty: FaultyServer
) -> None:  # G4, W5
    faulty.behave(behaviours.body(b"{}", status=201))
    assert refused(call(client, "publish_faq", TEA)) == (
        "the service took it (201), so it was published, but the answer names no slug: another attempt with "
        "the same idempotency key publishes nothing twice. "
        "To try again with that key, call with exactly these arguments."
    )


def test_a_success_that_quotes_the_key_is_masked(client: FAQClient, faulty: FaultyServer) -> None:  # G7
    install = {"npm": f"npm install --key {SECRET}"}
    faulty.behave(behaviours.body(json.dumps({"slug": "tea", "install": install}).encode(), status=201))
    result = call(client, "publish_faq", TEA)
    assert content(result) == {"slug": "tea", "install": {"npm": "npm install --key fs_live_***"}}


def test_a_slug_that_is_not_there_and_a_service_that_is_not_there_are_told(
    client: FAQClient, faulty: FaultyServer
) -> None:  # G4
    assert "knows no FAQ 'nope' (404). Check the slug" in refused(call(client, "get_faq", {"slug": "nope"}))
    faulty.refuse()
    assert "cannot be reached" in refused(call(client, "get_faq", {"slug": "pricing"}))


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_that_generates_nothing_is_told(
    client: FAQClient, faulty: FaultyServer, status: int
) -> None:  # G4
    faulty.behave(behaviours.status(status))
    said = refused(call(client, "generate_faq", {"websiteUrl": "https://www.tea.example"}))
    assert said.startswith(f"the service generates no FAQs ({status}). Read the website by other means")


def test_a_long_list_of_problems_is_cut(client: FAQClient) -> None:  # G9
    items = [{"question": "", "answer": ""}] * 900
    said = refused(call(client, "publish_faq", {**TEA, "items": items}))
    assert said.endswith("; and 1780 more")
    assert len(said) < 4_100


def test_a_server_that_is_not_set_up_says_how(monkeypatch: pytest.MonkeyPatch) -> None:  # G4
    assert "set FAQSVC_BASE_URL" in refused(call(None, "get_faq", {"slug": "pricing"}))
    monkeypatch.setenv("FAQSVC_API_KEY", "s3cret")
    said = refused(call(None, "publish_faq", TEA))
    assert "has not the form fs_live_" in said
    assert "s3cret" not in said


def test_a_key_that_cannot_be_stops_no_read(
    faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # G8
    faulty.serve(samples.pricing())
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", "<API_KEY>")

    async def read_and_write(connected: Client) -> list[CallToolResult]:
        calls = (
            ("get_faq", {"slug": "pricing"}),
            ("publish_faq", TEA),
            ("get_faq_jsonld", {"slug": "pricing"}),
        )
        return [await connected.call_tool(name, arguments) for name, arguments in calls]

    read, written, marked_up = talk(None, read_and_write)
    assert content(read)["slug"] == "pricing"
    assert "has not the form fs_live_" in refused(written)
    assert content(marked_up)["@type"] == "FAQPage"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("name", ["nope", "", "GET_FAQ", "x" * 10_000])
def test_an_unknown_tool_is_an_error_of_the_protocol(client: FAQClient, name: str, mode: str) -> None:  # G4
    async def fail(connected: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await connected.call_tool(name, {})
        return caught.value

    error = talk(client, fail, mode)
    assert (error.code, len(error.message) < 400) == (-32602, True)


# Progress and cancellation


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_generation_reports_that_it_goes_on(
    client: FAQClient, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:  # G14
    monkeypatch.setattr(tools, "PROGRESS_EVERY", 0.02)
    enough, seen = threading.Event(), list[float]()

    def slowly(exchange: Exchange) -> None:
        enough.wait(10)
        behaviours.body(json.dumps({"items": GENERATED}).encode())(exchange)

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        assert message == "The service is reading https://www.tea.example"
        seen.append(progress)
        if len(seen) == 4:
            enough.set()

    async def generate(connected: Client) -> CallToolResult:
        arguments = {"websiteUrl": "https://www.tea.example"}
        return await connected.call_tool("generate_faq", arguments, progress_callback=heard)

    faulty.behave(slowly)
    assert content(talk(client, generate, mode))["total"] == 1
    assert len(seen) >= 4
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_faq", {"slug": "pricing"}),
        ("generate_faq", {"websiteUrl": "https://www.tea.example"}),
        ("publish_faq", TEA),
    ],
)
def test_a_call_that_is_cancelled_ends_its_request(
    client: FAQClient, faulty: FaultyServer, name: str, arguments: dict[str, Any], mode: str
) -> None:  # G14
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
