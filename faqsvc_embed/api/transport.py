"""Sends requests from a background loop, with a deadline for each request and a limit on each body.

Every request is sent once, on a connection of its own, so that no response can belong to an earlier request;
only a transport for many writes keeps its connection. No redirect is followed.
"""

import asyncio
import contextlib
import logging
import os
import ssl
from collections.abc import AsyncIterator
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2  # noqa: F401  # httpx2 imports it late: not on the loop's thread, where gevent has no hub
import httpx2

from faqsvc_embed.api.requests import KEY_HEADER, Request, user_agent
from faqsvc_embed.api.responses import Response
from faqsvc_embed.errors import FAQError, FAQTimeout, FAQUnavailable, InvalidFAQ, OutcomeUnknown, masked
from faqsvc_embed.runtime.background_loop import SUSPENSION, in_background, on_close
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.settings.validators import is_loopback_http

MAX_REQUESTS: Final = 20
"""Requests of one transport at a time; streams do not count."""
KEEPALIVE: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=2)
"""The connection that many writes keep, for less time than services keep theirs."""

MAX_ERROR_BODY: Final = 65_536
"""Bytes of an error response that are read: enough to explain it."""


class Transport:
    """Sends requests to one service, on a background loop."""

    def __init__(self, max_bytes: int, *, keeps_connections: bool = False) -> None:
        """`max_bytes` limits the decompressed body of a response.

        With `keeps_connections`, the next request of many may use the connection of the one before.
        """
        self._max_bytes = max_bytes
        self._keeps_connections = keeps_connections
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that the connections belong to."""
        self._free = asyncio.Semaphore(MAX_REQUESTS)
        self._kept: httpx2.AsyncClient | None = None

    async def send(
        self, request: Request, timeout: float, *, key: APIKey | None = None, repeats: bool = True
    ) -> Response | FAQError:
        """Return the response, or the reason why there is none.

        `timeout` limits the time in seconds from connecting to the last byte. Errors are returned, not
        raised, so that no traceback leads to frames of the HTTP client, which hold the key. A read is
        repeated once if the process was suspended during it: such a time-out says nothing about the service.
        """
        is_read = request.method == "GET"
        end = asyncio.get_running_loop().time() + timeout
        try:
            async with asyncio.timeout(timeout) as deadline:
                return await self._exchange(request, deadline, key)
        except TimeoutError:
            if is_read and repeats and asyncio.get_running_loop().time() > end + SUSPENSION:
                return await self.send(request, timeout, key=key, repeats=False)
            message = f"no complete response from {_origin(request.url)} within {timeout:g} s"
            return FAQTimeout(message) if is_read else OutcomeUnknown(message)
        except FAQError as error:
            return error.without_traceback() if is_read else OutcomeUnknown(str(error), status=error.status)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            was_sent = isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)
            return (OutcomeUnknown if was_sent and not is_read else FAQUnavailable)(_message(request, error))

    async def _exchange(
        self, request: Request, deadline: asyncio.Timeout, key: APIKey | None = None
    ) -> Response:
        """Send one request, and return its response; of an error response, the beginning of the body."""
        async with self._client(request.url) as client, _opened(client, request, key) as response:
            status, headers = response.status_code, dict(response.headers)
            if status in (200, 201):
                return Response(status, headers, await _read_body(response, self._max_bytes))
            until = deadline.when() or 0.0
            deadline.reschedule(None)  # the status is known, so a late body is no timeout
            # A conflict comes with the current text.
            limit = self._max_bytes if status == 412 else MAX_ERROR_BODY
            return Response(status, headers, *await _read_error_body(response, until, limit))

    @contextlib.asynccontextmanager
    async def _client(self, url: str) -> AsyncIterator[httpx2.AsyncClient]:
        """Give a client to one request; one with a new connection, unless connections are kept."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._free, self._kept = loop, asyncio.Semaphore(MAX_REQUESTS), None
        async with self._free:
            if not self._keeps_connections:
                async with _new_client(url) as client:
                    yield client
                return
            if self._kept is None:
                self._kept = _new_client(url, KEEPALIVE)
                on_close(self._kept.aclose)
            yield self._kept


@contextlib.asynccontextmanager
async def open_stream(
    request: Request, timeout: float, idle_timeout: float
) -> AsyncIterator[httpx2.Response]:
    """Open a response that has no end. `timeout` limits the seconds until its headers have arrived.

    Raises:
        FAQUnavailable: the service cannot be reached, the connection breaks, or nothing arrives for
            `idle_timeout` seconds.
    """
    try:
        client = _new_client(request.url)
    except (OSError, ValueError, ImportError) as error:  # certificates, or a proxy of the environment
        raise FAQUnavailable(_message(request, error)) from None
    client.timeout = httpx2.Timeout(None, read=idle_timeout)
    try:
        async with asyncio.timeout(timeout) as deadline, client, _opened(client, request) as response:
            deadline.reschedule(None)
            yield response
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise FAQUnavailable(_message(request, error)) from None


