"""The address of a client behind a proxy. Only headers from trusted proxies are used."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.service.http.trusted_proxy import mark

UNIX: Final = ("unix", 0)
"""Stands for the client of a Unix socket, a proxy on this machine, which has no address."""


def check_proxies(proxies: Sequence[str]) -> None:
    """Raise ConfigurationError if a proxy is neither an IP address nor a network."""
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise ConfigurationError(
                f"trusted proxy {quoted(proxy)}: expected an IP address, or a network such as 10.0.0.0/8"
            ) from None


class BehindProxies:
    """ASGI middleware that takes client and scheme from `X-Forwarded-For` and `X-Forwarded-Proto`.

    They are used only in requests from a trusted proxy. The last address that is not a trusted proxy is the
    client, because a client can forge the addresses before it. Such requests are marked, because the desk
    takes the name of a person from them as well (`--sign-in-header`).
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str] = ()) -> None:
        self._app = app
        self._networks = [ip_network(proxy) for proxy in proxies]
        self._translated = ProxyHeadersMiddleware(self._without_unix, [UNIX[0], *proxies])  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope.get("client") is None:
            scope["client"] = UNIX
        if self._is_trusted(scope["client"][0]):
            mark(scope)
        await self._translated(scope, receive, send)  # type: ignore[arg-type]

    def _is_trusted(self, client: str) -> bool:
        return client == UNIX[0] or any(ip_address(client) in network for network in self._networks)

    async def _without_unix(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["client"][0] == UNIX[0]:
            scope["client"] = None
        await self._app(scope, receive, send)
