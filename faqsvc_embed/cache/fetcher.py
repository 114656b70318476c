"""Fetches FAQs into the cache: one fetch for each FAQ at a time, for any number of callers (single flight).

Synchronous callers wait on the `concurrent.futures.Future` of a fetch, asynchronous callers await it. All
work runs on one background loop.
"""

import asyncio
import time
from concurrent.futures import Future
from typing import Final

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, NotModified, Outcome
from faqsvc_embed.cache.breaker import GuardedSource
from faqsvc_embed.cache.drafts import DraftReader
from faqsvc_embed.cache.entries import Entry, Key, Need, is_current, need
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.report import Reporter, Signals
from faqsvc_embed.cache.shared import SharedStore
from faqsvc_embed.cache.source import BaseSource, Feed
from faqsvc_embed.errors import FAQGone, FAQUnavailable
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.bounded_log import LogOnce, origin_of
from faqsvc_embed.runtime.threads import new_lock
from faqsvc_embed.settings import Settings

POLL: Final = 0.02
"""Seconds between two checks whether a fetch has ended."""
MAX_FETCHES: Final = 1000
"""Maximum number of fetches at once. Beyond it, only cached records are refreshed.

Visitors can invent slugs.
"""


class Fetcher:
    """Fetches FAQs of one source into a cache."""

    def __init__(
        self,
        settings: Settings,
        source: BaseSource,
        cache: MemoryCache,
        store: SharedStore | None,
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._source = source
        self._cache = cache
        self._store = store
        self._reporter = reporter
        self._background = BackgroundLoop()
        self._guarded = GuardedSource(source, cache)
        self.feed: Feed | None = None
        """Announces changes, if the source has a feed."""
        self._drafts = DraftReader(source, self._background)
        self._fetches: dict[Key, Fetch] = {}
        self._lock = new_lock()
        self._log = LogOnce()
        fork.register(self)

    def get_or_start(self, key: Key) -> Fetch | None:
        """Return the fetch of `key`, started if necessary; None if there is nothing to fetch any more."""
        fork.check()
        with self._lock:
            fetch = self._fetches.get(key)
            if fetch is not None:
                return fetch
            # A fetch may have ended since the caller looked it up.
            entry = self._cache.get(key)
            if need(entry, self._cache.clock()) is Need.NOTHING:
                return None
            fetch = Fetch(key)
            is_full = len(self._fetches) >= MAX_FETCHES and (entry is None or entry.faq is None)
            if not is_full:
                self._fetches[key] = fetch
        if is_full:
            error = FAQUnavailable(f"FAQ {key.slug!r} is not fetched: {MAX_FETCHES} others are being fetched")
            self._reporter.rejected(error)
            fetch.resolve(self._cache.entry_after(key, Failed(error)))
        else:
            self._start(fetch)
        return fetch

    def _start(self, fetch: Fetch) -> None:
        work = self._run(fetch)
        try:
            done = self._background.submit(work)
        except RuntimeError as error:
            work.close()
            self._finish(fetch, Failed(FAQUnavailable(f"no thread to fetch with: {error}")))
            return
        done.add_done_callback(lambda done: self._ended(fetch, done))

    def _ended(self, fetch: Fetch, done: Future[None]) -> None:
        """Handle a fetch that ended without a result: it was cancelled, or raised an unexpected exception."""
        slug = fetch.key.slug
        if done.cancelled():
            fetch.is_detached = True  # closing is not a failure of the source
            failure = FAQUnavailable(f"fetching FAQ {slug!r} was interrupted")
        elif (error := done.exception()) is not None:
            self._log.error(origin_of(error), "fetching FAQ %r failed", slug, error=error)
            failure = FAQUnavailable(f"fetching FAQ {slug!r} failed: {error!r}")
        else:
            return
        if not fetch.has_ended:
            self._finish(fetch, Failed(failure))

    def signals(self) -> Signals:
        """Return the measurements for metrics."""
        lag = None if self.feed is None else self.feed.lag
        return Signals(not self._guarded.breaker.is_open, lag)

    @property
    def has_started(self) -> bool:
        """Whether there is a background thread."""
        return self._background.has_started

    def is_fetching(self, key: Key | None = None) -> bool:
        """Return whether `key`, or anything, is being fetched."""
        return bool(self._fetches) if key is None else key in self._fetches

    def forget(self, slug: str | None = None) -> Future[bool] | None:
        """Remove `slug`, or everything, from cache and store; results of running fetches are not stored.

        If there is a store, return a future for its part of the work.
        """
        self.forget_here(slug)
        if self._store is None:
            return None
        self._store.mark_invalid(slug, self._cache.wall_clock())
        try:
            return self._background.submit(work := self._store.invalidate())
        except RuntimeError:  # no thread can be started; a later fetch does it
            work.close()
            return None

    def forget_here(self, slug: str | None = None) -> None:
        """Remove `slug`, or everything, from the cache of this process."""
        with self._lock:
            for key in [key for key in self._fetches if slug is None or key.slug == slug]:
                self._fetches.pop(key).is_detached = True
        self._cache.forget(slug)

    def close(self) -> None:
        """Cancel fetches and close connections, within a second; a later fetch opens new ones."""
        self._background.close()

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._lock = new_lock()
        self._fetches.clear()
        self._drafts.after_fork()
        self._cache.after_fork()  # now, because its lock is needed next
        if self._store is not None:
            self._store.after_fork()
        if self.feed is not None or (self._store is not None and self._store.is_shared):
            self._cache.expire()  # no change is received here until the first fetch

    def start_draft(self, key: Key, token: str) -> Fetch:
        """Start to fetch the draft of an FAQ, for the one page with its token."""
        fork.check()
        return self._drafts.start(key, token)

    # The change feed

    async def revalidate(self, change: Change) -> bool:
        """Revalidate a slug in all languages; return whether the record is as new as the change."""
        keys = [entry.key for entry in self._cache.entries() if entry.key.slug == change.slug]
        for key in keys:
            while key in self._fetches:  # it may have begun before the change
                await asyncio.sleep(POLL)
        return all(await asyncio.gather(*(self._revalidate(key, change) for key in keys)))

    def expire(self, slug: str) -> None:
        """Let the next page refresh a slug."""
        self._cache.expire(slug)

    async def _revalidate(self, key: Key, change: Change) -> bool:
        before = self._cache.get(key)
        with self._lock:
            fetch = self._fetches[key] = Fetch(key, change)
        try:
            await self._run(fetch)
        finally:
            self._remove(fetch)
        after = self._cache.get(key)
        if change.state is None or after is None or before is None or after.faq != before.faq:
            return True
        return is_current(fetch.outcome, change, after)

    # One fetch, on the background loop

    async def _run(self, fetch: Fetch) -> None:
        is_new = self._cache.get(fetch.key) is None
        await self._fetch(fetch)
        if self.feed is not None and not fetch.is_detached:
            entry = self._cache.get(fetch.key)
            if entry is not None and (entry.faq is not None or entry.is_missing):
                is_stored = fetch.outcome is None  # the store may have missed a change of this language
                self.feed.follow(fetch.key.slug, may_be_old=is_new and is_stored)

    async def _fetch(self, fetch: Fetch) -> None:
        if self._store is None:
            self._finish(fetch, await self._request(fetch))
            return
        self._store.watch(self.forget_here, self._cache.expire)
        if fetch.change is not None:
            if not await self._load_seed(fetch, self._store):
                await self._request_and_save(fetch, self._store)
            return
        if not await self._load(fetch, self._store):
            await self._request_and_save(fetch, self._store)

    async def _load(self, fetch: Fetch, store: SharedStore) -> bool:
        """Load the record from the store; return whether it is fresh. Callers get a stale one at once."""
        stored = await store.load(fetch.key)
        if fetch.is_detached:
            return False
        if stored is None:
            return await self._load_seed(fetch, store)
        before = self._cache.get(fetch.key)
        entry = self._cache.adopt(fetch.key, stored)
        if before is not None and before.error is not None and entry.error is None:
            self._report(fetch, before, entry, None)
        needed = need(entry, self._cache.clock())
        if needed is Need.NOTHING:
            self._remove(fetch)
        if needed is not Need.FETCH:
            fetch.resolve(entry)
        return needed is Need.NOTHING

    async def _load_seed(self, fetch: Fetch, store: SharedStore) -> bool:
        """Return True if the FAQ was unpublished; otherwise give callers the record of the folder's file."""
        entry = self._cache.get(fetch.key)
        if entry is None or not entry.is_seed:
            return False
        if await store.tombstone(fetch.key.slug) is None:
            fetch.resolve(entry)
            return False
        error = FAQGone(f"FAQ {fetch.key.slug!r} was unpublished", status=410)
        self._finish(fetch, Gone(error))
        return True

    async def _request_and_save(self, fetch: Fetch, store: SharedStore) -> None:
        was_open = self._guarded.breaker.is_open
        if was_open:
            await self._load_translation(fetch.key, store)  # callers do not wait for the probe
        outcome = await self._request(fetch)
        if isinstance(outcome, Failed) and not was_open:
            await self._load_translation(fetch.key, store)
        before = self._cache.get(fetch.key)
        entry = self._finish(fetch, outcome)
        if fetch.is_detached:
            return
        if isinstance(outcome, Gone):
            if before is not None and before.faq is not None:
                # It is gone in every language and every process.
                tombstone = self._cache.tombstone(entry.key.slug)
                store.mark_invalid(entry.key.slug, self._cache.wall_clock(), tombstone)
                await store.invalidate()
            else:  # it was gone before; another invalidation would only cause fetches
                await store.delete(*(Key(entry.key.slug, lang) for lang in (None, *LANGUAGES)))
        elif entry.faq is None and isinstance(outcome, NotFound):
            await store.delete(entry.key)
        elif isinstance(outcome, Fetched | NotModified):
            stored = self._cache.to_store(entry)
            if stored is not None:
                await store.save(entry.key, stored)

    async def _request(self, fetch: Fetch) -> Outcome:
        """Fetch from the source. A response from before the FAQ was unpublished counts as 410."""
        outcome, slug = await self._guarded.fetch(fetch), fetch.key.slug
        is_announced = fetch.change is not None and fetch.change.state == "published"
        if not isinstance(outcome, Fetched) or is_announced:
            return outcome
        entry, tombstone = self._cache.get(fetch.key), self._cache.tombstone(slug)
        if tombstone is None and self._store is not None and (entry is None or entry.faq is None):
            tombstone = await self._store.tombstone(slug)
        if tombstone is not None and tombstone.covers(outcome, self._cache.wall_clock()):
            error = FAQGone(f"FAQ {slug!r} was unpublished, but a cache still sends its record", status=410)
            outcome = fetch.outcome = Gone(error)
        return outcome

    async def _load_translation(self, key: Key, store: SharedStore) -> None:
        """Load any translation of an FAQ that is not cached and cannot be fetched."""
        entry = self._cache.get(key)
        if entry is not None and entry.faq is not None:
            return
        for lang in dict.fromkeys((None, self._settings.lang, *LANGUAGES)):
            other = Key(key.slug, lang)
            cached = self._cache.get(other)
            if cached is not None and cached.faq is not None:
                return
            if other != key and (stored := await store.load(other)) is not None:
                self._cache.adopt(other, stored)
                return

    def _finish(self, fetch: Fetch, outcome: Outcome) -> Entry:
        """Store the outcome of a fetch, and pass it to the callers."""
        before = self._cache.get(fetch.key)
        if fetch.is_detached:
            entry = self._cache.entry_after(fetch.key, outcome)
        else:
            entry = self._cache.apply(fetch.key, outcome)
        fetch.has_ended = True
        try:
            if not fetch.is_detached:
                self._report(fetch, before, entry, outcome)
        finally:  # even if a listener exits its thread
            self._remove(fetch)
            fetch.resolve(entry)
        return entry

    def _report(self, fetch: Fetch, before: Entry | None, after: Entry, outcome: Outcome | None) -> None:
        self._reporter.report(before, after, outcome, time.monotonic() - fetch.started)

    def _remove(self, fetch: Fetch) -> None:
        with self._lock:
            if self._fetches.get(fetch.key) is fetch:
                del self._fetches[fetch.key]
