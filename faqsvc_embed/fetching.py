"""Fetching FAQs into a cache: one flight an FAQ at a time, however many ask.

Sync callers wait on a flight's `concurrent.futures.Future`, async callers await the same one.
"""

import asyncio
import logging
import os
import threading
import weakref
from concurrent.futures import Future
from dataclasses import dataclass, field

from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.freshness import Cache, Entry, Key, Want, want
from faqsvc_embed.settings import Settings
from faqsvc_embed.transport import Transport
from faqsvc_embed.wire import Failed, Outcome, Validators, read_request, understand

logger = logging.getLogger("faqsvc_embed")


@dataclass(slots=True, eq=False)
class Flight:
    """One fetch under way; its future yields the entry that it led to."""

    landed: Future[Entry] = field(default_factory=Future)
    work: Future[None] | None = None  # held here, because a loop holds its tasks weakly
    abandoned: bool = False
    """Its FAQ was forgotten meanwhile: those who wait get its answer, the cache does not."""


class Fetcher:
    """Fetches FAQs into a cache: at most one flight an FAQ at a time, however many ask."""

    def __init__(self, settings: Settings, cache: Cache) -> None:
        self._settings = settings
        self._cache = cache
        self._flights: dict[Key, Flight] = {}
        self._lock = threading.Lock()
        self._transport = Transport(settings.max_bytes)
        _fetchers.add(self)

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
                flight.work = self._transport.run(work)
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
        self._transport.close()

    def forked(self) -> None:
        """In a forked child: locks are new, the parent's flights are left alone."""
        self._lock = threading.Lock()
        self._cache.reset_lock()
        self._flights.clear()

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
        reply = await self._transport.ask(request, timeout=self._settings.timeout, about=f"for {key.slug!r}")
        if isinstance(reply, FAQError):
            return Failed(reply)
        conditional = validators.etag is not None or validators.last_modified is not None
        return understand(reply, key.slug, now=self._cache.wall_clock(), conditional=conditional)


def _tell(before: Entry | None, after: Entry) -> None:
    """Log a change of state, once: from well to failing, and back."""
    failed_before = before is not None and before.error is not None
    if after.error is not None and not failed_before:
        shown = "its last good copy is shown" if after.faq is not None else "there is nothing to show"
        logger.warning("FAQ %r: %s; %s", after.key.slug, after.error, shown)
    elif after.error is None and failed_before:
        logger.info("FAQ %r: well again", after.key.slug)


_fetchers: weakref.WeakSet[Fetcher] = weakref.WeakSet()


def _after_fork() -> None:
    for fetcher in list(_fetchers):
        fetcher.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
