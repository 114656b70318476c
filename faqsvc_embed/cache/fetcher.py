"""Fetches FAQs into the cache: one fetch for each FAQ at a time, for any number of callers (single flight).

Synchronous callers wait on the `concurrent.futures.Future` of a fetch, asynchronous callers await it. All
work runs on one background loop.

A fetch is listed from its start until it ends or its FAQ is forgotten. Its outcome is cached and saved in the
store, with these exceptions:

- After a change that was announced meanwhile, the outcome is cached as stale and not saved, and another
  fetch follows at once.
- If the FAQ was forgotten meanwhile, or is a draft, only the callers get the outcome.
- If the fetch is overdue, the callers already have an error; a late failure is not cached as a second one.
"""

from concurrent.futures import Future
from typing import Final

from faqsvc_embed.api.responses import Failed, FAQChange, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.entry import Entry, Key, Need, need, translations
from faqsvc_embed.cache.fetch import CircuitBreaker, Fetch
from faqsvc_embed.cache.memory import Mark, MemoryCache
from faqsvc_embed.cache.report import Reporter
from faqsvc_embed.cache.shared import SharedStore
from faqsvc_embed.cache.source import BaseSource, Feed, Read
from faqsvc_embed.errors import FAQGone, FAQUnavailable
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
        store: SharedStore,
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
        """The listed fetches."""
        self._lock = Lock()
        """Guards `_fetches`, and the caching of their outcomes."""
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
            fetch = Fetch(key)
            limit = MAX_DRAFTS if fetch.is_draft else MAX_FETCHES
            others = sum(other.is_draft == fetch.is_draft for other in self._fetches.values())
            may_start = others < limit or (entry is not None and entry.faq is not None)
            if may_start:
                self._fetches[key] = fetch
        if may_start:
            self._start(fetch)
        else:
            error = FAQUnavailable(f"FAQ {key.slug!r} is not fetched: {limit} others are being fetched")
            failed = Failed(error, was_sent=False)
            fetch.resolve(entry := self._cache.entry_after(key, failed))
            self._reporter.report(None, entry, failed)
        return fetch

    def refresh(self, change: FAQChange) -> None:
        """Fetch the cached entries of a slug, which may have changed."""
        keys = self._cache.announce(change)
        with self._lock.own():
            for fetch in self._fetches.values():
                if fetch.key.slug == change.slug:
                    fetch.change = change
            new = [Fetch(key) for key in keys if key not in self._fetches]
            self._fetches.update((fetch.key, fetch) for fetch in new)
        for fetch in new:
            self._start(fetch)

    def _start(self, fetch: Fetch) -> None:
        work = self._run(fetch)
        try:
            self._background.submit(work).add_done_callback(lambda done: self._ended(fetch, done))
        except BaseException as error:  # too many open files, no threads, or the page was interrupted
            work.close()
            self._settle(fetch, Failed(FAQUnavailable(f"no thread to fetch with: {error}")))
            if not isinstance(error, Exception):
                raise

    def _ended(self, fetch: Fetch, done: Future[None]) -> None:
        """Give the callers of a fetch an error if it was cancelled, or raised an unexpected exception."""
        slug = fetch.key.slug
        if done.cancelled():
            self._unlist(fetch)  # so that it is not cached: closing is not a failure of the source
            self._settle(fetch, Failed(FAQUnavailable(f"fetching FAQ {slug!r} was interrupted")))
        elif (error := done.exception()) is not None:
            self._log.error(origin_of(error), "fetching FAQ %r failed", slug, error=error)
            self._settle(fetch, Failed(FAQUnavailable(f"fetching FAQ {slug!r} failed: {error!r}")))

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
        return any(fetch is not None and not fetch.is_overdue for fetch in fetches)

    def is_running(self, fetch: Fetch) -> bool:
        """Return whether callers can wait for this fetch, and its outcome will be cached."""
        return self._is_listed(fetch) and not fetch.is_overdue

    def forget(self, slug: str | None = None) -> Future[bool] | None:
        """Remove `slug`, or everything, from cache and store; results of running fetches are not stored.

        If there is a store, return a future for its part of the work.
        """
        mark = self.forget_here(slug)
        if not self._store.exists:
            return None
        self._store.mark_invalid(slug, mark)
        work = self._store.invalidate()
        try:
            return self._background.submit(work)
        except Exception:  # too many open files, or no threads; a later fetch does it
            work.close()
            return None

    def forget_here(self, slug: str | None = None) -> Mark:
        """Remove `slug`, or everything, from the cache of this process."""
        with self._lock.own():
            for key in [key for key in self._fetches if slug is None or key.slug == slug]:
                del self._fetches[key]
        return self._cache.forget(slug)

    def close(self) -> None:
        """Cancel fetches and close connections, within a second; a later fetch opens new ones."""
        self._background.close()

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._fetches.clear()
        self._store.after_fork()
        if self._feed is not None or self._store.serves_machines:
            self._cache.expire()  # this process receives no changes before its first fetch

    # One fetch, on the background loop

    async def _run(self, fetch: Fetch) -> None:
        key = fetch.key
        if fetch.is_draft:  # it is for one page, and is neither cached nor stored
            self._settle(fetch, await self._source.fetch(self._read(fetch)))
            return
        is_new = self._cache.get(key) is None
        is_settled = await self._load(fetch)
        if not is_settled:
            await self._conclude(fetch, await self._request(fetch))
        entry = self._cache.get(key)
        if entry is not None and fetch.change is not None:
            self.get_or_start(key)
        if self._feed is not None and entry is not None and (entry.faq is not None or entry.is_missing):
            # The store may have missed a change of this language.
            self._feed.follow(key.slug, is_missing=entry.is_missing, may_be_old=is_new and is_settled)

    async def _load(self, fetch: Fetch) -> bool:
        """Read the store; return whether that has settled the fetch. Callers get a stale record at once."""
        key = fetch.key
        self._store.watch(self.forget_here, self._cache.expire)
        stored, before = await self._store.load(key), self._cache.get(key)
        if not self._is_listed(fetch):
            return False
        if stored is None or self._has_changed(fetch):  # the store may have the record before the change
            if before is None or not before.is_file:
                return False
            return await self._settle_file(fetch, before)
        entry = self._cache.apply(key, stored)
        if before is not None and before.error is not None and entry.error is None:
            self._reporter.report(before, entry, None)
        needed = need(entry, self._cache.clock())
        if needed is Need.NOTHING:
            self._unlist(fetch)
        if needed is not Need.FETCH:
            fetch.resolve(entry)
        return needed is Need.NOTHING

    async def _settle_file(self, fetch: Fetch, entry: Entry) -> bool:
        """Give callers the file of the folder, unless its FAQ was unpublished: that settles the fetch."""
        if await self._store.tombstone(fetch.key.slug) is None:
            fetch.resolve(entry)
            return False
        self._settle(fetch, Gone(FAQGone(f"FAQ {fetch.key.slug!r} was unpublished", status=410)))
        return True

    async def _conclude(self, fetch: Fetch, outcome: Outcome) -> None:
        """Cache and store the outcome of a request."""
        key, store = fetch.key, self._store
        if isinstance(outcome, Failed):
            await self._load_translation(key)
        elif isinstance(outcome, Gone) and self._is_listed(fetch):
            # The store is told before the callers, because this process may be killed.
            if (mark := self._cache.mark_unpublished(key, outcome)) is not None:
                store.mark_invalid(key.slug, mark)
                await store.invalidate()
            else:  # it was gone before; another invalidation would only cause fetches
                await store.delete(*translations(key.slug))
        entry = self._settle(fetch, outcome)
        is_newest = self._cache.get(key) is entry and fetch.change is None
        if is_newest and entry.faq is None and isinstance(outcome, NotFound):
            await store.delete(key)
        elif is_newest and entry.error is None and (stored := self._cache.to_store(entry)) is not None:
            await store.save(key, stored)

    async def _request(self, fetch: Fetch) -> Outcome:
        """Ask the source. If the breaker is open, callers do not wait, and only a probe is made."""
        if self._breaker.is_open:
            message = f"FAQ {fetch.key.slug!r}: {self._source.name} does not respond"
            refused = Failed(FAQUnavailable(message), was_sent=False)
            if not self._breaker.may_probe():
                return refused
            await self._load_translation(fetch.key)
            fetch.resolve(self._cache.entry_after(fetch.key, refused))
        outcome = await self._source.fetch(self._read(fetch))
        if not (fetch.is_overdue and isinstance(outcome, Failed)):
            self._breaker.record(outcome)
        if isinstance(outcome, Fetched) and await self._is_gone(fetch.key, outcome):
            message = f"FAQ {fetch.key.slug!r} was unpublished, but a cache still sends its record"
            return Gone(FAQGone(message, status=410))
        return outcome

    def _read(self, fetch: Fetch) -> Read:
        """Return what a fetch asks its source for."""
        entry = self._cache.get(fetch.key)
        return Read(
            fetch.key,
            entry.response if entry is not None and entry.validators else None,
            self._cache.wall_clock,
            lambda failed: self._overdue(fetch, failed),
            # A cache in front of a service may still have the record before a change or a write.
            self._has_changed(fetch) or self._cache.may_be_old(fetch.key.slug),
        )

    def _has_changed(self, fetch: Fetch) -> bool:
        """Return whether the feed has announced a change that no response has contained yet."""
        entry = self._cache.get(fetch.key)
        return fetch.change is not None or (entry is not None and entry.announced is not None)

    async def _is_gone(self, key: Key, response: Fetched) -> bool:
        """Return whether a response is from before the FAQ was unpublished."""
        entry = self._cache.get(key)
        announced = None if entry is None else entry.announced
        if announced is not None and announced.change.state == "published":
            return False
        tombstone = self._cache.tombstone(key.slug)
        if tombstone is None and (entry is None or entry.faq is None):
            tombstone = await self._store.tombstone(key.slug)
        return tombstone is not None and tombstone.rejects(response, self._cache.wall_clock())

    async def _load_translation(self, key: Key) -> None:
        """Load any translation of an FAQ that is not cached and cannot be fetched."""
        for other in (key, *translations(key.slug, self._settings.lang)):
            cached = self._cache.get(other)
            if cached is not None and cached.faq is not None:
                return
            if other != key and (stored := await self._store.load(other)) is not None:
                self._cache.apply(other, stored)
                return

    def _overdue(self, fetch: Fetch, failed: Failed) -> None:
        """Give the callers an error. The fetch stays listed, so that a late success is still cached."""
        self._breaker.record(failed)
        fetch.is_overdue = True
        self._settle(fetch, failed, stays_listed=True)

    def _settle(self, fetch: Fetch, outcome: Outcome, *, stays_listed: bool = False) -> Entry:
        """Cache the outcome of a fetch, unlist the fetch, and give its callers their entry."""
        key, before = fetch.key, self._cache.get(fetch.key)
        is_second_failure = fetch.is_overdue and not stays_listed and isinstance(outcome, Failed)
        with self._lock.own():  # no thread may forget the FAQ or announce a change in between
            is_cached = self._is_listed(fetch) and not (fetch.is_draft or is_second_failure)
            if is_cached:
                entry = self._cache.apply(key, outcome, fetch.change)
            else:
                entry = self._cache.entry_after(key, outcome)
            if self._is_listed(fetch) and not stays_listed:
                del self._fetches[key]
        try:
            if is_cached:
                self._reporter.report(before, entry, outcome)
        finally:  # otherwise a fault of this package would keep callers waiting for ever
            fetch.resolve(entry)
        return entry

    def _is_listed(self, fetch: Fetch) -> bool:
        return self._fetches.get(fetch.key) is fetch

    def _unlist(self, fetch: Fetch) -> None:
        with self._lock.own():
            if self._is_listed(fetch):
                del self._fetches[fetch.key]
