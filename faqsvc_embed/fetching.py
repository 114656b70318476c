"""The only room with I/O: one background loop, one HTTP client, one flight an FAQ, one deadline a flight.

Sync callers wait on a flight's `concurrent.futures.Future`, async callers await the same one. Nothing is
started before the first flight, and a forked child starts its own.
"""

import asyncio
import contextlib
import logging
import os
import threading
import weakref
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypeVar

import httpx2

from faqsvc_embed.errors import FAQError, FAQUnavailable, InvalidFAQ
from faqsvc_embed.freshness import Cache, Entry, Key, Want, want
from faqsvc_embed.settings import Settings
from faqsvc_embed.steps import SHORT, in_short_steps
from faqsvc_embed.wire import (
    MAX_REDIRECTS,
    REDIRECTS,
    Failed,
    Outcome,
    Reply,
    Request,
    Validators,
    read_request,
    redirect_target,
    understanding,
)

T = TypeVar("T")

logger = logging.getLogger("faqsvc_embed")

MAX_CONNECTIONS: Final = 20
LONGEST_CLOSE: Final = 1.0
ERROR_BODY: Final = 65_536
"""Bytes read of an answer that is no record: enough for an error to show, and to reuse the connection."""


@dataclass(slots=True, eq=False)
class Flight:
    """One fetch under way; its future yields the entry that it led to."""

    landed: Future[Entry] = field(default_factory=Future)
    work: Future[None] | None = None  # held here, because a loop holds its tasks weakly
    abandoned: bool = False
    """Its FAQ was forgotten meanwhile: those who wait get its answer, the cache does not."""


