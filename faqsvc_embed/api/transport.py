"""The network: one background loop, one HTTP client on it, one deadline an exchange, byte caps both ways.

Whoever asks runs its work on the loop and waits for a `concurrent.futures.Future`, in a thread or in an
event loop of its own. Nothing is started before the first work, and a forked child starts its own.
"""

import asyncio
import contextlib
import importlib
import threading
import weakref
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx2

from faqsvc_embed.api.reading import KEY_HEADER, MAX_REDIRECTS, REDIRECTS, Reply, Request, redirect_target
from faqsvc_embed.errors import FAQError, FAQUnavailable, InvalidFAQ, Unanswered, masked, quoted
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.fork import watch_for
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.settings.validators import stays_here

T = TypeVar("T")
Last = Callable[[], Awaitable[None]]

BACKEND: Final = "anyio._backends._asyncio"
"""What the client does its input and output by."""
MAX_CONNECTIONS: Final = 20
MAX_KEPT: Final = 5
ERROR_BODY: Final = 65_536
"""Bytes read of an answer that is no record: enough for an error to show, and to reuse the connection."""
ERROR_BODY_TIME: Final = 0.25
"""Seconds that the body of a refused read may take: its head has said status and Retry-After."""


class Transport:
    """Sends requests, a write once; made without starting anything, ended when nobody holds it any more."""

    def __init__(self, max_bytes: int, last: Last | None = None) -> None:
        """`max_bytes` caps the decoded body of an answer that is wanted whole; `last` is done at the end."""
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._open = _Open(last)
        weakref.finalize(self, self._open.dropped).atexit = False  # then the thread ends by itself
        watch_for(self)

    def get_ready(self, url: str) -> None:
        """Make the HTTP client, which takes a while: importing, and reading the certificates it trusts."""
        with self._lock:
            self._open.client = self._open.client or _new_client(url)
        with contextlib.suppress(ImportError):  # else the first exchange would, while others want to run
            importlib.import_module(BACKEND)

    def run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` on the background loop; raises RuntimeError if no thread can be started."""
        with self._lock:
            if self._open.loop.has_crashed:  # its connections went with it
                self._open.take()
            return self._open.loop.submit(work)

    def drive(self, until: Future[Any], seconds: float) -> bool:
        """Run the loop here, if no thread can; tell whether that was so."""
        return self._open.loop.drive(until, seconds)

    async def ask(
        self, request: Request, *, timeout: float, about: str, key: APIKey | None = None
    ) -> Reply | FAQError:
        """Return the answer, or why there is none, within `timeout` seconds from connecting to the last byte.

        A read is followed through redirects on its origin, three at most. A write carries the `key` and
        is sent to where it was addressed, or nowhere. `about` says in an error what was asked for.
        """
        writes = request.method != "GET"
        try:
            async with asyncio.timeout(timeout) as limit:
                if writes:
                    return await self._send(request, limit, _Exchange(), key)
                return await self._follow(request, limit)
        except TimeoutError:
            kind = Unanswered if writes else FAQUnavailable
            advice = "look at the service, or give it more with the setting timeout"
            return kind(f"no complete answer {about} within {timeout:g} s: {advice}")
        except FAQError as error:
            return Unanswered(str(error), status=error.status) if writes else error.fresh()
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as error:
            detail = masked(str(error) or type(error).__name__)
            if writes:
                return Unanswered(f"no complete answer {about}: {detail[:200]!r}")
            return FAQUnavailable(f"{_place(request.url)} cannot be reached {about}: {detail[:200]!r}")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            detail = str(error) or type(error).__name__
            return FAQUnavailable(
                f"{_place(request.url)} cannot be reached {about}: {masked(detail)[:200]!r}"
            )

    async def _follow(self, request: Request, limit: asyncio.Timeout) -> Reply:
        url, until = request.url, limit.when()
        for _ in range(MAX_REDIRECTS + 1):
            limit.reschedule(until)  # which a redirect before has lifted
            reply = await self._read(Request(url, request.headers), limit)
            if reply.status not in REDIRECTS:
                return reply
            target = redirect_target(url, reply.headers.get("location"))
            if target is None:
                location = quoted(reply.headers.get("location", ""))
                advice = "set base_url to where the service is"
                message = f"a redirect to {location} is not followed: {advice}"
                raise FAQUnavailable(message, status=reply.status)
            url = target
        raise FAQUnavailable(f"more than {MAX_REDIRECTS} redirects", status=reply.status)

    async def _read(self, request: Request, limit: asyncio.Timeout) -> Reply:
        """Send a read, and again where a kept connection was found closed (RFC 9112, 9.3.1)."""
        for _ in range(MAX_KEPT):
            exchange = _Exchange()
            try:
                return await self._send(request, limit, exchange)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if exchange.is_first or exchange.is_answered:
                    raise
        return await self._send(request, limit, _Exchange())

    async def _send(
        self, request: Request, limit: asyncio.Timeout, exchange: "_Exchange", key: APIKey | None = None
    ) -> Reply:
        if self._open.client is None:
            self._open.client = _new_client(request.url)
        async with self._open.client.stream(
            request.method,
            request.url,
            # The key is in clear in this expression only: tracebacks show local variables.
            headers={**request.headers, **({KEY_HEADER: key.reveal()} if key is not None else {})},
            content=request.body,
            extensions={"trace": exchange.trace},
        ) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            if response.status_code not in (200, 201):
                until = limit.when() or 0.0
                if request.method == "GET":
                    until = min(until, asyncio.get_running_loop().time() + ERROR_BODY_TIME)
                limit.reschedule(None)  # the head is known: what the deadline ends from here on is its body
                body, is_whole = await _read_some(response.aiter_raw(), ERROR_BODY, until)
                return Reply(response.status_code, headers, body, is_whole)
            coding = headers.get("content-encoding", "identity").strip().lower()
            try:
                body = await _read_all(response.aiter_raw(), coding, self._max_bytes)
            except InvalidFAQ as error:
                error.status = response.status_code
                raise
            return Reply(response.status_code, headers, body)

    def close(self) -> None:
        """End what is running, do what is to be done last, and free the connections, within a second.

        Later work starts anew.
        """
        with self._lock:
            loop, client = self._open.take()
        loop.stop(_close(client, self._open.last))

    def forked(self) -> None:
        """In a forked child: the lock is new, the parent's loop and connections are let go of."""
        self._lock = threading.Lock()
        self._open.loop.forked()
        _parents_clients.append(self._open.client)  # collecting it would close what is the parent's
        self._open.client = None


class _Open:
    """What a transport has open: apart from it, so that it can be ended when the transport is gone."""

    def __init__(self, last: Last | None) -> None:
        self.loop = BackgroundLoop()
        self.client: httpx2.AsyncClient | None = None
        self.last = last

    def take(self) -> tuple[BackgroundLoop, httpx2.AsyncClient | None]:
        """Return what is open, and begin anew."""
        taken = self.loop, self.client
        self.loop, self.client = BackgroundLoop(), None
        return taken

    def dropped(self) -> None:
        """End it all: called by the garbage collector, at any moment, so it may neither lock nor wait."""
        loop, client = self.take()
        loop.drop(lambda: _close(client, self.last))


class _Exchange:
    """Follows one exchange, as the client tells of it."""

    is_first = False
    """Whether its connection was opened for it: a kept one may have been closed by the service meanwhile."""
    is_answered = False
    """Whether the head of an answer came."""
    _stream: Any = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Note what is asked of an exchange later; close a connection whose handshake was given up."""
        if event.endswith("connect_tcp.complete"):
            self.is_first = True
            self._stream = info["return_value"]
        elif event == "http11.receive_response_headers.complete":
            self.is_answered = True
        elif event == "connection.start_tls.failed":  # at the deadline: the client forgets it
            await self._stream.aclose()


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"the service at {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _new_client(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        trust_env=not stays_here(url),  # a proxy would get it, and the key with it
        verify=url.startswith("https:"),  # plain http has no use for certificates, which are slow to read
        follow_redirects=False,
        timeout=None,  # one deadline covers all: a timeout of each read is no budget
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_KEPT, keepalive_expiry=5
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


async def _close(client: httpx2.AsyncClient | None, last: Last | None) -> None:
    if last is not None:
        await last()
    if client is not None:
        await client.aclose()


async def _read_some(chunks: AsyncIterator[bytes], limit: int, until: float) -> tuple[bytes, bool]:
    """Return the beginning of a body, and whether that is as much as was wanted of it.

    It is what came until then: a body may hang, drip or break off.
    """
    body = bytearray()
    try:
        async with asyncio.timeout_at(until):
            async for chunk in chunks:
                body += chunk
                if len(body) >= limit:
                    break
    except (TimeoutError, httpx2.HTTPError):
        return bytes(body), False
    return bytes(body[:limit]), True


async def _read_all(chunks: AsyncIterator[bytes], coding: str, limit: int) -> bytes:
    """Return a whole body, unpacked; no more than `limit` bytes of it are ever held, packed or not."""
    if coding not in ("identity", "", "gzip", "x-gzip"):
        raise InvalidFAQ(f"the answer's content coding {coding[:40]!r} was not asked for")
    unpack = None if coding in ("identity", "") else zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    body, received = bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        try:
            body += chunk if unpack is None else unpack.decompress(chunk, limit + 1 - len(body))
        except zlib.error as error:
            raise InvalidFAQ(f"the answer is no gzip: {error}") from None
        if len(body) > limit or received > limit:
            raise InvalidFAQ(f"the answer is larger than max_bytes, {limit}")
    if unpack is not None and not unpack.eof:
        raise InvalidFAQ("the answer's gzip ends early")
    return bytes(body)


_parents_clients = list[object]()
