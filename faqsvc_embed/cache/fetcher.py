"""Fetching FAQs into a cache: one flight an FAQ at a time, however many ask.

Sync callers wait on a flight's `concurrent.futures.Future`; those of an event loop share one of its own.
"""

import asyncio
import contextlib
import logging
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from faqsvc_embed.api.reading import (
    Failed,
    Found,
    Missing,
    NotModified,
    Outcome,
    Validators,
    read_request,
    understanding,
)
from faqsvc_embed.api.transport import MAX_CONNECTIONS, Transport
from faqsvc_embed.cache.entries import Cache, Entry, Key, Want, may_be_shown, want
from faqsvc_embed.cache.stores import GuardedStore
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.events import FAQEvent, Listeners, What
from faqsvc_embed.runtime.fork import notice, watch_for
from faqsvc_embed.runtime.steps import SHORT, in_short_steps
from faqsvc_embed.settings import Settings

LEASE_GRACE: Final = 1.0
"""Seconds beyond `timeout` that a refresh waits for another process to end the same one."""
MOST_FLIGHTS: Final = 1000
"""Fetches at once; beyond, only copies that are held are refreshed, so that a flood of slugs costs little."""

logger = logging.getLogger("faqsvc_embed")


@dataclass(slots=True, eq=False)
class Flight:
    """One fetch under way; its future yields the entry that it led to.

    A stale copy of the store's lands before the flight is over: it is shown while the service is asked.
    """

    landed: Future[Entry] = field(default_factory=Future)
    began: float = field(default_factory=time.monotonic)
    work: Future[None] | None = None  # held here, because a loop holds its tasks weakly
    is_over: bool = False
    abandoned: bool = False
    """Its FAQ was forgotten meanwhile: those who wait get its answer, the cache does not."""