class BackgroundLoop:
    """An event loop on a daemon thread, started by its first use and again after `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        """Run `work` on the loop; the caller holds the lock of its owner."""
        if self._loop is None:
            loop = asyncio.new_event_loop()
            loop.set_default_executor(DaemonThreads())
            thread = threading.Thread(target=self._run, args=(loop,), name="faqsvc-embed", daemon=True)
            thread.start()
            self._loop, self._thread = loop, thread
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.close()

    def stop(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel what is running, run `last`, and end the thread; at most a second passes."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            last.close()
            return

        async def wind_up() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(last, LONGEST_CLOSE / 2)
            loop.stop()

        with contextlib.suppress(RuntimeError):  # the loop ended by itself
            asyncio.run_coroutine_threadsafe(wind_up(), loop)
        thread.join(LONGEST_CLOSE)

    def disown(self) -> None:
        """Forget a loop that runs in the parent process only."""
        self._loop = self._thread = None


class DaemonThreads(ThreadPoolExecutor):
    """Runs each call in a daemon thread: a name look-up that hangs does not hold the end of the process."""

    def submit(self, call: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future = Future[T]()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        threading.Thread(target=run, name="faqsvc-embed-names", daemon=True).start()
        return future


class Fetcher:
    """Fetches FAQs into a cache: at most one flight an FAQ at a time, however many ask."""

    def __init__(self, settings: Settings, cache: Cache) -> None:
        self._settings = settings
        self._cache = cache
        self._flights: dict[Key, Flight] = {}
        self._lock = threading.Lock()
        self._loop = BackgroundLoop()
        self._client: httpx2.AsyncClient | None = None
        _fetchers.add(self)

    def get_ready(self) -> None:
        """Make the HTTP client, which takes a while: importing, and reading the certificates it trusts."""
        with self._lock:
            self._client = self._client or _new_client(self._settings.base_url)

    def join(self, key: Key) -> Flight | None:
        """Return the flight for `key`, started if need be; None if meanwhile there is nothing to fetch."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None:
                return flight
            # Looked at again under the lock: a flight may have landed since the caller looked.
            if want(self._cache.get(key), self._cache.clock()) is Want.NOTHING:
                return None
            flight = self._flights[key] = Flight()
            # Once running, a future cannot be cancelled: nobody who waits can end it for the others.
            flight.landed.set_running_or_notify_cancel()
            work = self._fly(key, flight)
            try:
                flight.work = self._loop.submit(work)
            except RuntimeError as error:  # no thread can be started
                work.close()
                self._land(key, flight, Failed(FAQUnavailable(f"no thread to fetch with: {error}")))
            return flight

    def is_flying(self, key: Key) -> bool:
        """Tell whether a fetch of `key` is running."""
        return key in self._flights

    def abandon(self, slug: str | None = None) -> None:
        """Keep what flights for `slug`, or all flights, bring out of the cache."""
        with self._lock:
            for key in [key for key in self._flights if slug is None or key.slug == slug]:
                self._flights.pop(key).abandoned = True

    def close(self) -> None:
        """End what is running and free the connections, within a second; a later fetch starts anew."""
        with self._lock:
            loop, self._loop = self._loop, BackgroundLoop()
            client, self._client = self._client, None
        loop.stop(_close(client))

    def forked(self) -> None:
        """In a forked child: locks are new, the parent's loop, flights and sockets are left alone."""
        self._lock = threading.Lock()
        self._cache.reset_lock()
        self._loop = BackgroundLoop()
        self._flights.clear()
        # Not closed: that would speak on the parent's connections. Kept, so that nobody collects it.
        _parents_clients.append(self._client)
        self._client = None

    async def _fly(self, key: Key, flight: Flight) -> None:
        outcome: Outcome = Failed(FAQUnavailable(f"fetching {key.slug!r} was interrupted"))
        try:
            outcome = await self._fetch(key)
        except asyncio.CancelledError:
            self.abandon(key.slug)  # closing is no fault of the service, to be held against it
            raise
        except Exception as error:  # whatever a server can provoke ends as a failed fetch
            outcome = Failed(FAQUnavailable(f"fetching {key.slug!r} failed: {error!r}"))
        finally:
            with self._lock:
                self._land(key, flight, outcome)

    def _land(self, key: Key, flight: Flight, outcome: Outcome) -> None:
        if flight.abandoned:
            entry = self._cache.after(None, key, outcome)
        else:
            before = self._cache.get(key)
            entry = self._cache.apply(key, outcome)
            del self._flights[key]
            _tell(before, entry)
        flight.landed.set_result(entry)

    async def _fetch(self, key: Key) -> Outcome:
        held = self._cache.get(key)
        validators = held.validators if held is not None and held.faq is not None else Validators()
        request = read_request(self._settings.base_url, key.slug, key.lang, validators)
        try:
            async with asyncio.timeout(self._settings.timeout):
                reply = await self._follow(request)
        except TimeoutError:
            seconds = f"{self._settings.timeout:g} s"
            return Failed(FAQUnavailable(f"no complete answer for {key.slug!r} within {seconds}"))
        except FAQError as error:
            return Failed(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            detail = str(error) or type(error).__name__
            return Failed(FAQUnavailable(f"the service cannot be reached for {key.slug!r}: {detail[:200]!r}"))
        conditional = validators.etag is not None or validators.last_modified is not None
        steps = understanding(reply, key.slug, now=self._cache.wall_clock(), conditional=conditional)
        # A real pause: until this thread sleeps, another one may wait for the interpreter's lock for 5 ms.
        return await in_short_steps(steps, pause=SHORT)

    async def _follow(self, request: Request) -> Reply:
        """Send a read; redirects are followed on the origin only, three at most."""
        url = request.url
        for _ in range(MAX_REDIRECTS + 1):
            reply = await self._send(Request(url, request.headers))
            if reply.status not in REDIRECTS:
                return reply
            target = redirect_target(url, reply.headers.get("location"))
            if target is None:
                location = reply.headers.get("location", "")[:200]
                raise FAQUnavailable(f"a redirect to {location!r} is not followed", status=reply.status)
            url = target
        raise FAQUnavailable(f"more than {MAX_REDIRECTS} redirects", status=reply.status)

    async def _send(self, request: Request) -> Reply:
        if self._client is None:
            self._client = _new_client(self._settings.base_url)
        async with self._client.stream(
            request.method, request.url, headers=dict(request.headers)
        ) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            if response.status_code != 200:
                body = await _read_some(response.aiter_raw(), ERROR_BODY)
            else:
                coding = headers.get("content-encoding", "identity").strip().lower()
                body = await _read_all(response.aiter_raw(), coding, self._settings.max_bytes)
            return Reply(response.status_code, headers, body)


def _tell(before: Entry | None, after: Entry) -> None:
    """Log a change of state, once: from well to failing, and back."""
    failed_before = before is not None and before.error is not None
    if after.error is not None and not failed_before:
        shown = "its last good copy is shown" if after.faq is not None else "there is nothing to show"
        logger.warning("FAQ %r: %s; %s", after.key.slug, after.error, shown)
    elif after.error is None and failed_before:
        logger.info("FAQ %r: well again", after.key.slug)


def _new_client(base_url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=base_url.startswith(
            "https:"
        ),  # plain http has no use for certificates, which are slow to read
        follow_redirects=False,
        timeout=None,  # one deadline covers all: a timeout of each read is no budget
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=5, keepalive_expiry=5
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


async def _close(client: httpx2.AsyncClient | None) -> None:
    if client is not None:
        await client.aclose()


async def _read_some(chunks: AsyncIterator[bytes], limit: int) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) >= limit:
            break
    return bytes(body[:limit])


async def _read_all(chunks: AsyncIterator[bytes], coding: str, limit: int) -> bytes:
    """Return a whole body, unpacked; no more than `limit` bytes of it are ever held, packed or not."""
    if coding not in ("identity", "", "gzip", "x-gzip"):
        raise InvalidFAQ(f"the answer's content coding {coding[:40]!r} was not asked for", status=200)
    unpack = None if coding in ("identity", "") else zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    body, received = bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        try:
            body += chunk if unpack is None else unpack.decompress(chunk, limit + 1 - len(body))
        except zlib.error as error:
            raise InvalidFAQ(f"the answer is no gzip: {error}", status=200) from None
        if len(body) > limit or received > limit:
            raise InvalidFAQ(f"the answer is larger than max_bytes, {limit}", status=200)
    if unpack is not None and not unpack.eof:
        raise InvalidFAQ("the answer's gzip ends early", status=200)
    return bytes(body)


_fetchers: weakref.WeakSet[Fetcher] = weakref.WeakSet()
_parents_clients: list[object] = []


def _after_fork() -> None:
    for fetcher in list(_fetchers):
        fetcher.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
