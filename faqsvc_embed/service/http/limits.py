"""Authentication by API key, and rate limits of client networks."""

import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from starlette.requests import Request

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import APIKeys
from faqsvc_embed.service.storage.values import Access

MAX_CLIENTS: Final = 50_000
"""How many keys or networks are remembered. Beyond that, the least recently seen one is forgotten."""

_MINUTE: Final = 60.0
_WITH_IPV4: Final = (ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96"))
"""Networks of IPv6 addresses that end in an IPv4 address: mapped ones, and those of NAT64 (RFC 6052)."""


class RateLimiter:
    """The generic cell rate algorithm: `per_minute` requests, in one burst or spread over the minute.

    It counts in this process only. `per_minute` is None for no limit; `clock` is monotonic, in seconds.
    """

    def __init__(self, per_minute: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        # The "theoretical arrival time" of each client: when its requests so far would have arrived if
        # they had been evenly spaced. It is at most a minute ahead.
        self._arrivals: dict[str, float] = {}

    def hit(self, client: str) -> float:
        """Count a request and return 0, or return the seconds until the next one is allowed."""
        if self._per_minute is None:
            return 0.0
        interval, now = _MINUTE / self._per_minute, self._clock()
        arrival = max(self._arrivals.pop(client, 0.0), now)  # re-inserted as the newest
        wait = arrival + interval - _MINUTE - now
        is_allowed = wait <= interval * 1e-6  # tolerates floating-point error
        self._arrivals[client] = arrival + interval if is_allowed else arrival
        if len(self._arrivals) > MAX_CLIENTS:
            del self._arrivals[next(iter(self._arrivals))]
        return 0.0 if is_allowed else wait

    def enforce(self, request: Request) -> None:
        """Count a request, unless it came over a Unix socket; raise Problem (429) above the limit."""
        client = client_network(request)
        if client is not None and (wait := self.hit(client)) > 0:
            raise Problem.too_early(f"More than {self._per_minute} requests in a minute", wait)


def client_network(request: Request) -> str | None:
    """Return the network of a client; None if the request came over a Unix socket.

    It is an IPv4 address, or the first 64 bits of an IPv6 address, because one customer has 2^64 of
    those. All clients with an invalid address, which a badly configured proxy may pass on, count as one.
    """
    client = request.client
    return _network(client.host) if client and client.host else None  # granian states an empty host


@lru_cache(maxsize=1024)
def _network(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return "unknown"
    if any(address in network for network in _WITH_IPV4):
        return str(IPv4Address(address.packed[-4:]))
    return f"{int(address) >> 64:x}::/64" if isinstance(address, IPv6Address) else str(address)


async def authenticate(keys: APIKeys, request: Request, scope: Scope) -> Access:
    """Return the access rights of a request's API key, which must have `scope`.

    Raises:
        Problem: there is no key (401); it is unknown, expired or revoked, or lacks the scope (403).
    """
    key = request.headers.get(KEY_HEADER)
    if not key:
        challenge = {"www-authenticate": f'ApiKey header="{KEY_HEADER}"'}
        detail = f"The header {KEY_HEADER} must carry an API key"
        raise Problem(401, "missing-key", detail, headers=challenge)
    access = await run_blocking(keys.verify, key)
    if access is None:
        raise Problem(403, "unknown-key", f"The API key in {KEY_HEADER} is unknown, expired or revoked")
    request.state.faqsvc_key_id = access.key_id  # for the access log
    keys.note_use(access.key_id or "")
    require_scope(access, scope)
    return access


def require_scope(access: Access, scope: Scope) -> None:
    """Raise Problem (403) unless a key has a scope."""
    if not access.may(scope):
        detail = f"The API key has the scope {access.scope!r}; this needs {scope!r}"
        raise Problem(403, "missing-scope", detail)
