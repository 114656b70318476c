"""`faqsvc mcp` as a process, with the SDK's client and with JSON-RPC lines."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.mcp.support import SECRET, TEA
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service

ROOT: Final = Path(__file__).parents[2]
COMMAND: Final = ["-m", "faqsvc_embed", "mcp"]
PATIENT: Final = "from faqsvc_embed.mcp import stdio; stdio.GRACE = 60; stdio.main()"
"""The server, which waits for its last responses as long as a busy machine needs."""

pytestmark = pytest.mark.system


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

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        answer = self.read()
        assert answer["id"] == self._last
        return answer

    def notify(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        answer = self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.notify("notifications/initialized")
        return answer

    def end(self) -> tuple[str, str]:
        """Close the input, and return the rest of both outputs."""
        return self.process.communicate(timeout=60)


@contextmanager
def raw(**variables: str) -> Iterator[Raw]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *COMMAND],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        encoding="utf-8",
        errors="surrogateescape",
        env=environment(**variables),
    ) as process:
        try:
            yield Raw(process)
        finally:
            process.kill()


def test_the_sdks_client_of_the_handshake_era_publishes_and_reads(ours: Service) -> None:
    variables = {"FAQSVC_BASE_URL": ours.base_url, "FAQSVC_API_KEY": ours.key, "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(command=sys.executable, args=COMMAND, env=variables)

    async def publish_and_read() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(server, mode="legacy") as client:
            published = (await client.call_tool("publish_faq", TEA)).structured_content
            assert isinstance(published, dict)
            found = (await client.call_tool("get_faq", {"slug": published["slug"]})).structured_content
            assert isinstance(found, dict)
            return published, found

    published, found = asyncio.run(publish_and_read())
    assert found["slug"] == published["slug"]
    assert found["items"] == TEA["items"]


def test_a_client_that_closes_its_input_gets_every_response(faulty: FaultyServer) -> None:
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
        [sys.executable, "-c", PATIENT],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True, text=True, check=True, timeout=60,
        env=environment(FAQSVC_BASE_URL=faulty.base_url),
    )  # fmt: skip
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["slug"] == "pricing"


def test_standard_output_has_only_the_protocol_and_never_the_key(faulty: FaultyServer) -> None:
    def echo(exchange: behaviours.Exchange) -> None:
        exchange.respond(422, json.dumps({"detail": exchange.request.headers["x-plugin-key"]}).encode())

    faulty.behave(echo)
    with raw(FAQSVC_BASE_URL=faulty.base_url, FAQSVC_API_KEY=SECRET) as client:
        client.initialize()
        answer = client.request("tools/call", name="publish_faq", arguments=TEA)
        client.write("\udcff{nonsense " + SECRET)  # a byte that is no UTF-8, too
        parse_error = client.read()
        assert parse_error["error"]["code"] == -32700
        rest = client.end()
    assert answer["result"]["isError"] is True
    assert "s3cret" not in json.dumps([answer, parse_error, rest])
    assert (rest, client.process.returncode) == (("", ""), 0)


def test_ctrl_c_ends_the_server_without_a_traceback() -> None:
    with raw() as client:
        client.initialize()
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(60) == -signal.SIGINT
        assert client.end() == ("", "")


def test_a_client_that_goes_away_ends_the_server_silently() -> None:
    with raw(PYTHONUNBUFFERED="") as client:
        client.initialize()
        assert client.process.stdin is not None
        assert client.process.stdout is not None
        assert client.process.stderr is not None
        client.process.stdout.close()
        client.write('{"jsonrpc": "2.0", "id": 2, "method": "ping"}')
        client.process.stdin.close()
        assert (client.process.wait(60), client.process.stderr.read()) == (0, "")


def test_a_person_at_a_terminal_is_told_that_the_server_waits_for_a_client() -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"\x04")  # Ctrl-D
    ran = subprocess.run(
        [sys.executable, *COMMAND],
        stdin=theirs,
        capture_output=True,
        check=True,
        env=environment(),
        timeout=60,
    )
    os.close(ours)
    os.close(theirs)
    assert (b"MCP client" in ran.stderr, ran.stdout) == (True, b"")
