"""Reads the body of a request, and finds the public URLs of the service."""

import re
import time
from collections.abc import Callable, Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

import anyio
import msgspec
from starlette.requests import ClientDisconnect, Request

from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.api.validation import shortened, unknown_fields
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.service.http.responses import JSON, Problem, best_media_type
from faqsvc_embed.settings.validators import is_loopback_http

T = TypeVar("T", bound=msgspec.Struct)


def require_json(request: Request) -> None:
    """Raise Problem unless a request sends JSON, not compressed (415), and accepts it (406)."""
    best_media_type(request, JSON)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        headers = {"accept": JSON}
        raise Problem(415, "unsupported-media-type", f"Content-Type must be {JSON}", headers=headers)
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        headers = {"accept-encoding": "identity"}
        raise Problem(415, "unsupported-media-type", "The body must not be compressed", headers=headers)


BODY_TIMEOUT: Final = 30.0
"""Seconds in which a body must arrive."""


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


MAX_REST: Final = 32_000_000
"""Maximum bytes that `drain` reads."""
MAX_TIME: Final = 1.0
"""Maximum seconds for which `drain` reads."""
MAX_PAUSE: Final = 0.5
"""Seconds without data after which a client counts as no longer sending."""


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


# A name, an IPv4 address or an IPv6 one in brackets, and a port (RFC 3986, 3.2.2). All of that is safe in
# a header, a page and a Markdown link.
_HOST = re.compile(r"(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


_WRONG_HOST: Final = (
    "a proxy names %s as the host, so links work on this machine only: set --base-url (FAQSVC_BASE_URL),"
    " or let the proxy pass the Host header on"
)
_log: Final = LogOnce()


@dataclass(frozen=True)
class PublicURLs:
    """The URLs below `base`, which has no trailing slash."""

    base: str

    @classmethod
    def of(cls, request: Request, base_url: str | None) -> Self:
        """Return the URLs below `base_url` or, if it is None, below the origin of the request.

        Raises Problem (400) if the Host header is needed and is invalid.
        """
        if base_url is not None:
            return cls(base_url)
        host = request.headers.get("host", "")
        try:
            is_valid, is_local = _HOST.fullmatch(host), is_loopback_http(f"http://{host}")
        except ValueError:  # no IPv6 address in the brackets
            is_valid, is_local = None, False
        if not is_valid:
            raise Problem(400, "bad-request", "Invalid Host header")
        if "x-forwarded-for" in request.headers and is_local:
            # Apache and nginx do so by default. It is logged once, not for each host: clients can send any.
            _log.warning("host", _WRONG_HOST, host)
        return cls(f"{request.url.scheme}://{host}{request.scope.get('root_path', '')}".rstrip("/"))

    def page(self, slug: str) -> str:
        """Return the URL of the hosted page of an FAQ."""
        return f"{self.base}/faq/{quote(slug, safe='')}"

    def record(self, slug: str) -> str:
        """Return the URL of the record of an FAQ."""
        return f"{self.base}{API_PATH}/{quote(slug, safe='')}"

    def sign_in(self, token: str) -> str:
        """Return a link that signs in at the desk. Its token is in the fragment, which no log has."""
        return f"{self.base}/desk/sign-in#link={token}"


_TRUSTED: Final = "faqsvc.trusted_proxy"


def mark(scope: MutableMapping[str, Any]) -> None:
    """Mark the ASGI scope of a request from a trusted proxy."""
    scope[_TRUSTED] = True


def is_from_proxy(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request comes from a trusted proxy, so that its headers can be trusted."""
    return scope.get(_TRUSTED) is True