class Fetcher:
    """Fetches FAQs into a cache: at most one flight an FAQ at a time, however many ask."""

    def __init__(
        self,
        settings: Settings,
        cache: Cache,
        store: GuardedStore | None = None,
        listeners: Listeners | None = None,
    ) -> None:
        self._settings = settings
        self._listeners = listeners or Listeners()
        self._store = store
        self._watch: asyncio.Task[None] | None = None
        self._forgetting: Future[None] | None = None
        self._turns: asyncio.Semaphore | None = None
        self._cache = cache
        self._flights: dict[Key, Flight] = {}
        self._is_full = False
        self._lock = threading.RLock()
        self._transport = Transport(settings.max_bytes, store.aclose if store is not None else None)
        watch_for(self)

    def get_ready(self) -> None:
        """Make what the first fetch needs; nothing is fetched."""
        self._transport.get_ready(self._settings.base_url)
        if self._store is not None:
            self._store.prepare()

    def join(self, key: Key) -> Flight | None:
        """Return the flight for `key`, started if need be; None if meanwhile there is nothing to fetch."""
        notice()
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None:
                return flight
            # Looked at again under the lock: a flight may have landed since the caller looked.
            held = self._cache.get(key)
            if want(held, self._cache.clock()) is Want.NOTHING:
                return None
            if len(self._flights) >= MOST_FLIGHTS and (held is None or held.faq is None):
                return self._turned_away(key)
            flight = self._flights[key] = Flight()
            # Once running, a future cannot be cancelled: nobody who waits can end it for the others.
            flight.landed.set_running_or_notify_cancel()
            work = self._fly(key, flight)

            def is_done(_: Future[None]) -> None:
                if not flight.is_over:  # it never began, for the loop ended
                    work.close()
                    self._interrupted(key, flight)

            try:
                flight.work = self._transport.run(work)
                flight.work.add_done_callback(is_done)
            except RuntimeError as error:  # no thread can be started
                work.close()
                self._land(key, flight, Failed(FAQUnavailable(f"no thread to fetch with: {error}")))
            return flight

    def _turned_away(self, key: Key) -> Flight:
        """Return a flight that has landed without an answer, and is not remembered."""
        if not self._is_full:
            logger.warning("%d FAQs are being fetched at once: no more are asked for meanwhile", MOST_FLIGHTS)
        self._is_full = True
        flight = Flight(is_over=True, abandoned=True)
        busy = FAQUnavailable(f"{key.slug!r} was not asked for: {MOST_FLIGHTS} FAQs are being fetched")
        flight.landed.set_result(self._cache.after(None, key, Failed(busy)))
        return flight

    def is_flying(self, key: Key | None = None) -> bool:
        """Tell whether a fetch of `key`, or any, is running."""
        return bool(self._flights) if key is None else key in self._flights

    def drive(self, key: Key, seconds: float) -> bool:
        """Fetch here and now, at most so long, where no thread can; tell whether that was so."""
        flight = self._flights.get(key)
        return flight is not None and flight.work is not None and self._transport.drive(flight.work, seconds)

    def abandon(self, slug: str | None = None) -> None:
        """Keep what flights for `slug`, or all flights, bring out of the cache."""
        with self._lock:
            for key in [key for key in self._flights if slug is None or key.slug == slug]:
                self._flights.pop(key).abandoned = True

    def forget(self, slug: str | None = None) -> Future[None] | None:
        """Drop `slug`, or all, from the cache and from the store; what is on its way reaches neither.

        The store takes a moment: later flights wait for it, and so may who called.
        """
        self._forget_here(slug)
        if self._store is not None:
            with contextlib.suppress(RuntimeError):  # no thread can be started
                self._forgetting = self._transport.run(self._store.forget(slug))
        return self._forgetting

    def _forget_here(self, slug: str | None) -> None:
        self.abandon(slug)
        self._cache.forget(slug)

    def close(self) -> None:
        """End what is running and free the connections, within a second; a later fetch starts anew."""
        self._transport.close()
        self._watch = self._forgetting = self._turns = None

    def forked(self) -> None:
        """In a forked child: locks are new, the parent's flights are left alone."""
        self._lock = threading.RLock()
        self._cache.reset_lock()
        self._flights.clear()
        self._watch = self._forgetting = self._turns = None
        if self._store is not None:
            self._store.forked()
            if self._store.is_shared:
                self._cache.expire()  # until the first flight nobody listens here to what others forget

    async def _fly(self, key: Key, flight: Flight) -> None:
        try:
            if self._store is None:
                self._land(key, flight, await self._fetch(key))
            else:
                await self._fly_by_store(key, flight, self._store)
        except asyncio.CancelledError:
            self.abandon(key.slug)  # closing is no fault of the service, to be held against it
            raise
        except Exception as error:  # whatever a server can provoke ends as a failed fetch
            self._land(key, flight, Failed(FAQUnavailable(f"fetching {key.slug!r} failed: {error!r}")))
        finally:
            if not flight.is_over:
                self._interrupted(key, flight)

    def _interrupted(self, key: Key, flight: Flight) -> None:
        self._land(key, flight, Failed(FAQUnavailable(f"fetching {key.slug!r} was interrupted")))

    async def _fly_by_store(self, key: Key, flight: Flight, store: GuardedStore) -> None:
        """Take the copy in the store if it is fresh; else fetch one for all, as the only one to do so."""
        if self._watch is None:
            self._watch = asyncio.create_task(store.watch(_weak(self._forget_here), self._cache.expire))
        if self._forgetting is not None:
            await asyncio.wrap_future(self._forgetting)
        if await self._take(key, flight, store):
            return
        if self._turns is None:
            self._turns = asyncio.Semaphore(MAX_CONNECTIONS)
        try:  # a lease may hold a descriptor, and a host has not many of them
            async with asyncio.timeout(self._settings.timeout):
                await self._turns.acquire()
        except TimeoutError:
            busy = f"{key.slug!r} was not asked for within {self._settings.timeout:g} s: so many others are"
            self._land(key, flight, Failed(FAQUnavailable(busy)))
            return
        try:
            await self._fetch_for_all(key, flight, store)
        finally:
            self._turns.release()

    async def _fetch_for_all(self, key: Key, flight: Flight, store: GuardedStore) -> None:
        async with store.lease(key, self._settings.timeout + LEASE_GRACE):
            if await self._take(key, flight, store):  # another process has been there meanwhile
                return
            outcome = await self._fetch(key)
            entry = self._land(key, flight, outcome)
            if not flight.abandoned:
                await self._keep(entry, outcome, store)

    async def _take(self, key: Key, flight: Flight, store: GuardedStore) -> bool:
        """Hold the copy in the store; tell whether it is fresh. A stale one is shown to those who wait."""
        copy = await store.load(key)
        with self._lock:
            if copy is None or flight.abandoned:
                return False
            before = self._cache.get(key)
            entry = self._cache.adopt(key, copy)
        if _failed(before) and entry.error is None:
            self._tell(before, entry, flight, "recovered")
        with self._lock:
            wanted = want(entry, self._cache.clock())
            if wanted is Want.NOTHING:
                self._end(key, flight, entry)
            elif wanted is Want.REFRESH and not flight.landed.done():
                flight.landed.set_result(entry)
            return wanted is Want.NOTHING

    async def _keep(self, entry: Entry, outcome: Outcome, store: GuardedStore) -> None:
        """Let the store have what the service said."""
        if isinstance(outcome, Missing):
            await store.drop(entry.key)
        elif isinstance(outcome, Found | NotModified):
            policy, copy = entry.policy, self._cache.copy_of(entry)
            if policy.no_store or (policy.private and store.is_shared):
                await store.drop(entry.key)  # nor may its predecessor come back
            elif copy is not None:
                await store.save(entry.key, copy)

    def _land(self, key: Key, flight: Flight, outcome: Outcome) -> Entry:
        """End a flight with what the service said, or with why it said nothing."""
        with self._lock:
            if flight.abandoned:
                entry = self._cache.after(None, key, outcome)
                self._end(key, flight, entry)
                return entry
            before = self._cache.get(key)
            entry = self._cache.apply(key, outcome)
        # Without the lock, for whoever writes the log, or listens, may be slow.
        self._tell(before, entry, flight, _what(before, entry, outcome))
        with self._lock:
            self._end(key, flight, entry)
            return entry

    def _tell(self, before: Entry | None, after: Entry, flight: Flight, what: What) -> None:
        """Log a change of state, once: well, failing, nothing left to show; tell listeners of every fetch."""
        is_shown = may_be_shown(after, after.failed_at)
        if after.error is not None and (not _failed(before) or is_shown != _was_shown(before)):
            shown = "its last good copy is shown" if is_shown else "there is nothing to show"
            logger.warning("FAQ %r: %s; %s", after.key.slug, after.error, shown)
        elif after.error is None and _failed(before):
            logger.info("FAQ %r: well again", after.key.slug)
        took = time.monotonic() - flight.began
        self._listeners.tell(FAQEvent(after.key.slug, after.key.lang, what, took, after.error))

    def _end(self, key: Key, flight: Flight, entry: Entry) -> None:
        flight.is_over = True
        if self._flights.get(key) is flight:
            del self._flights[key]
        if not self._flights:
            self._is_full = False
        if not flight.landed.done():
            flight.landed.set_result(entry)

    async def _fetch(self, key: Key) -> Outcome:
        held = self._cache.get(key)
        validators = held.validators if held is not None and held.faq is not None else Validators()
        request = read_request(self._settings.base_url, key.slug, key.lang, validators)
        reply = await self._transport.ask(request, timeout=self._settings.timeout, about=f"for {key.slug!r}")
        if isinstance(reply, FAQError):
            return Failed(reply)
        conditional = validators.etag is not None or validators.last_modified is not None
        steps = understanding(reply, key.slug, now=self._cache.wall_clock(), conditional=conditional)
        # A real pause: until this thread sleeps, another one may wait for the interpreter's lock for 5 ms.
        return await in_short_steps(steps, pause=SHORT)


def _weak(forget: Callable[[str | None], None]) -> Callable[[str | None], None]:
    """Return what calls a method for as long as somebody else holds its object."""
    reference = weakref.WeakMethod(forget)

    def call(slug: str | None) -> None:
        method = reference()
        if method is not None:
            method(slug)

    return call


def _failed(entry: Entry | None) -> bool:
    return entry is not None and entry.error is not None


def _was_shown(before: Entry | None) -> bool:
    """Tell whether there was a copy to show when the fetch before failed."""
    return before is not None and may_be_shown(before, before.failed_at)


def _what(before: Entry | None, after: Entry, outcome: Outcome) -> What:
    if isinstance(outcome, Missing):
        return "missing"
    if after.error is not None:
        return "failed"
    if _failed(before):
        return "recovered"
    return "fetched" if isinstance(outcome, Found) else "not_modified"
