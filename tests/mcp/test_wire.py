"""The tool server by JSON-RPC lines written here, without the process around it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp import wire
from faqsvc_embed.mcp.server import create_server
from faqsvc_embed.mcp.wire import messages
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer

T = TypeVar("T")

ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Lines:
    """A client of JSON-RPC 2.0, one message a line."""

    def __init__(
        self, lines: MemoryObjectSendStream[str], answers: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        self.write = lines.send
        self._answers = answers
        self._last = 0

    async def read(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            answer = await self._answers.receive()
        line = answer.message.model_dump_json(by_alias=True, exclude_unset=True)  # as the SDK writes it
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        await self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        answer = await self.read()
        assert answer["id"] == self._last
        return answer

    async def tell(self, method: str, **params: Any) -> None:
        await self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    async def shake_hands(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        answer = await self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        await self.tell("notifications/initialized")
        return answer


@asynccontextmanager
async def _connected(client: FAQClient | None) -> AsyncIterator[Lines]:
    lines_in, lines = anyio.create_memory_object_stream[str](0)
    answers_in, answers = anyio.create_memory_object_stream[SessionMessage](100)
    server = create_server(client)

    async def serve() -> None:
        async with messages(lines, answers_in) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    async with lines, answers, anyio.create_task_group() as group:
        group.start_soon(serve)
        async with lines_in:
            yield Lines(lines_in, answers)


def spoken(work: Callable[[Lines], Awaitable[T]], client: FAQClient | None = None) -> T:
    """Return what `work` returns, which speaks with a tool server over `client` until it leaves."""

    async def run() -> T:
        async with _connected(client) as lines:
            return await work(lines)

    return asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_handshake_era_is_spoken(client: FAQClient, version: str) -> None:  # G6
    async def talk(lines: Lines) -> list[dict[str, Any]]:
        return [
            (await lines.shake_hands(version))["result"],
            (await lines.ask("tools/list"))["result"],
            (await lines.ask("tools/call", name="get_faq", arguments={"slug": "pricing"}))["result"],
        ]

    hello, listed, found = spoken(talk, client)
    assert (hello["protocolVersion"], hello["capabilities"]) == (version, {"tools": {"listChanged": False}})
    assert [tool["name"] for tool in listed["tools"]] == [
        "get_faq",
        "get_faq_jsonld",
        "generate_faq",
        "publish_faq",
    ]
    assert found["structuredContent"] == {**samples.pricing(), "total": 3}
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]


def test_the_stateless_era_is_spoken(client: FAQClient) -> None:  # G6
    async def talk(lines: Lines) -> list[dict[str, Any]]:
        arguments = {"slug": "pricing"}
        version = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        return [
            (await lines.ask("server/discover", _meta=ENVELOPE))["result"],
            (await lines.ask("tools/list", _meta=ENVELOPE))["result"],
            (await lines.ask("tools/call", name="get_faq", arguments=arguments, _meta=ENVELOPE))["result"],
            (await lines.ask("tools/list", _meta=version))["error"],
        ]

    hello, listed, found, refused = spoken(talk, client)
    assert hello["supportedVersions"] == ["2026-07-28"]
    assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (86_400_000, "public", "complete")
    assert (found["resultType"], found["structuredContent"]["total"]) == ("complete", 3)
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_a_version_that_nobody_knows_is_answered_with_one_that_is_spoken() -> None:  # G6
    async def talk(lines: Lines) -> dict[str, Any]:
        return await lines.shake_hands("1999-01-01")

    assert spoken(talk)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        ("{nonsense", None, -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method"', None, -32700),
        ("\x00\ufffd", None, -32700),
        ("[" * 100_000, None, -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', None, -32700),
        ('{"jsonrpc": "2.0", "id": ' + "1" * 5_000 + ', "method": "ping"}', None, -32700),
        ("[]", None, -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600),
        ("7", None, -32600),
        ("{}", None, -32600),
        ('{"id": 7, "method": 1}', 7, -32600),
        ('{"jsonrpc": "1.0", "id": "x", "method": "ping"}', "x", -32600),
        ('{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}', 8, -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": [1], "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": 9, "method": "\\ud800"}', 9, -32600),
        (
            '{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "get_faq", '
            '"_meta": {"progressToken": "\\udfff"}}}',
            9,
            -32600,
        ),
    ],
)
def test_what_is_no_message_is_answered_and_the_server_goes_on(
    line: str, request_id: object, code: int
) -> None:  # G4
    async def talk(lines: Lines) -> None:
        for _ in range(2):  # before the first message, and after it
            await lines.write(line)
            answer = await lines.read()
            assert (answer["id"], answer["error"]["code"]) == (request_id, code)
            await lines.shake_hands()
        await lines.write("  \n")
        assert len((await lines.ask("tools/list"))["result"]["tools"]) == 4

    spoken(talk)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("get_faq", {"slug": "\ud800"}, "slug"),
        ("get_faq", {"slug": "pricing", "\ud800": 1}, "was unexpected"),
        ("publish_faq", {"websiteName": "a\udc00"}, "websiteName has U+DC00 at character 1"),
    ],
)
def test_half_a_surrogate_pair_in_an_argument_is_told_as_a_bad_one(
    client: FAQClient, name: str, arguments: dict[str, Any], said: str
) -> None:  # G4
    async def talk(lines: Lines) -> dict[str, Any]:
        await lines.shake_hands()
        return await lines.ask("tools/call", name=name, arguments=arguments)

    result = spoken(talk, client)["result"]
    assert result["isError"] is True
    assert said in result["content"][0]["text"]


@pytest.mark.parametrize("levels", [90, 150, 900, 960, 965, 968, 970, 972, 975, 978, 980, 2_000])
def test_however_deep_an_argument_is_the_call_is_answered_in_the_protocol(
    client: FAQClient, levels: int, caplog: pytest.LogCaptureFixture
) -> None:  # G4
    call = (
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_faq", "arguments": %s}}'
    )

    async def talk(lines: Lines) -> dict[str, Any]:
        await lines.shake_hands()
        await lines.write(call % f'{{"slug": {"[" * levels}1{"]" * levels}}}')
        return await lines.read()

    answer = spoken(talk, client)
    if levels < 100:
        assert answer["result"]["isError"] is True
    else:
        assert (answer["id"] in (7, None), answer["error"]["code"]) == (True, -32700)
    assert caplog.records == []


def test_errors_of_the_protocol_have_their_codes() -> None:  # G4
    async def talk(lines: Lines) -> None:
        await lines.shake_hands()
        for params in (
            {"name": "nope", "arguments": {}},
            {"name": "\ud800", "arguments": {}},
            {},
            {"name": "get_faq", "arguments": []},
        ):
            assert (await lines.ask("tools/call", **params))["error"]["code"] == -32602
        assert (await lines.ask("nope"))["error"]["code"] == -32601
        assert (await lines.ask("tools/call", name="get_faq"))["result"]["isError"] is True

    spoken(talk)


def test_a_cancelled_call_is_not_answered_and_ends_its_request(
    client: FAQClient, faulty: FaultyServer
) -> None:  # G14
    faulty.behave(behaviours.hang)

    async def talk(lines: Lines) -> float:
        await lines.shake_hands()
        params = {"name": "get_faq", "arguments": {"slug": "pricing"}}
        await lines.write(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}))
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        await lines.tell("notifications/cancelled", requestId=["of", "another", "form"])
        await lines.tell("notifications/cancelled", requestId=99)
        assert "result" in await lines.ask("ping")
        return time.monotonic()

    left = spoken(talk, client)
    assert time.monotonic() - left < 1.5  # of the two seconds that what is under way would have


def test_a_client_that_leaves_waits_for_nobody(
    client: FAQClient, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # G14
    faulty.behave(behaviours.hang)
    monkeypatch.setattr(wire, "GRACE", 0.05)

    async def talk(lines: Lines) -> None:
        await lines.shake_hands()
        params = {"name": "get_faq", "arguments": {"slug": "pricing"}}
        await lines.write(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}))
        await asyncio.to_thread(faulty.wait_for_requests, 1)

    start = time.monotonic()
    spoken(talk, client)
    assert time.monotonic() - start < 2
