"""`faqsvc mcp` as a process: by the SDK's client, and by JSON-RPC lines written here."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.mcp.conftest import SECRET
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service

ROOT: Final = Path(__file__).parents[2]
COMMANDS: Final = [["-m", "faqsvc_embed.cli", "mcp"], ["-m", "faqsvc_embed.mcp"]]
ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TEA: Final[dict[str, Any]] = {
    "websiteUrl": "https://www.tea.example",
    "websiteName": "Tea & Sons",
    "items": [{"question": "What does it cost?", "answer": "Nothing."}],
}


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}


class Raw:
    """A client of JSON-RPC 2.0, one message a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._last = 0

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        answer = self.read()
        assert answer["id"] == self._last
        return answer

    def tell(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def shake_hands(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.tell("notifications/initialized")
        return answer

    def end(self) -> tuple[str, str]:
        """Close its input, and return what it still says on both outputs."""
        return self.process.communicate(timeout=10)


@contextmanager
def raw(command: list[str] = COMMANDS[0], **variables: str) -> Iterator[Raw]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *command],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=environment(**variables),
    ) as process:
        try:
            yield Raw(process)
        finally:
            process.kill()


@pytest.mark.parametrize("command", COMMANDS, ids=["faqsvc mcp", "python -m faqsvc_embed.mcp"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_publishes_and_reads(ours: Service, command: list[str], mode: str) -> None:  # G6
    variables = {"FAQSVC_BASE_URL": ours.base_url, "FAQSVC_API_KEY": ours.key, "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(command=sys.executable, args=command, env=variables)

    async def publish_and_read() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(server, mode=mode) as client:
            published = (await client.call_tool("publish_faq", TEA)).structured_content
            assert isinstance(published, dict)
            found = (await client.call_tool("get_faq", {"slug": published["slug"]})).structured_content
            assert isinstance(found, dict)
            return published, found

    published, found = asyncio.run(publish_and_read())
    assert found["slug"] == published["slug"]
    assert found["items"] == [{"position": 0, **TEA["items"][0]}]


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_handshake_era_is_spoken(faulty: FaultyServer, version: str) -> None:  # G6
    faulty.serve(samples.pricing())
    with raw(FAQSVC_BASE_URL=faulty.base_url) as client:
        hello = client.shake_hands(version)["result"]
        listed = client.ask("tools/list")["result"]
        found = client.ask("tools/call", name="get_faq", arguments={"slug": "pricing"})["result"]
        rest = client.end()
    assert (hello["protocolVersion"], hello["capabilities"]) == (version, {"tools": {"listChanged": False}})
    assert [tool["name"] for tool in listed["tools"]] == [
        "get_faq",
        "get_faq_jsonld",
        "generate_faq",
        "publish_faq",
    ]
    assert found["structuredContent"] == {**samples.pricing(), "total": 3}
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    assert (rest, client.process.returncode) == (("", ""), 0)


def test_the_stateless_era_is_spoken(faulty: FaultyServer) -> None:  # G6
    faulty.serve(samples.pricing())
    with raw(FAQSVC_BASE_URL=faulty.base_url) as client:
        hello = client.ask("server/discover", _meta=ENVELOPE)["result"]
        listed = client.ask("tools/list", _meta=ENVELOPE)["result"]
        arguments = {"slug": "pricing"}
        found = client.ask("tools/call", name="get_faq", arguments=arguments, _meta=ENVELOPE)["result"]
        version = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        refused = client.ask("tools/list", _meta=version)["error"]
    assert hello["supportedVersions"] == ["2026-07-28"]
    assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (86_400_000, "public", "complete")
    assert (found["resultType"], found["structuredContent"]["total"]) == ("complete", 3)
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_a_version_that_nobody_knows_is_answered_with_one_that_is_spoken() -> None:  # G6
    with raw() as client:
        assert client.shake_hands("1999-01-01")["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        ("{nonsense", None, -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method"', None, -32700),
        ("\x00\xff", None, -32700),
        ("[" * 100_000, None, -32700),
        ("[]", None, -32600),
        ("7", None, -32600),
        ('{"id": 7, "method": 1}', 7, -32600),
        ('{"jsonrpc": "1.0", "id": "x", "method": "ping"}', "x", -32600),
    ],
)
def test_what_is_no_message_is_answered_and_the_server_goes_on(
    line: str, request_id: object, code: int
) -> None:  # G4
    with raw() as client:
        for _ in range(2):  # before the first message, and after it
            client.write(line)
            answer = client.read()
            assert (answer["id"], answer["error"]["code"]) == (request_id, code)
            client.shake_hands()
        client.write("")
        assert len(client.ask("tools/list")["result"]["tools"]) == 4


def test_errors_of_the_protocol_have_their_codes() -> None:  # G4
    with raw() as client:
        client.shake_hands()
        assert client.ask("tools/call", name="nope", arguments={})["error"]["code"] == -32602
        assert client.ask("tools/call")["error"]["code"] == -32602
        assert client.ask("tools/call", name="get_faq", arguments=[])["error"]["code"] == -32602
        assert client.ask("nope")["error"]["code"] == -32601
        assert client.ask("tools/call", name="get_faq")["result"]["isError"] is True


def test_a_client_that_writes_all_and_leaves_is_answered(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    client_info = {"name": "raw", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "get_faq", "arguments": {"slug": "pricing"}}},
    ]  # fmt: skip
    ran = subprocess.run(
        [sys.executable, *COMMANDS[0]],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True, text=True, check=True, timeout=20,
        env=environment(FAQSVC_BASE_URL=faulty.base_url),
    )  # fmt: skip
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["slug"] == "pricing"


def test_a_client_that_leaves_waits_for_nobody(faulty: FaultyServer) -> None:  # G14
    faulty.behave(behaviours.hang)
    with raw(FAQSVC_BASE_URL=faulty.base_url, FAQSVC_TIMEOUT="60") as client:
        client.shake_hands()
        params = {"name": "get_faq", "arguments": {"slug": "pricing"}}
        client.write(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}))
        faulty.wait_for_requests(1)
        client.end()
        assert client.process.returncode == 0


