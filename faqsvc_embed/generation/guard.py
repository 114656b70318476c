"""Where a visit may go: every address is checked at the one place that opens connections.

Checking a URL and then connecting to its host would resolve the name twice, and the second answer may be
another. Here the resolver is asked once, and the connection goes to the address that was checked; above it
HTTP and TLS still see the name, so `Host`, SNI and the certificate are those of the site.
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
from faqsvc_embed.generation.addresses import why_refused

PORTS: Final = {"http": 80, "https": 443}
MAX_TRIED: Final = 3
"""Addresses of one name that are tried before its site counts as unreachable."""

Endpoint = tuple[str, int]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?", re.ASCII)
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


class Refused(FAQError):
    """A URL that is not visited, whatever is there: it, or where it leads, is not on the public web."""


def parse_allowed(value: str | Iterable[str]) -> frozenset[Endpoint]:
    """Read `host:port[,…]`, the endpoints that may be visited although they are not public.

    Raises:
        ConfigurationError: an entry has another form.
    """
    entries = value.split(",") if isinstance(value, str) else list(value)
    return frozenset(_endpoint(entry.strip()) for entry in entries if entry.strip())


def _endpoint(entry: str) -> Endpoint:
    host, separator, port = entry.rpartition(":")
    if not separator or not host.strip("[]") or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ConfigurationError(
            f"generate_allow has {quoted(entry)}: host:port, such as 127.0.0.1:8080, is accepted"
        )
    return host.strip("[]").lower(), int(port)


def check_url(url: str | httpx2.URL, allowed: frozenset[Endpoint] = frozenset()) -> httpx2.URL:
    """Return a URL that may be visited as far as its text tells, without its fragment.

    Raises:
        Refused: it has another scheme or port, a user name, or no host that can be on the public web.
    """
    named = quoted(str(url))
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise Refused(f"{named} is no address of a website: {error}") from None
    if parsed.scheme not in PORTS:
        raise Refused(f"{named} is not visited: an http or https address is accepted")
    if parsed.userinfo:
        raise Refused(f"{named} is not visited: an address without user name and password is accepted")
    host, port = endpoint_of(parsed)
    if not _is_host(host):
        raise Refused(f"{named} is not visited: {quoted(host)} is no host of the public web")
    if port not in PORTS.values() and (host, port) not in allowed:
        raise Refused(f"{named} is not visited: port {port} is neither 80 nor 443")
    return parsed.copy_with(fragment=None)


def endpoint_of(url: httpx2.URL) -> Endpoint:
    """Return host and port as they are connected to: an international name as its ASCII form."""
    return url.raw_host.decode("ascii").lower(), url.port or PORTS[url.scheme]


def _is_host(host: str) -> bool:
    """Tell whether this is an IP address in its usual form, or a name that no resolver takes for one."""
    try:
        ipaddress.ip_address(host)
        return "%" not in host  # a network interface of ours
    except ValueError:
        # `inet_aton` reads 127.1, 2130706433, 0177.0.0.1 and 0x7f000001 as 127.0.0.1; nobody means them.
        last_label = host.rstrip(".").rpartition(".")[2]
        return _HOST_NAME.fullmatch(host) is not None and _NUMERIC_LABEL.fullmatch(last_label) is None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, each once, in the order of the system's resolver."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Guard(httpcore2.AsyncNetworkBackend):
    """Opens connections to public addresses only, and to what is allowed by name or by address.

    One is made for each visit. It asks for a name once in that time: what was checked is what is used.
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
        self._resolved: dict[str, Sequence[str]] = {}

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to an address of the host, after all of them were checked.

        Raises:
            Refused: one of them is not public.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: none of them answers.
        """
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in (await self._checked(host, port))[:MAX_TRIED]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: no website is on one."""
        raise Refused(f"{quoted(path)} is not visited: it is no website")

    async def sleep(self, seconds: float) -> None:
        """Wait, as HTTP asks between attempts."""
        await self._network.sleep(seconds)

    async def _checked(self, host: str, port: int) -> Sequence[str]:
        if host not in self._resolved:
            try:
                addresses = await self._resolve(host, port)
            except (OSError, UnicodeError) as error:
                raise httpcore2.ConnectError(f"the name {host} cannot be resolved: {error}") from None
            self._resolved.setdefault(host, addresses)
        addresses = self._resolved[host]
        if (host, port) in self._allowed:
            return addresses
        for address in addresses:
            if (address, port) in self._allowed:
                continue
            if reason := why_refused(address):
                # Not which address: who asks here need not learn what our resolver knows.
                raise Refused(f"{host} is not visited: an address of it is {reason}")
            if port not in PORTS.values():
                raise Refused(f"{host} is not visited: port {port} is neither 80 nor 443")
        return addresses