def _opened(
    client: httpx2.AsyncClient, request: Request, key: APIKey | None = None
) -> contextlib.AbstractAsyncContextManager[httpx2.Response]:
    """Send a request, and give its response when the headers have arrived."""
    return client.stream(
        request.method,
        request.url,
        # The key is in clear in this expression only: tracebacks show local variables.
        headers={**request.headers, **({KEY_HEADER: key.reveal()} if key is not None else {})},
        content=request.body,
        extensions={"trace": _Handshake()},
    )


class _Handshake:
    """Closes a connection whose TLS handshake was cancelled, which httpcore leaves open."""

    _stream: Any = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith("connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith(("start_tls.failed", "setup_socks5_connection.failed")):
            await self._stream.aclose()


def _new_client(url: str, limits: httpx2.Limits | None = None) -> httpx2.AsyncClient:
    """Return a client, whose connections are closed after one response unless `limits` says otherwise."""
    # httpx2 logs each request at INFO; only requests of the host belong into the host's log.
    logging.getLogger("httpx2").addFilter(_is_of_host)  # a filter is added only once
    headers = {"user-agent": user_agent()}
    return httpx2.AsyncClient(
        trust_env=not is_loopback_http(url),  # else a proxy would get local requests, with the key
        verify=_certificates_for(url),
        follow_redirects=False,
        headers=headers if limits else {**headers, "connection": "close"},
        timeout=None,  # it would limit each read only; the deadline limits the whole exchange
        limits=limits or httpx2.Limits(),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


def load_certificates(url: str) -> None:
    """Load the trusted certificates now: OpenSSL has locks, which a child could inherit locked."""
    with contextlib.suppress(OSError, ValueError, ImportError):  # each request reports them
        _certificates_for(url)


def _certificates_for(url: str) -> ssl.SSLContext:
    environment = os.getenv("SSL_CERT_FILE"), os.getenv("SSL_CERT_DIR")
    return _certificates(urlsplit(url).scheme, *environment)


@lru_cache(4)
def _certificates(scheme: str, file: str | None, directory: str | None) -> ssl.SSLContext:
    """Return the trusted certificates. They take time to load, and plain http needs none."""
    if scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = f"SSL_CERT_FILE {file!r}" if file else f"SSL_CERT_DIR {directory!r}"
        raise OSError(f"the certificates in {named} cannot be read: {error.strerror or error}") from error


def _is_of_host(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO or not in_background()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _message(request: Request, error: Exception) -> str:
    """Return the message for a request without a response."""
    reason = masked(str(error)) or type(error).__name__
    if "WRONG_VERSION_NUMBER" in reason:
        reason += " (base_url begins with https, but the server seems to use plain http)"
    if isinstance(error, httpx2.RemoteProtocolError):
        return f"{_origin(request.url)} sent no complete HTTP/1.1 response: {reason[:200]!r}"
    return f"{_origin(request.url)} cannot be reached{_through_proxy(request.url)}: {reason[:200]!r}"


def _through_proxy(url: str) -> str:
    """Return words that say so if requests to `url` go through a proxy of the environment; else nothing."""
    parts = urlsplit(url)
    is_set = not {parts.scheme, "all"}.isdisjoint(getproxies())
    has_proxy = is_set and not proxy_bypass(parts.hostname or "")
    return " through the proxy of the environment" if has_proxy and not is_loopback_http(url) else ""


async def _read_body(response: httpx2.Response, limit: int) -> bytes:
    """Return a complete body, decompressed; it may have at most `limit` bytes, compressed or not."""
    body = bytearray()
    try:
        # Closed now, not by garbage collection.
        async with contextlib.aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                body += chunk
                if max(len(body), response.num_bytes_downloaded) > limit:
                    message = f"the response has more than {limit} bytes, the setting max_bytes"
                    raise InvalidFAQ(message, status=response.status_code)
    except httpx2.DecodingError as error:
        raise InvalidFAQ(
            f"the response cannot be decompressed: {error}", status=response.status_code
        ) from None
    return bytes(body)


async def _read_error_body(response: httpx2.Response, until: float, limit: int) -> tuple[bytes, bool]:
    """Return the first `limit` bytes of a body, and whether it arrived in time."""
    body = bytearray()
    try:
        async with asyncio.timeout_at(until), contextlib.aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) >= limit:
                    break
    except (TimeoutError, httpx2.HTTPError):
        return bytes(body), False
    return bytes(body[:limit]), True
