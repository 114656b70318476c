"""Sends requests: one HTTP client on a background loop, a deadline for each request, a limit on each body.

A read follows redirects within its origin, and is repeated if a reused connection turns out to be closed. A
write is sent once. A request with the API key follows no redirect.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from faqsvc_embed.api.bodies import MAX_ERROR_BODY, read_body, read_error_body
from faqsvc_embed.api.requests import KEY_HEADER, REDIRECTS, Request, redirect_target, user_agent
from faqsvc_embed.api.responses import Response
from faqsvc_embed.errors import (
    FAQError,
    FAQTimeout,
    FAQUnavailable,
    InvalidFAQ,
    OutcomeUnknown,
    masked,
    quoted,
)
from faqsvc_embed.runtime.background_loop import BackgroundLoop, in_background, on_close
from faqsvc_embed.runtime.threads import is_gevent_patched
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.settings.validators import is_loopback_http

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

MAX_CONNECTIONS: Final = 20
MAX_IDLE_CONNECTIONS: Final = 5
MAX_REDIRECTS: Final = 3

ERROR_BODY_TIMEOUT: Final = 0.25
"""Seconds for the body of an error response to a read: its status and Retry-After are known already."""


class Stream(msgspec.Struct, frozen=True):
    """A response whose body has no end; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class Transport:
    """Sends requests to one service. The first request starts a thread; `close()` ends it."""

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` limits the decompressed body of a response."""
        self._max_bytes = max_bytes
        self._background = BackgroundLoop()
        self._pool: _Pool | None = None

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the background loop, where `send` must be awaited.

        Raises:
            RuntimeError: no thread can be started.
        """
        self.prepare()
        return self._background.submit(coroutine)

    def prepare(self) -> None:
        """Import modules that need gevent's hub, because the native thread of a background loop has none."""
        if is_gevent_patched():
            import httpcore2  # noqa: F401
            import httpx2  # noqa: F401

    def close(self) -> None:
        """Cancel requests and close connections, within a second; a later request opens new ones."""
        self._background.close()

    async def send(
        self, request: Request, timeout: float, *, key: APIKey | None = None, new_connection: bool = False
    ) -> Response | FAQError:
        """Return the response, or the reason why there is none.

        `timeout` limits the time in seconds from connecting to the last byte. Errors are returned, not
        raised, so that no traceback leads to frames of the HTTP client, which hold the key.
        """
        import httpx2

        is_read = request.method == "GET"
        try:
            if new_connection:
                await self._get_pool(request.url).renew()
            async with asyncio.timeout(timeout) as deadline:
                if is_read and key is None:
                    return await self._read(request, deadline)
                if is_read:
                    return await self._exchange_again(request, deadline, key)
                return await self._exchange(request, deadline, _Trace(), key)
        except TimeoutError:
            message = f"no complete response from {_origin(request.url)} within {timeout:g} s"
            return FAQTimeout(message) if is_read else OutcomeUnknown(message)
        except FAQError as error:
            return error.without_traceback() if is_read else OutcomeUnknown(str(error), status=error.status)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
            message = f"{_origin(request.url)} cannot be reached: {_reason(error)}"
            was_sent = isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)
            return OutcomeUnknown(message) if was_sent and not is_read else FAQUnavailable(message)

    def stream(self, request: Request, timeout: float) -> AbstractAsyncContextManager[Stream]:
        """Open a response without an end. `timeout` limits the seconds until its headers have arrived.

        The returned context manager does not keep this transport alive.

        Raises:
            FAQUnavailable: the service cannot be reached, or the connection breaks.
        """
        try:
            pool = self._get_pool(request.url)
        except (OSError, ValueError, ImportError) as error:  # certificates, or a proxy of the environment
            message = f"{_origin(request.url)} cannot be reached: {_reason(error)}"
            raise FAQUnavailable(message) from None
        return _open_stream(pool, request, timeout)

    async def _read(self, request: Request, deadline: asyncio.Timeout) -> Response:
        """Send a read, and follow its redirects."""
        until = deadline.when()
        for _ in range(MAX_REDIRECTS + 1):
            deadline.reschedule(until)  # `_exchange` removes it for an error response
            response = await self._exchange_again(request, deadline)
            if response.status not in REDIRECTS:
                return response
            target = redirect_target(request.url, response.headers.get("location"))
            if target is None:
                location = response.headers.get("location")
                message = f"{request.url} returned {response.status} without a Location"
                if location:
                    message = (
                        f"{request.url} redirects to {quoted(location)}, another origin: set base_url to the "
                        "service"
                    )
                raise FAQUnavailable(message, status=response.status)
            request = Request(target, request.headers)
        raise FAQUnavailable(f"{request.url} leads to more than {MAX_REDIRECTS} redirects")

    async def _exchange_again(
        self, request: Request, deadline: asyncio.Timeout, key: APIKey | None = None
    ) -> Response:
        """Send a read once more for each reused connection that the service had closed (RFC 9112, 9.3.1)."""
        import httpx2

        for _ in range(MAX_IDLE_CONNECTIONS):
            trace = _Trace()
            try:
                return await self._exchange(request, deadline, trace, key)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if trace.is_new_connection or trace.has_response:
                    raise
        return await self._exchange(request, deadline, _Trace(), key)

    async def _exchange(
        self, request: Request, deadline: asyncio.Timeout, trace: "_Trace", key: APIKey | None = None
    ) -> Response:
        """Send one request, and return its response; of an error response, the beginning of the body."""
        async with (
            self._get_pool(request.url).client(trace) as client,
            client.stream(
                request.method,
                request.url,
                # The key is in clear in this expression only: tracebacks show local variables.
                headers={**request.headers, **({KEY_HEADER: key.reveal()} if key is not None else {})},
                content=request.body,
                extensions={"trace": trace},
            ) as response,
            contextlib.aclosing(response.aiter_raw()) as chunks,  # else garbage collection closes it
        ):
            headers = {name.lower(): value for name, value in response.headers.items()}
            coding = headers.get("content-encoding", "identity").strip().lower()
            if response.status_code in (200, 201):
                try:
                    body = await read_body(chunks, coding, self._max_bytes)
                except InvalidFAQ as error:
                    error.status = response.status_code
                    raise
                return Response(response.status_code, headers, body, is_reused=not trace.is_new_connection)
            until = deadline.when() or 0.0
            if request.method == "GET":
                until = min(until, asyncio.get_running_loop().time() + ERROR_BODY_TIMEOUT)
            deadline.reschedule(None)  # the status is known, so a late body is no timeout
            # A conflict comes with the current text.
            limit = self._max_bytes if response.status_code == 412 else MAX_ERROR_BODY
            body, is_complete = await read_error_body(chunks, coding, until, limit)
            return Response(response.status_code, headers, body, is_complete)

    def _get_pool(self, url: str) -> "_Pool":
        """Return the connections of the running loop. A loop that ends closes them."""
        if self._pool is None or self._pool.loop is not asyncio.get_running_loop():
            self._pool = _Pool(url)
            on_close(self._pool.aclose)
        return self._pool


class _Pool:
    """The connections to a service that belong to one event loop."""

    def __init__(self, url: str) -> None:
        self.loop = asyncio.get_running_loop()
        self._url = url
        self._current = _new_client(url)
        self._requests: Counter[httpx2.AsyncClient] = Counter()

    @contextlib.asynccontextmanager
    async def client(self, trace: "_Trace") -> "AsyncIterator[httpx2.AsyncClient]":
        """Give the current client to one request."""
        client = self._current
        self._requests[client] += 1
        try:
            yield client
        finally:
            self._requests[client] -= 1
            if trace.has_lost_tunnel and client is self._current:
                self._current = _new_client(self._url)
            await self._close_unused(client)

    async def renew(self) -> None:
        """Use new connections from now on; old ones close when their requests end."""
        former, self._current = self._current, _new_client(self._url)
        await self._close_unused(former)

    async def _close_unused(self, client: "httpx2.AsyncClient") -> None:
        if self._requests[client] == 0 and client is not self._current:
            del self._requests[client]
            await client.aclose()

    async def aclose(self) -> None:
        for client in {self._current, *self._requests}:
            await client.aclose()


@contextlib.asynccontextmanager
async def _open_stream(pool: _Pool, request: Request, timeout: float) -> AsyncIterator[Stream]:
    import httpx2

    trace = _Trace()
    try:
        async with (
            pool.client(trace) as client,
            asyncio.timeout(timeout) as deadline,
            client.stream(
                request.method, request.url, headers=request.headers, extensions={"trace": trace}
            ) as response,
            contextlib.aclosing(response.aiter_raw()) as chunks,
        ):
            deadline.reschedule(None)
            headers = {name.lower(): value for name, value in response.headers.items()}
            yield Stream(response.status_code, headers, chunks)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        message = f"{_origin(request.url)} cannot be reached: {_reason(error)}"
        raise FAQUnavailable(message) from None


class _Trace:
    """Records what the HTTP client reports about one exchange (the `trace` extension of httpcore)."""

    def __init__(self) -> None:
        self.is_new_connection = False
        """False if a connection was reused, which the service may have closed meanwhile."""
        self.has_response = False
        self.has_lost_tunnel = False
        """Whether TLS failed in a proxy's tunnel; httpcore would never return that connection to its pool."""
        self._stream: Any = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith("connect_tcp.complete"):
            self.is_new_connection = True
            self._stream = info["return_value"]
        elif event == "http11.receive_response_headers.complete":
            self.has_response = True
        elif event.endswith(("start_tls.failed", "setup_socks5_connection.failed")):
            self.has_lost_tunnel = event != "connection.start_tls.failed"
            await self._stream.aclose()  # the client leaves it open if its task is cancelled


def _new_client(url: str) -> "httpx2.AsyncClient":
    import httpx2

    # httpx2 logs each request at INFO; only requests of the host belong into the host's log.
    logging.getLogger("httpx2").addFilter(_is_of_host)  # a filter is added only once
    return httpx2.AsyncClient(
        trust_env=not is_loopback_http(url),  # else a proxy would get local requests, with the key
        # Plain http needs no certificates, which take time to load. Every other scheme is checked.
        verify=urlsplit(url).scheme != "http",
        follow_redirects=False,
        headers={"user-agent": user_agent()},
        timeout=None,  # it would limit each read only; the deadline limits the whole exchange
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE_CONNECTIONS,
            keepalive_expiry=5,
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


def _is_of_host(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO or not in_background()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _reason(error: Exception) -> str:
    text = masked(str(error)) or type(error).__name__
    if "WRONG_VERSION_NUMBER" in text:
        text += " (base_url begins with https, but the server seems to use plain http)"
    return repr(text[:200])
