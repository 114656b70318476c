"""Protection against server-side request forgery: connections to public addresses only.

Checking a URL before connecting would resolve its host twice, and the second result may differ (DNS
rebinding). Here the host is resolved once, where connections are opened, and the connection goes to the
checked address. HTTP and TLS still see the name, so `Host`, SNI and the certificate are those of the site.

Blocked are the special-purpose addresses of the IANA registries (RFC 6890), IPv6 addresses that contain an
IPv4 address, and the metadata services of clouds. `networks.toml` has all of them, because `is_global` of
`ipaddress` differs between Python versions.
"""

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import anyio
import httpcore2
import httpx2

from faqsvc_embed.errors import ConfigurationError, FAQError, quoted
from faqsvc_embed.generation.data import load

PORTS: Final = {"http": 80, "https": 443}
MAX_ATTEMPTS: Final = 3
"""Addresses of a host that are tried."""

Endpoint = tuple[str, int]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?", re.ASCII)
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
PUBLIC_IPV6: Final = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 that is allocated for the internet (RFC 4291, 2.4)."""
_BLOCKED: Final = [
    (ipaddress.ip_network(key), reason) for key, reason in load("networks", dict[str, str]).items()
]


class BlockedURL(FAQError):
    """A URL that is never requested: it is not on the public web, or robots.txt disallows it.

    `endpoint` is what `parse_allowed` has to name for it to be requested, None if nothing allows it.
    """

    def __init__(self, message: str, endpoint: Endpoint | None = None) -> None:
        super().__init__(message)
        self.endpoint = endpoint


def parse_allowed(value: str | Iterable[str]) -> frozenset[Endpoint]:
    """Return the endpoints in `host:port[,…]`, which may be requested although they are not public.

    Raises:
        ConfigurationError: an entry is not `host:port`.
    """
    entries = value.split(",") if isinstance(value, str) else list(value)
    return frozenset(_endpoint(entry.strip()) for entry in entries if entry.strip())


def _endpoint(entry: str) -> Endpoint:
    host, separator, port = entry.rpartition(":")
    if not separator or not host.strip("[]") or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ConfigurationError(f"generate_allow has {quoted(entry)}: use host:port, such as 127.0.0.1:8080")
    return host.strip("[]").lower(), int(port)


def check_url(
    url: str | httpx2.URL, allowed: frozenset[Endpoint] = frozenset(), *, any_port: bool = False
) -> httpx2.URL:
    """Return a URL with a path and without a fragment. Only its text is checked; nothing is resolved.

    Raises:
        BlockedURL: its scheme, port, user name or host is not accepted.
    """
    shown = quoted(str(url))
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise BlockedURL(f"{shown} is not a valid URL: {error}") from None
    if parsed.scheme not in PORTS:
        raise BlockedURL(f"{shown} is blocked: use an http or https URL")
    if parsed.userinfo:
        raise BlockedURL(f"{shown} is blocked: use a URL without user name and password")
    host, port = endpoint_of(parsed)
    if not _is_host(host):
        raise BlockedURL(f"{shown} is blocked: {quoted(host)} is not a host on the public web")
    if not any_port and port not in PORTS.values() and (host, port) not in allowed:
        raise BlockedURL(f"{shown} is blocked: port {port} is neither 80 nor 443", (host, port))
    return parsed.copy_with(raw_path=parsed.raw_path, fragment=None)


def endpoint_of(url: httpx2.URL) -> Endpoint:
    """Return the host, in ASCII, and the port of a URL."""
    return url.raw_host.decode("ascii").lower(), url.port or PORTS[url.scheme]


def _is_host(host: str) -> bool:
    """Return whether this is an IP address, or a host name that no resolver reads as an IP address."""
    try:
        ipaddress.ip_address(host)
        return "%" not in host  # the name of a network interface
    except ValueError:
        # Resolvers read 127.1, 2130706433, 0177.0.0.1 and 0x7f000001 as 127.0.0.1 (`inet_aton`).
        last_label = host.rstrip(".").rpartition(".")[2]
        return _HOST_NAME.fullmatch(host) is not None and _NUMERIC_LABEL.fullmatch(last_label) is None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a host, in the order of the system's resolver."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def why_blocked(address: str) -> str | None:
    """Return why an IP address is not public, or None for a public one.

    Raises:
        ValueError: it is not an IP address in its usual form: four decimal numbers, or IPv6.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id is not None:
        return "limited to one network interface (RFC 4007)"
    reason = next((reason for network, reason in _BLOCKED if ip in network), None)
    is_allocated = ip.version == 4 or ip in PUBLIC_IPV6
    return reason or (None if is_allocated else "not allocated for the internet (RFC 4291)")


class SSRFGuard(httpcore2.AsyncNetworkBackend):
    """Opens connections to public addresses, and to allowed endpoints, by name or by address.

    Each crawl has its own guard, which resolves every host once.
    """

    def __init__(
        self,
        allowed: frozenset[Endpoint] = frozenset(),
        *,
        resolve: Resolve = resolve,
        network: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = network or httpcore2.AnyIOBackend()
        self._addresses: dict[str, Sequence[str]] = {}

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Check all addresses of a host, then connect to one of them.

        Raises:
            BlockedURL: an address is not public.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: no connection can be opened.
        """
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in (await self._checked_addresses(host, port))[:MAX_ATTEMPTS]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _checked_addresses(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host; raises BlockedURL if one must not be connected to."""
        if host not in self._addresses:
            try:
                addresses = await self._resolve(host, port)
            except (OSError, UnicodeError) as error:
                raise httpcore2.ConnectError(f"{host} cannot be resolved: {error}") from None
            self._addresses.setdefault(host, addresses)
        addresses = self._addresses[host]
        if (host, port) in self._allowed:
            return addresses
        for address in addresses:
            if (address, port) in self._allowed:
                continue
            if reason := why_blocked(address):
                # The message does not contain the address, which would reveal internal DNS.
                message = f"{host} is blocked: it has an address that is not public: {reason}"
                raise BlockedURL(message, (host, port))
            if port not in PORTS.values():
                raise BlockedURL(f"{host} is blocked: port {port} is neither 80 nor 443", (host, port))
        return addresses
