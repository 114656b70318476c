"""The address of a client is taken from headers only if a trusted proxy has sent them."""

import asyncio
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from faqsvc_embed import ConfigurationError
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.service import context
from faqsvc_embed.service.server import BehindProxies, check_proxies


def seen(
    client: tuple[str, int] | None, forwarded: str | None, proxies: tuple[str, ...] = ()
) -> tuple[str | None, str]:
    """Return the client and the scheme that the application sees."""
    found: dict[str, Any] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.update(scope)

    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    headers.append((b"x-forwarded-proto", b"https"))
    scope = {"type": "http", "client": client, "scheme": "http", "headers": headers}
    asyncio.run(BehindProxies(app, proxies)(scope, None, None))  # type: ignore[arg-type]
    return (found["client"] or [None])[0], found["scheme"]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "::1"])
def test_nobody_is_trusted_by_default(address: str) -> None:
    assert seen((address, 5), "203.0.113.9") == (address, "http")


def test_a_trusted_proxy_names_client_and_scheme() -> None:
    assert seen(("10.0.0.5", 5), "203.0.113.9", ("10.0.0.5",)) == ("203.0.113.9", "https")
    assert seen(("10.0.0.6", 5), "203.0.113.9", ("10.0.0.0/24",)) == ("203.0.113.9", "https")
    assert seen(("10.0.1.5", 5), "203.0.113.9", ("10.0.0.0/24",)) == ("10.0.1.5", "http")


def test_a_proxy_that_connects_by_ipv4_to_a_socket_of_ipv6_is_trusted() -> None:
    assert seen(("::ffff:10.0.0.5", 5), "203.0.113.9", ("10.0.0.0/24",)) == ("203.0.113.9", "https")
    assert seen(("::ffff:10.0.1.5", 5), "203.0.113.9", ("10.0.0.0/24",)) == ("::ffff:10.0.1.5", "http")


def test_what_a_client_has_invented_does_not_count() -> None:
    assert seen(("10.0.0.5", 5), "1.1.1.1, 203.0.113.9", ("10.0.0.5",))[0] == "203.0.113.9"
    assert seen(("10.0.0.5", 5), "unix, 203.0.113.9", ("10.0.0.5",))[0] == "203.0.113.9"
    assert seen(None, "1.1.1.1, 203.0.113.9")[0] == "203.0.113.9"


def test_the_proxy_on_a_unix_socket_is_trusted() -> None:
    assert seen(None, "203.0.113.9") == ("203.0.113.9", "https")
    assert seen(None, None) == (None, "https")
    assert seen(None, "203.0.113.9, 10.0.0.5", ("10.0.0.5",))[0] == "203.0.113.9"


def test_a_proxy_that_hides_the_host_is_reported_once(
    client: TestClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_log", LogOnce())
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    for headers in (
        {"Host": "faq.tea.example", **forwarded},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1:8700", **forwarded},
        {"Host": "localhost:2", **forwarded},
    ):
        assert client.get("/llms.txt", headers=headers).status_code == 200
    warnings = [record.getMessage() for record in caplog.records if "--base-url" in record.getMessage()]
    assert len(warnings) == 1
    assert "127.0.0.1:8700" in warnings[0]


@pytest.mark.parametrize("proxy", ["*", "proxy.example", "", "10.0.0.5/8"])
def test_a_proxy_is_an_address_or_a_network(proxy: str) -> None:
    with pytest.raises(ConfigurationError):
        check_proxies([proxy])
