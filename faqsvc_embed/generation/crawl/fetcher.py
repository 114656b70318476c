"""HTTP requests to websites that are not trusted: limited in time, bytes and redirects."""

import re
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final

import anyio
import httpcore2
import httpx2

from faqsvc_embed.api.requests import user_agent
from faqsvc_embed.api.responses import parse_retry_after
from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.generation.crawl.ssrf import Endpoint, SSRFGuard, check_url, endpoint_of

PRODUCT: Final = "faqsvc-embed"
"""The product token that robots.txt files use (RFC 9309, 2.2.1)."""
MAX_BYTES: Final = 2_097_152
"""Bytes of a response, before and after decompression; the rest is not read."""
MAX_REDIRECTS: Final = 5
TIMEOUT: Final = 8.0
"""Seconds for a response with all its redirects. Connecting to one address may take half of them."""
MAX_WAIT: Final = 2.0
"""Maximum seconds to wait for a site that says when to try again."""
MAX_CONNECTIONS: Final = 3
REDIRECTS: Final = (301, 302, 303, 307, 308)

Check = Callable[[httpx2.URL], Awaitable[None]]
"""Raises `BlockedURL` for a URL that a crawl must not request."""


class FetchError(FAQError):
    """No usable response: no such host, no connection, invalid HTTP, or a timeout."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response; `url` is that of the last redirect, and `body` has at most `MAX_BYTES`."""

    url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes
    retry_after: float | None = None
    """Seconds after which to try again, if the site says so."""


class PageFetcher:
    """The connections of one crawl. Close it, for example with `contextlib.aclosing()`."""

    def __init__(
        self,
        allowed: frozenset[Endpoint] = frozenset(),
        *,
        timeout: float = TIMEOUT,
        guard: SSRFGuard | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed
        self._timeout = timeout
        self._cookies = httpx2.Cookies()  # some sites redirect to the same address until a cookie comes back
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or default_ssl_context(),
            network_backend=guard or SSRFGuard(allowed),
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=5,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def fetch(self, url: str, *, accept: str = "text/html", check: Check | None = None) -> Response:
        """Request a URL and follow redirects; every hop is checked, by `check` too.

        A site that is asked too often gets a second request after the time that it states, if that is short.

        Raises:
            BlockedURL: a hop is not on the public web, or `check` blocks it.
            FetchError: there is no usable response in time.
        """
        try:
            with anyio.fail_after(self._timeout):
                start = check_url(url, self._allowed)
                response = await self._follow(start, accept, check)
                wait = response.retry_after
                if response.status == 429 and wait is not None and wait <= MAX_WAIT:
                    await anyio.sleep(wait)
                    response = await self._follow(start, accept, check)
                return response
        except TimeoutError:
            raise FetchError(f"{quoted(url)} did not respond within {self._timeout:g} s") from None
        except (httpcore2.TimeoutException, httpcore2.NetworkError) as error:
            raise FetchError(f"{quoted(url)} cannot be reached: {_reason(error)}") from None
        except (httpcore2.ProtocolError, httpcore2.ConnectionNotAvailable, ssl.SSLError, OSError) as error:
            raise FetchError(f"{quoted(url)} sent an invalid response: {_reason(error)}") from None

    async def _follow(self, url: httpx2.URL, accept: str, check: Check | None) -> Response:
        """Request a URL and the targets of its redirects; each of them is checked first."""
        for _ in range(MAX_REDIRECTS + 1):
            if check is not None:
                await check(url)
            response, location = await self._request(url, accept)
            if response.status not in REDIRECTS or location is None:
                return response
            try:
                target = url.join(location)
            except (httpx2.InvalidURL, ValueError) as error:
                raise FetchError(f"{quoted(str(url))} redirects to an invalid URL: {error}") from None
            url = check_url(target, self._allowed)
        raise FetchError(f"{quoted(str(url))} redirects more than {MAX_REDIRECTS} times")

    async def _request(self, url: httpx2.URL, accept: str) -> tuple[Response, str | None]:
        """Request one URL, and return the response and the target of its redirect."""
        host, port = endpoint_of(url)
        target = httpcore2.URL(scheme=url.scheme.encode(), host=host, port=port, target=url.raw_path)
        headers = [
            ("Host", url.netloc.decode("ascii")),
            ("User-Agent", f"Mozilla/5.0 (compatible; {user_agent()}; FAQ generation)"),
            ("Accept", accept),
            ("Accept-Encoding", "gzip"),
        ]
        request = httpx2.Request("GET", url)
        self._cookies.set_cookie_header(request)
        headers += [("Cookie", request.headers["cookie"])] if "cookie" in request.headers else []
        extensions = {"timeout": {"connect": self._timeout / 2}}
        async with self._pool.stream("GET", target, headers=headers, extensions=extensions) as stream:
            fields = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in stream.headers
            }
            sendable = [(name, value) for name, value in stream.headers if value.isascii()]
            self._cookies.extract_cookies(httpx2.Response(200, headers=sendable, request=request))
            body = await self._read(stream, fields) if stream.status not in REDIRECTS else b""
            media_type, charset = _content_type(fields)
            wait = parse_retry_after(fields.get("retry-after"), datetime.now(UTC))
            return Response(str(url), stream.status, media_type, charset, body, wait), fields.get("location")

    async def _read(self, stream: httpcore2.Response, fields: Mapping[str, str]) -> bytes:
        """Return the decompressed body up to the limit; never more than the limit is in memory."""
        coding = fields.get("content-encoding", "identity").strip().lower() or "identity"
        if coding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise FetchError(f"the content coding {quoted(coding)} was not requested")
        decompressor = None if coding == "identity" else zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        body, received = bytearray(), 0
        async with aclosing(stream.aiter_stream()) as chunks:
            async for chunk in chunks:
                received += len(chunk)
                try:
                    body += decompressor.decompress(chunk, MAX_BYTES - len(body)) if decompressor else chunk
                except zlib.error as error:
                    raise FetchError(f"the response is not valid {coding}: {error}") from None
                if max(len(body), received) >= MAX_BYTES:
                    break
        return bytes(body[:MAX_BYTES])


@cache
def default_ssl_context() -> ssl.SSLContext:
    """Return the TLS settings with the certificates of public authorities, which take long to load."""
    return httpcore2.default_ssl_context()


def _content_type(fields: Mapping[str, str]) -> tuple[str, str | None]:
    media_type, _, parameters = fields.get("content-type", "").partition(";")
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", parameters, re.IGNORECASE)
    return media_type.strip().lower(), charset[1] if charset else None


def _reason(error: Exception) -> str:
    return quoted(str(error) or type(error).__name__)
