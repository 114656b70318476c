"""The tool server by JSON-RPC lines, in memory."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp import stdio
from faqsvc_embed.mcp.server import create_server
from faqsvc_embed.mcp.stdio import serve
from tests.mcp.support import shown
from tests.mcp.test_definitions import NAMES
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.embeds import SLACK
from tests.support.faulty import FaultyServer

T = TypeVar("T")

ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Lines:
    """A client of JSON-RPC 2.0, one message a line."""

    def __init__(self, lines: MemoryObjectSendStream[str], output: MemoryObjectReceiveStream[str]) -> None:
        self._lines = lines
        self._output = output
        self._last = 0

    async def write(self, line: str) -> None:
        await self._lines.send(f"{line}\n")

    async def start_call(self, number: int) -> None:
        """Send a call of a tool, without waiting for its response."""
        params = {"name": "get_faq", "arguments": {"slug": "pricing"}}
        await self.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        )

    async def end(self) -> None:
        """End the input of the server."""
        await self._lines.aclose()

    async def read(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            line = await self._output.receive()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        await self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        response = await self.read()
        assert response["id"] == self._last
        return response

    async def notify(self, method: str, **params: Any) -> None:
        await self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    async def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        response = await self.request(
            "initialize", protocolVersion=version, capabilities={}, clientInfo=client
        )
        await self.notify("notifications/initialized")
        return response


class Output:
    """What the server writes, as a file."""

    def __init__(self, lines: MemoryObjectSendStream[str]) -> None:
        self.write = lines.send

    async def flush(self) -> None:
        """Nothing is buffered."""


@asynccontextmanager
async def _connected(client: FAQClient | None) -> AsyncIterator[Lines]:
    send_input, stdin = anyio.create_memory_object_stream[str](0)
    send_output, output = anyio.create_memory_object_stream[str](100)
    async with stdin, send_output, output, anyio.create_task_group() as group:
        group.start_soon(serve, create_server(client), stdin, Output(send_output))
        async with send_input:
            yield Lines(send_input, output)


def talk(work: Callable[[Lines], Awaitable[T]], client: FAQClient | None = None) -> T:
    """Return what `work` returns, which talks to a tool server over `client`; then its input ends."""

    async def run() -> T:
        async with _connected(client) as lines:
            return await work(lines)

    return asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_server_speaks_the_handshake_era(client: FAQClient, version: str) -> None:
    async def work(lines: Lines) -> list[dict[str, Any]]:
        return [
            (await lines.initialize(version))["result"],
            (await lines.request("tools/list"))["result"],
            (await lines.request("tools/call", name="get_faq", arguments={"slug": "pricing"}))["result"],
        ]

    hello, listed, found = talk(work, client)
    assert (hello["protocolVersion"], hello["capabilities"]) == (version, {"tools": {"listChanged": False}})
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    assert found["structuredContent"] == shown(samples.pricing())
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]


def test_the_server_speaks_the_stateless_era(client: FAQClient) -> None:
    async def work(lines: Lines) -> list[dict[str, Any]]:
        arguments = {"slug": "pricing"}
        version = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        return [
            (await lines.request("server/discover", _meta=ENVELOPE))["result"],
            (await lines.request("tools/list", _meta=ENVELOPE))["result"],
            (await lines.request("tools/call", name="get_faq", arguments=arguments, _meta=ENVELOPE))[
                "result"
            ],
            (await lines.request("tools/list", _meta=version))["error"],
        ]

    hello, listed, found, refused = talk(work, client)
    assert hello["supportedVersions"] == ["2026-07-28"]
    assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (86_400_000, "public", "complete")
    assert (found["resultType"], found["structuredContent"]["total"]) == ("complete", 3)
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_an_unknown_version_gets_a_known_one() -> None:
    async def work(lines: Lines) -> dict[str, Any]:
        return await lines.initialize("1999-01-01")

    assert talk(work)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        ("{nonsense", None, -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method"', None, -32700),
        ("\x00\ufffd", None, -32700),
        ("[" * 100_000, None, -32700),
        ('{"jsonrpc": "2.0", "id": ' + "1" * 5_000 + ', "method": "ping"}', None, -32700),
        ("[]", None, -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600),
        ("7", None, -32600),
        ("{}", None, -32600),
        ('{"id": 7, "method": 1}', 7, -32600),
        ('{"id": true, "method": 1}', None, -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', None, -32600),
        ('{"jsonrpc": "1.0", "id": "x", "method": "ping"}', "x", -32600),
        ('{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}', 8, -32600),
    ],
)
def test_a_line_that_is_not_a_message_gets_an_error_and_the_server_goes_on(
    line: str, request_id: object, code: int
) -> None:
    async def work(lines: Lines) -> None:
        for _ in range(2):  # before the first message, and after it
            await lines.write(line)
            answer = await lines.read()
            assert (answer["id"], answer["error"]["code"]) == (request_id, code)
            await lines.initialize()
        await lines.write("  \n")
        assert len((await lines.request("tools/list"))["result"]["tools"]) == 7

    talk(work)


@pytest.mark.parametrize("arguments", [{"slug": "\ud800"}, {"slug": "pricing", "\udfff": 1}])
def test_half_a_surrogate_pair_is_not_json_but_its_request_gets_an_error(
    client: FAQClient, arguments: dict[str, Any]
) -> None:
    async def work(lines: Lines) -> dict[str, Any]:
        await lines.initialize()
        return await lines.request("tools/call", name="get_faq", arguments=arguments)

    assert talk(work, client)["error"]["code"] == -32700


@pytest.mark.parametrize("levels", [90, 195, 970, 2_000])
def test_a_call_gets_a_response_however_deep_its_argument_is(
    client: FAQClient, levels: int, caplog: pytest.LogCaptureFixture
) -> None:
    call = (
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_faq", "arguments": %s}}'
    )

    async def work(lines: Lines) -> dict[str, Any]:
        await lines.initialize()
        await lines.write(call % f'{{"slug": {"[" * levels}1{"]" * levels}}}')
        return await lines.read()

    response = talk(work, client)
    if "result" in response:
        assert response["result"]["isError"] is True
    else:
        assert (response["id"] in (7, None), response["error"]["code"]) == (True, -32700)
    assert caplog.records == []


def test_errors_of_the_protocol_have_their_codes() -> None:
    async def work(lines: Lines) -> None:
        await lines.initialize()
        for params in (
            {"name": "nope", "arguments": {}},
            {},
            {"name": "get_faq", "arguments": []},
        ):
            assert (await lines.request("tools/call", **params))["error"]["code"] == -32602
        assert (await lines.request("nope"))["error"]["code"] == -32601
        assert (await lines.request("tools/call", name="get_faq"))["result"]["isError"] is True

    talk(work)


def test_a_cancelled_call_gets_no_response_and_ends_its_request(
    client: FAQClient, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty.behave(behaviours.hang)
    monkeypatch.setattr(stdio, "GRACE", 60)

    async def work(lines: Lines) -> float:
        await lines.initialize()
        await lines.start_call(99)
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        await lines.notify("notifications/cancelled", requestId=["of", "another", "form"])
        await lines.notify("notifications/cancelled", requestId=99)
        assert "result" in await lines.request("ping")
        return time.monotonic()

    left = talk(work, client)
    assert time.monotonic() - left < SLACK


def test_a_running_request_gets_its_response_after_the_input_has_ended(
    client: FAQClient, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "GRACE", 60)
    released = threading.Event()

    def slowly(exchange: behaviours.Exchange) -> None:
        released.wait(60)
        behaviours.healthy(exchange)

    async def work(lines: Lines) -> dict[str, Any]:
        await lines.initialize()
        await lines.start_call(9)
        await lines.end()
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        released.set()
        return await lines.read()

    faulty.behave(slowly)
    response = talk(work, client)
    assert (response["id"], response["result"]["isError"]) == (9, False)


def test_a_server_waits_for_running_requests_for_a_limited_time(
    client: FAQClient, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty.behave(behaviours.hang)
    monkeypatch.setattr(stdio, "GRACE", 0.05)

    async def work(lines: Lines) -> None:
        await lines.initialize()
        await lines.start_call(9)
        await asyncio.to_thread(faulty.wait_for_requests, 1)

    start = time.monotonic()
    talk(work, client)
    assert time.monotonic() - start < 0.05 + SLACK
