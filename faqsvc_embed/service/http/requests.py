"""What is checked before a handler gets a request: rate limits, API keys, parameters and the body."""

import re
import time
from collections.abc import Callable, Collection, MutableMapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final, TypeVar

import anyio
import msgspec
from starlette.requests import ClientDisconnect, Request

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.api.validation import shortened, unknown_fields
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.responses import JSON, Problem, best_media_type
from faqsvc_embed.service.storage.values import Access

T = TypeVar("T", bound=msgspec.Struct)

BODY_TIMEOUT: Final = 30.0
"""Seconds in which a body must arrive."""
MAX_REST: Final = 32_000_000
"""Maximum bytes that `drain` reads."""
MAX_TIME: Final = 1.0
"""Maximum seconds for which `drain` reads."""
MAX_PAUSE: Final = 0.5
"""Seconds without data after which a client counts as no longer sending."""
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


async def authenticate(service: ServiceContext, request: Request, scope: Scope) -> Access:
    """Return the access rights of a request's API key, which must have `scope`.

    Raises:
        Problem: there is no key (401); it is unknown, expired or revoked, or lacks the scope (403).
    """
    key = request.headers.get(KEY_HEADER)
    if not key:
        challenge = {"www-authenticate": f'ApiKey header="{KEY_HEADER}"'}
        detail = f"The header {KEY_HEADER} must carry an API key"
        raise Problem(401, "missing-key", detail, headers=challenge)
    access = await service.check(service.storage.keys.verify, key)
    if access is None:
        raise Problem(403, "unknown-key", f"The API key in {KEY_HEADER} is unknown, expired or revoked")
    request.state.faqsvc_key_id = access.key_id  # for the access log
    service.storage.keys.note_use(access.key_id or "")
    require_scope(access, scope)
    return access


def require_scope(access: Access, scope: Scope) -> None:
    """Raise Problem (403) unless a key has a scope."""
    if not access.may(scope):
        detail = f"The API key has the scope {access.scope!r}; this needs {scope!r}"
        raise Problem(403, "missing-scope", detail)


def require_json(request: Request) -> None:
    """Raise Problem unless a request sends JSON, not compressed (415), and accepts it (406)."""
    best_media_type(request, JSON)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        headers = {"accept": JSON}
        raise Problem(415, "unsupported-media-type", f"Content-Type must be {JSON}", headers=headers)
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        headers = {"accept-encoding": "identity"}
        raise Problem(415, "unsupported-media-type", "The body must not be compressed", headers=headers)


async def read_body(request: Request, max_size: int) -> bytes:
    """Return the body of a request: at most `max_size` bytes, within `BODY_TIMEOUT` seconds.

    Raises Problem if it is too large (413) or too slow (408), or ends early (400).
    """
    too_large = Problem(413, "body-too-large", f"The body is larger than {max_size} bytes")
    if content_length(request) > max_size:
        raise too_large
    body = bytearray()
    try:
        with anyio.fail_after(BODY_TIMEOUT):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_size:
                    raise too_large
    except TimeoutError:
        detail = f"The body did not arrive within {BODY_TIMEOUT:g} s"
        raise Problem(408, "request-timeout", detail, headers={"connection": "close"}) from None
    except ClientDisconnect:
        raise Problem(400, "bad-request", "The body ended early") from None
    return bytes(body)


async def drain(request: Request) -> None:
    """Read the rest of the body that the handler did not read, before the response is sent.

    If the response ends before the body, granian closes the connection, and a client or proxy that is still
    sending gets a reset instead of the response (RFC 9112, 9.6). Caddy even drops a response whose head comes
    before the end of the body.
    """
    # With the header Expect, a client waits until the server asks for the body.
    if request.method in ("GET", "HEAD") or "expect" in request.headers:
        return
    size, end = 0, time.monotonic() + MAX_TIME
    # `stream` raises RuntimeError if the handler has read the body.
    with suppress(ClientDisconnect, RuntimeError), anyio.move_on_after(MAX_PAUSE) as pause:
        async for part in request.stream():
            size += len(part)
            if size > MAX_REST or time.monotonic() > end:
                return
            pause.deadline = anyio.current_time() + MAX_PAUSE


def require_single_parameters(request: Request, names: Collection[str]) -> None:
    """Raise Problem (400) if the URL repeats one of these parameters, as programs read different ones."""
    for name in names:
        if len(request.query_params.getlist(name)) > 1:
            raise Problem(400, "bad-request", f"The URL has the parameter {name} more than once")


def require_known_parameters(request: Request, known: Collection[str]) -> None:
    """Raise Problem (422) for an unknown parameter: a misspelt `lang` must not unpublish all languages."""
    if unknown := shortened(name for name in request.query_params if name not in known):
        names = ", ".join(map(quoted, unknown))
        reason = f"unknown parameters in the URL: {names}; expected {' or '.join(known) or 'none'}"
        raise Problem.invalid(reason, code="invalid-parameter")


def require_empty(body: bytes) -> None:
    """Raise Problem (422) if a body states something. Some programs always send one, such as `{}`."""
    if b"".join(body.split()) not in (b"", b"{}", b"[]", b"null", b'""'):
        raise Problem.invalid("This request takes no body: state `lang` and other parameters in the URL")


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object; raise Problem (422) if it is none.

    A byte order mark is skipped (RFC 8259, 8.1). A `lang` with a region is its language: `en-US` is `en`.
    """
    try:
        fields = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        raise Problem.invalid("The body is nested too deeply") from None
    except ValueError as error:
        raise Problem.invalid(f"The body is not JSON in UTF-8: {error}") from None
    if not isinstance(fields, dict):
        raise Problem.invalid("The body is not a JSON object")
    if isinstance(lang := fields.get("lang"), str):
        fields["lang"] = lookup(lang) or lang
    return fields


def parse_body(
    body: bytes, struct: type[T], problems_of: Callable[[dict[str, Any]], list[str]]
) -> tuple[T, list[str]]:
    """Return a JSON body as a struct, and the paths of its unknown fields.

    Raises Problem (422), whose `problems` are all reasons, and `ignored` the unknown fields.
    """
    fields = parse_object(body)
    ignored = unknown_fields(fields, struct)
    if problems := problems_of(fields):
        raise Problem.invalid(*problems, ignored=ignored or msgspec.UNSET)
    return msgspec.convert(fields, struct), ignored


def content_length(request: Request) -> int:
    """Return the declared length, 0 if it is missing or malformed. Only a refusal may rely on it."""
    declared = request.headers.get("content-length", "")
    return int(declared) if re.fullmatch("[0-9]{1,18}", declared) else 0


_TRUSTED: Final = "faqsvc.trusted_proxy"


def mark_as_from_proxy(scope: MutableMapping[str, Any]) -> None:
    """Mark the ASGI scope of a request as one from a trusted proxy."""
    scope[_TRUSTED] = True


def is_from_proxy(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request comes from a trusted proxy, so that its headers can be trusted."""
    return scope.get(_TRUSTED) is True
