"""Reading somebody's website without trusting it: each answer bounded in time, bytes and redirects."""

import re
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import anyio
import httpcore2
import httpx2

from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.generation.guard import Endpoint, Guard, check_url, endpoint_of

PRODUCT: Final = "faqsvc-embed"
"""What robots.txt calls us."""
USER_AGENT: Final = f"Mozilla/5.0 (compatible; {PRODUCT}; FAQ generation)"
MAX_BYTES: Final = 2_097_152
"""Of one answer, packed or unpacked: what comes after them is not read."""
MAX_VISIT: Final = 20 * MAX_BYTES
"""Of all answers of a visit together."""
MAX_REDIRECTS: Final = 5
PATIENCE: Final = 8.0
"""Seconds for one answer with all its redirects; for connecting to one address, half of them."""
CONNECTIONS: Final = 3

Permit = Callable[[httpx2.URL], Awaitable[None]]
"""Raises what a visit may not read."""

REDIRECTS: Final = (301, 302, 303, 307, 308)


class Unreachable(FAQError):
    """A site gave no usable answer: no name, no connection, no HTTP, or not in time."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came from `url`, where the redirects ended; `body` may have been cut at the cap."""

    url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes


class Visitor:
    """One visit to one site: its connections, and what it may still read. An async context manager."""

    def __init__(
        self,
        allowed: frozenset[Endpoint] = frozenset(),
        *,
        patience: float = PATIENCE,
        guard: Guard | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed
        self._patience = patience
        self._left = MAX_VISIT
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or httpcore2.default_ssl_context(),
            network_backend=guard or Guard(allowed),
            max_connections=CONNECTIONS,
            keepalive_expiry=5,
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._pool.__aexit__(kind, error, traceback)

    async def get(self, url: str, *, accept: str = "text/html", permit: Permit | None = None) -> Reply:
        """Read what is at an address, following redirects, each hop checked anew; `permit` is asked too.

        Raises:
            Refused: it, or where it redirects to, is not on the public web, or not permitted.
            Unreachable: there is no answer, or not in time.
        """
        try:
            with anyio.fail_after(self._patience):
                return await self._follow(check_url(url, self._allowed), accept, permit)
        except TimeoutError:
            raise Unreachable(f"{quoted(url)} gave no complete answer in {self._patience:g} s") from None
        except (httpcore2.TimeoutException, httpcore2.NetworkError) as error:
            raise Unreachable(f"{quoted(url)} cannot be reached: {_said(error)}") from None
        except (httpcore2.ProtocolError, httpcore2.ConnectionNotAvailable, ssl.SSLError, OSError) as error:
            raise Unreachable(f"{quoted(url)} does not answer as a website: {_said(error)}") from None

    async def _follow(self, url: httpx2.URL, accept: str, permit: Permit | None) -> Reply:
        for _ in range(MAX_REDIRECTS + 1):
            if permit is not None:
                await permit(url)
            reply, location = await self._ask(url, accept)
            if reply.status not in REDIRECTS or location is None:
                return reply
            try:
                target = url.join(location)
            except (httpx2.InvalidURL, ValueError) as error:
                raise Unreachable(f"{quoted(str(url))} redirects to no address: {error}") from None
            url = check_url(target, self._allowed)
        raise Unreachable(f"{quoted(str(url))} redirects more than {MAX_REDIRECTS} times")

    async def _ask(self, url: httpx2.URL, accept: str) -> tuple[Reply, str | None]:
        if self._left <= 0:
            raise Unreachable(f"the site has more than the {MAX_VISIT} bytes that are read of one")
        host, port = endpoint_of(url)
        target = httpcore2.URL(scheme=url.scheme.encode(), host=host, port=port, target=url.raw_path)
        headers = [
            ("Host", url.netloc.decode("ascii")),
            ("User-Agent", USER_AGENT),
            ("Accept", accept),
            ("Accept-Encoding", "gzip"),
        ]
        timeouts = {"connect": self._patience / 2}
        async with self._pool.stream(
            "GET", target, headers=headers, extensions={"timeout": timeouts}
        ) as response:
            answered = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
            }
            body = b""
            if response.status not in REDIRECTS:
                body = await self._read(response, answered)
            media_type, charset = _content_type(answered)
            return Reply(str(url), response.status, media_type, charset, body), answered.get("location")

    async def _read(self, response: httpcore2.Response, headers: Mapping[str, str]) -> bytes:
        """Return the body, unpacked, up to the cap; packed or unpacked, no more than that is ever held."""
        coding = headers.get("content-encoding", "identity").strip().lower() or "identity"
        if coding not in ("identity", "gzip", "x-gzip"):
            raise Unreachable(f"the content coding {quoted(coding)} was not asked for")
        unpack = None if coding == "identity" else zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        limit = min(MAX_BYTES, self._left)
        body, received = bytearray(), 0
        async with aclosing(response.aiter_stream()) as chunks:
            async for chunk in chunks:
                received += len(chunk)
                try:
                    body += chunk if unpack is None else unpack.decompress(chunk, limit - len(body))
                except zlib.error as error:
                    raise Unreachable(f"the answer is no gzip: {error}") from None
                if len(body) >= limit or received >= limit:
                    break
        self._left -= max(len(body), received)
        return bytes(body[:limit])


def _content_type(headers: Mapping[str, str]) -> tuple[str, str | None]:
    media_type, _, parameters = headers.get("content-type", "").partition(";")
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", parameters, re.IGNORECASE)
    return media_type.strip().lower(), charset[1] if charset else None


def _said(error: Exception) -> str:
    return quoted(str(error) or type(error).__name__)