def test_a_cancelled_call_is_not_answered_and_ends_its_request(faulty: FaultyServer) -> None:  # G14
    faulty.behave(behaviours.hang)
    with raw(FAQSVC_BASE_URL=faulty.base_url, FAQSVC_TIMEOUT="60") as client:
        client.shake_hands()
        params = {"name": "get_faq", "arguments": {"slug": "pricing"}}
        client.write(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}))
        faulty.wait_for_requests(1)
        client.tell("notifications/cancelled", requestId=99)
        assert "result" in client.ask("ping")
        start = time.monotonic()
        client.end()
        assert time.monotonic() - start < 1.5  # of the two seconds that what is under way would have


def test_standard_output_is_the_protocols_and_the_key_is_nowhere(faulty: FaultyServer) -> None:  # G7
    def echo(exchange: behaviours.Exchange) -> None:
        exchange.reply(422, json.dumps({"detail": exchange.request.headers["x-plugin-key"]}).encode())

    faulty.behave(echo)
    with raw(FAQSVC_BASE_URL=faulty.base_url, FAQSVC_API_KEY=SECRET) as client:
        client.shake_hands()
        answer = client.ask("tools/call", name="publish_faq", arguments=TEA)
        client.write("{nonsense " + SECRET)
        parse_error = client.read()
        rest = client.end()
    assert answer["result"]["isError"] is True
    assert "s3cret" not in json.dumps([answer, parse_error, rest])
    assert rest[0] == ""


@pytest.mark.parametrize("command", COMMANDS, ids=["faqsvc mcp", "python -m faqsvc_embed.mcp"])
def test_ctrl_c_ends_the_server_without_a_traceback(command: list[str]) -> None:
    with raw(command) as client:
        client.shake_hands()
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(5) == -signal.SIGINT
        assert client.end() == ("", "")


RUN_CLI: Final = "from faqsvc_embed.cli import main; main()"
RUN_MODULE: Final = "import runpy; runpy.run_module('faqsvc_embed.mcp', run_name='__main__')"


@pytest.mark.parametrize("code", [RUN_CLI, RUN_MODULE], ids=["faqsvc mcp", "python -m faqsvc_embed.mcp"])
@pytest.mark.parametrize("missing", ["mcp", "mcp_types", "jsonschema"])
def test_the_extra_is_named_if_it_is_missing(code: str, missing: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules[{missing!r}] = None; {code}", "mcp"],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
    assert ran.stderr.endswith(" is not installed: pip install 'faqsvc-embed[mcp]'\n")
