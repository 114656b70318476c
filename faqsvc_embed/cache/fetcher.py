"""Fetches FAQs into the cache: one fetch for each FAQ at a time, for any number of callers (single flight).

Synchronous callers wait on the `concurrent.futures.Future` of a fetch, asynchronous callers await it. All
work runs on one background loop.
"""

import asyncio
from concurrent.futures import Future
from typing import Final

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.breaker import CircuitBreaker
from faqsvc_embed.cache.entry import Entry, Key, Need, need
from faqsvc_embed.cache.fetch import Fetch, FetchState
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.report import Reporter
from faqsvc_embed.cache.shared import SharedStore
from faqsvc_embed.cache.source import BaseSource, Feed, Read
from faqsvc_embed.errors import FAQGone, FAQUnavailable
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.bounded_log import LogOnce, origin_of
from faqsvc_embed.runtime.threads import Lock
from faqsvc_embed.settings import Settings

MAX_FETCHES: Final = 1000
"""Maximum number of fetches at once. Beyond it, only cached records are refreshed.

Visitors can invent slugs.
"""
MAX_DRAFTS: Final = 5
"""Maximum number of drafts that are fetched at once, because any visitor can invent tokens."""


class Fetcher:
    """Fetches FAQs of one source into a cache, and drafts for the one page of a visitor with a token."""

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
        self._breaker = CircuitBreaker(source.name, lambda: cache.clock())
        self._feed: Feed | None = source.feed(cache.slugs, self.refresh) if source.follows_changes else None
        self._fetches: dict[Key, Fetch] = {}
        self._lock = Lock()
        """Guards `_fetches`."""
        self._log = LogOnce()
        fork.register(self)

    def get_or_start(self, key: Key) -> Fetch | None:
        """Return the fetch of `key`, started if necessary; None if its entry is fresh, or in backoff."""
        with self._lock.own():
            entry = self._cache.get(key)
            if need(entry, self._cache.clock()) is Need.NOTHING:
                return None
            if (fetch := self._fetches.get(key)) is not None:
                return fetch
            fetch, limit = Fetch(key), MAX_DRAFTS if key.token is not None else MAX_FETCHES
            others = sum((key.token is None) is (other.token is None) for other in self._fetches)
            may_start = others < limit or (entry is not None and entry.faq is not None)
            if may_start:
                self._fetches[key] = fetch
        if may_start:
            self._start(fetch)
        else:
            error = FAQUnavailable(f"FAQ {key.slug!r} is not fetched: {limit} others are being fetched")
            failed = Failed(error, was_sent=False)
            self._reporter.report(None, self._end(fetch, self._cache.entry_after(key, failed)), failed)
        return fetch

    def _start(self, fetch: Fetch) -> Future[None] | None:
        """Run a fetch on the background loop, and return its end; None if there is no thread."""
        work = self._run(fetch)
        try:
            done = self._background.submit(work)
            done.add_done_callback(lambda done: self._ended(fetch, done))
            return done
        except BaseException as error:  # too many open files, no threads, or the page was interrupted
            work.close()
            self._finish(fetch, Failed(FAQUnavailable(f"no thread to fetch with: {error}")))
            if not isinstance(error, Exception):
                raise
            return None

    def _ended(self, fetch: Fetch, done: Future[None]) -> None:
        """Handle a fetch that ended without a result: it was cancelled, or raised an unexpected exception."""
        slug = fetch.key.slug
        if fetch.state is FetchState.ENDED:
            return
        if done.cancelled():
            fetch.state = FetchState.DETACHED  # closing is not a failure of the source
            failure = FAQUnavailable(f"fetching FAQ {slug!r} was interrupted")
        elif (error := done.exception()) is not None:
            self._log.error(origin_of(error), "fetching FAQ %r failed", slug, error=error)
            failure = FAQUnavailable(f"fetching FAQ {slug!r} failed: {error!r}")
        else:
            return
        self._finish(fetch, Failed(failure))

    @property
    def feed_lag(self) -> float | None:
        """The seconds since the oldest announced change that has not arrived; None without a change feed."""
        return self._cache.lag() if self._feed is not None and self._feed.is_connected else None

    @property
    def has_started(self) -> bool:
        """Whether there is a background thread."""
        return self._background.has_started

    def is_fetching(self, key: Key | None = None) -> bool:
        """Return whether callers can wait for a fetch of `key`, or of anything."""
        fetches = list(self._fetches.values()) if key is None else [self._fetches.get(key)]
        return any(fetch is not None and fetch.state is not FetchState.OVERDUE for fetch in fetches)

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
        except Exception:  # for the same reasons; a later fetch does it
            work.close()
            return None

    def forget_here(self, slug: str | None = None) -> None:
        """Remove `slug`, or everything, from the cache of this process."""
        with self._lock.own():
            for key in [key for key in self._fetches if slug is None or key.slug == slug]:
                self._fetches.pop(key).state = FetchState.DETACHED
        self._cache.forget(slug)

    def close(self) -> None:
        """Cancel fetches and close connections, within a second; a later fetch opens new ones."""
        self._background.close()

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._fetches.clear()
        if self._store is not None:
            self._store.after_fork()
        if self._feed is not None or (self._store is not None and self._store.is_shared):
            self._cache.expire()  # no change is received here until the first fetch

    # The change feed

    async def refresh(self, change: Change) -> None:
        """Fetch the cached entries of a slug, which may have changed."""
        ends = [self._start(self._fetch_again(key)) for key in self._cache.announce(change)]
        if waiting := [asyncio.wrap_future(end) for end in ends if end is not None]:
            await asyncio.wait(waiting)

    def _fetch_again(self, key: Key) -> Fetch:
        """Return a new fetch of `key`, and detach the one under way, which may have begun before a change."""
        with self._lock.own():
            if (before := self._fetches.get(key)) is not None:
                before.state = FetchState.DETACHED
            fetch = self._fetches[key] = Fetch(key)
        return fetch

    # One fetch, on the background loop

    async def _run(self, fetch: Fetch) -> None:
        if fetch.is_draft:  # it is for one page, and is neither cached nor stored
            self._finish(fetch, await self._source.fetch(self._read(fetch)))
            return
        is_new, store = self._cache.get(fetch.key) is None, self._store
        is_settled = store is not None and await self._load(fetch, store)
        if not is_settled:
            outcome = await self._request(fetch)
            if store is None:
                self._finish(fetch, outcome)
            else:
                await self._finish_and_save(fetch, outcome, store)
        entry = self._cache.get(fetch.key)
        if self._feed is not None and entry is not None and (entry.faq is not None or entry.is_missing):
            # The store may have missed a change of this language.
            self._feed.follow(fetch.key.slug, is_missing=entry.is_missing, may_be_old=is_new and is_settled)

    async def _load(self, fetch: Fetch, store: SharedStore) -> bool:
        """Read the store; return whether that has settled the fetch. Callers get a stale record at once."""
        store.watch(self.forget_here, self._cache.expire)
        # The store has an older record than an announced change.
        stored = None if self._has_changed(fetch.key) else await store.load(fetch.key)
        if fetch.is_detached:
            return False
        before = self._cache.get(fetch.key)
        if stored is None:
            return before is not None and before.is_file and await self._settle_file(fetch, before, store)
        entry = self._cache.adopt(fetch.key, stored)
        if before is not None and before.error is not None and entry.error is None:
            self._reporter.report(before, entry, None)
        needed = need(entry, self._cache.clock())
        if needed is Need.NOTHING:
            self._end(fetch, entry)
        elif needed is Need.REFRESH:
            fetch.resolve(entry)
        return needed is Need.NOTHING

    async def _settle_file(self, fetch: Fetch, entry: Entry, store: SharedStore) -> bool:
        """Give callers the file of the folder, unless its FAQ was unpublished: that settles the fetch."""
        if await store.tombstone(fetch.key.slug) is None:
            fetch.resolve(entry)
            return False
        error = FAQGone(f"FAQ {fetch.key.slug!r} was unpublished", status=410)
        self._finish(fetch, Gone(error))
        return True

    async def _finish_and_save(self, fetch: Fetch, outcome: Outcome, store: SharedStore) -> None:
        if isinstance(outcome, Failed):
            await self._load_translation(fetch.key, store)
        before = self._cache.get(fetch.key)
        had_record = before is not None and before.faq is not None
        if isinstance(outcome, Gone) and had_record and not fetch.is_detached:
            # It is gone in every language and every process. The store knows first: this one may be killed.
            slug = fetch.key.slug
            store.mark_invalid(slug, self._cache.wall_clock(), self._cache.tombstone(slug))
            await store.invalidate()
        is_detached = fetch.is_detached
        entry = self._finish(fetch, outcome)
        if is_detached:
            return
        if isinstance(outcome, Gone):
            if not had_record:  # it was gone before; another invalidation would only cause fetches
                await store.delete(*(Key(entry.key.slug, lang) for lang in (None, *LANGUAGES)))
        elif entry.faq is None and isinstance(outcome, NotFound):
            await store.delete(entry.key)
        elif entry.error is None:
            stored = self._cache.to_store(entry)
            if stored is not None:
                await store.save(entry.key, stored)

    async def _request(self, fetch: Fetch) -> Outcome:
        """Ask the source. If the breaker is open, callers do not wait, and only a probe is made."""
        if self._breaker.is_open:
            message = f"FAQ {fetch.key.slug!r}: {self._source.name} does not respond"
            refused = Failed(FAQUnavailable(message), was_sent=False)
            if not self._breaker.may_probe():
                return refused
            if self._store is not None:
                await self._load_translation(fetch.key, self._store)
            fetch.resolve(self._cache.entry_after(fetch.key, refused))
        outcome = await self._source.fetch(self._read(fetch))
        if fetch.state is not FetchState.OVERDUE or not isinstance(outcome, Failed):
            self._breaker.record(outcome)
        if isinstance(outcome, Gone) and not fetch.is_detached:
            self._cache.bury(fetch.key, outcome)
        return await self._gone_if_older(outcome, fetch.key) if isinstance(outcome, Fetched) else outcome

    def _read(self, fetch: Fetch) -> Read:
        """Return the request of a fetch for its source."""
        return Read(
            fetch.key,
            lambda: self._validators(fetch),
            self._cache.wall_clock,
            lambda failed: self._overdue(fetch, failed),
            # A cache in front of a service may still have the record before a change or a write.
            self._has_changed(fetch.key) or self._cache.may_be_old(fetch.key.slug),
        )

    def _has_changed(self, key: Key) -> bool:
        """Return whether the feed has announced a change that no response has contained yet."""
        entry = self._cache.get(key)
        return entry is not None and entry.announced is not None

    def _validators(self, fetch: Fetch) -> Validators:
        """Return the validators of the cached record that a 304 would confirm."""
        entry = None if fetch.is_detached else self._cache.get(fetch.key)
        return NO_VALIDATORS if entry is None or entry.faq is None else entry.validators

    async def _gone_if_older(self, outcome: Fetched, key: Key) -> Outcome:
        """Return a 410 for a response from before the FAQ was unpublished."""
        entry, tombstone = self._cache.get(key), self._cache.tombstone(key.slug)
        announced = None if entry is None else entry.announced
        if announced is not None and announced.change.state == "published":
            return outcome
        if tombstone is None and self._store is not None and (entry is None or entry.faq is None):
            tombstone = await self._store.tombstone(key.slug)
        if tombstone is None or not tombstone.covers(outcome, self._cache.wall_clock()):
            return outcome
        message = f"FAQ {key.slug!r} was unpublished, but a cache still sends its record"
        return Gone(FAQGone(message, status=410))

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

    def _overdue(self, fetch: Fetch, failed: Failed) -> None:
        """Give the callers an error. The fetch stays under way, as what arrives late is used."""
        self._breaker.record(failed)
        if fetch.is_detached:
            fetch.resolve(self._cache.entry_after(fetch.key, failed))
            return
        fetch.state = FetchState.OVERDUE
        before, entry = self._cache.get(fetch.key), self._cache.apply(fetch.key, failed)
        fetch.resolve(entry)
        self._reporter.report(before, entry, failed)

    def _finish(self, fetch: Fetch, outcome: Outcome) -> Entry:
        """Cache the outcome of a fetch, and pass it to the callers."""
        is_known = fetch.state is FetchState.OVERDUE and isinstance(outcome, Failed)
        if fetch.is_detached or is_known:
            return self._end(fetch, self._cache.entry_after(fetch.key, outcome))
        before, entry = self._cache.get(fetch.key), self._cache.apply(fetch.key, outcome)
        try:
            self._reporter.report(before, entry, outcome)
        finally:  # otherwise a fault of this package would keep callers waiting for ever
            self._end(fetch, entry)
        return entry

    def _end(self, fetch: Fetch, entry: Entry) -> Entry:
        """Remove a fetch, and give its callers their entry."""
        with self._lock.own():
            fetch.state = FetchState.ENDED
            if self._fetches.get(fetch.key) is fetch:
                del self._fetches[fetch.key]
        fetch.resolve(entry)
        return entry
