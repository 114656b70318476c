"""The tool server over streamable HTTP, on real sockets."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp import create_app
from tests.mcp.support import SECRET, TEA, content, error
from tests.mcp.test_definitions import NAMES
from tests.support.running import running
from tests.support.service import Service

T = TypeVar("T")


def talk(
    url: str,
    work: Callable[[Client], Awaitable[T]],
    headers: dict[str, str] | None = None,
    mode: str = "auto",
    *,
    follow_redirects: bool = True,
) -> T:
    """Return what `work` returns, which talks to the tool server at a URL."""

    async def run() -> T:
        async with (
            httpx2.AsyncClient(headers=headers, follow_redirects=follow_redirects, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as connected,
        ):
            return await work(connected)

    return asyncio.run(run())


@pytest.fixture
def mounted(ours: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The tool server mounted in another application, whose lifespan does not know of it."""
    monkeypatch.setenv("FAQSVC_BASE_URL", ours.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", ours.key)
    with running(Starlette(routes=[Mount("/tools", create_app())])) as address:
        yield f"{address}/tools/"


async def names(connected: Client) -> list[str]:
    """Return the names of the tools."""
    return [tool.name for tool in (await connected.list_tools()).tools]


async def publish(connected: Client) -> Any:
    """Publish an FAQ."""
    return await connected.call_tool("publish_faq", TEA)


@pytest.mark.parametrize(("path", "mode"), [("", "legacy"), ("mcp", "2026-07-28")])
def test_a_mounted_server_has_all_tools(mounted: str, path: str, mode: str) -> None:
    assert talk(mounted + path, names, mode=mode) == NAMES


def test_a_route_of_another_application_needs_no_redirect(
    ours: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", ours.base_url)
    with running(Starlette(routes=[Route("/mcp", create_app())])) as address:
        assert talk(f"{address}/mcp", names, follow_redirects=False) == NAMES


@pytest.mark.parametrize("name", ["X-Plugin-Key", "Authorization"])
def test_each_request_brings_its_key(mounted: str, ours: Service, name: str) -> None:
    value = ours.key if name == "X-Plugin-Key" else f"Bearer {ours.key}"
    published = content(talk(mounted, publish, {name: value}))
    with FAQClient(ours.base_url) as client:
        assert client.get_faq(published["slug"]).website_name == "Tea & Sons"


@pytest.mark.parametrize("headers", [{"Authorization": f"Basic {SECRET}"}, {"X-Plugin-Key": SECRET}])
def test_the_key_of_the_environment_is_not_used_for_writes(mounted: str, headers: dict[str, str]) -> None:
    message = error(talk(mounted, publish, headers))
    assert SECRET not in message
    assert "X-Plugin-Key" in message or "403" in message


@pytest.mark.parametrize("headers", [{"X-Plugin-Key": "<API_KEY>"}, {"Authorization": "Bearer none"}])
def test_a_key_that_is_none_stops_no_read(mounted: str, headers: dict[str, str]) -> None:
    async def read(connected: Client) -> Any:
        return await connected.call_tool("get_faq", {"slug": "no-such"})

    assert "no FAQ 'no-such'" in error(talk(mounted, read, headers))


def test_the_key_of_a_client_that_was_given_is_used(ours: Service) -> None:
    with running(create_app(FAQClient(ours.base_url, ours.key))) as address:
        assert content(talk(f"{address}/mcp", publish))["state"] == "published"


def test_another_path_is_not_found(mounted: str) -> None:
    assert httpx2.get(f"{mounted}other", timeout=60).status_code == 404


def test_a_get_request_of_a_browser_is_refused_at_once(mounted: str) -> None:
    response = httpx2.get(mounted, headers={"Accept": "text/html, */*"}, timeout=60)
    assert (response.status_code, response.headers["allow"], "POST" in response.text) == (405, "POST", True)


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """Run `faqsvc mcp --http` and yield the address that it prints."""
    with subprocess.Popen(
        [sys.executable, "-m", "faqsvc_embed", "mcp", "--http", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            found = re.fullmatch(r"(http://127\.0\.0\.1:[0-9]+/mcp)\n", server.stdout.readline())
            assert found is not None
            yield found[1]
            server.terminate()
            assert server.wait(60) in (0, -15)
        finally:
            server.kill()


@pytest.mark.system
@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        ((), {"tools.example.com": 421}),
        (
            ("--allow-host", "tools.example.com"),
            {"tools.example.com": 200, "tools.example.com:8443": 200, "evil.example": 421},
        ),
    ],
    ids=["no other host", "the host of a proxy in front"],
)
def test_the_command_serves_this_machine_and_the_hosts_that_it_is_given(
    ours: Service, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], statuses: dict[str, int]
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", ours.base_url)
    accept = {"Accept": "application/json, text/event-stream"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with process("127.0.0.1:0", *options) as url:
        assert talk(url, names) == NAMES
        for host, status in statuses.items():
            response = httpx2.post(url, headers={**accept, "Host": host}, json=ping, timeout=60)
            assert response.status_code == status


@pytest.mark.system
def test_the_server_ends_when_its_main_process_is_killed(
    ours: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", ours.base_url)
    with subprocess.Popen(
        [sys.executable, "-m", "faqsvc_embed", "mcp", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline()
        server.kill()
        server.communicate(timeout=60)  # until the worker has closed its end of the pipe
