"""The address of a client behind a proxy. Only headers from trusted proxies are used."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.service.http.urls import mark


def check_proxies(proxies: Sequence[str]) -> None:
    """Raise ConfigurationError if a proxy is neither an IP address nor a network."""
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise ConfigurationError(
                f"trusted proxy {quoted(proxy)}: expected an IP address, or a network such as 10.0.0.0/8;"
                " FAQSVC_TRUSTED_PROXIES separates several with blanks"
            ) from None


class BehindProxies:
    """ASGI middleware that takes client and scheme from `X-Forwarded-For` and `X-Forwarded-Proto`.

    They are used only in requests from a trusted proxy, or over a Unix socket. The last address that is not
    a trusted proxy is the client, because a client can forge the addresses before it. Such requests are
    marked, because the desk takes the name of a person from them as well (`--sign-in-header`).
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str] = ()) -> None:
        self._app = app
        networks = [ip_network(proxy) for proxy in proxies]

        @lru_cache(maxsize=1024)
        def is_trusted(host: str) -> bool:
            try:
                address = ip_address(host)
            except ValueError:
                return False
            return any(address in network for network in networks)

        self._is_trusted = is_trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as its client has sent it."""
        if scope["type"] == "http":
            client = scope.get("client")
            if client is None or not client[0]:  # a Unix socket
                scope["client"] = None
                self._translate(scope)
            elif self._is_trusted(client[0]):
                self._translate(scope)
        await self._app(scope, receive, send)

    def _translate(self, scope: Scope) -> None:
        mark(scope)
        given = {b"x-forwarded-for": "", b"x-forwarded-proto": ""}
        for name, value in scope["headers"]:
            if name in given:
                given[name] += "," + value.decode("latin-1")
        hosts = [_host(part) for part in given[b"x-forwarded-for"].split(",") if part.strip()]
        if hosts:
            strangers = (host for host in reversed(hosts) if not self._is_trusted(host))
            scope["client"] = (next(strangers, hosts[0]), 0)
        scheme = given[b"x-forwarded-proto"].rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme


def _host(text: str) -> str:
    """Return the address in a part of X-Forwarded-For, to which some proxies add brackets or a port."""
    text = text.strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.partition(":")
    return host if colon and port.isdigit() else text
