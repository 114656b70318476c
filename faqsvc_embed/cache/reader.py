"""The way of a read: what is held answers at once; what is not is fetched, and waited for within a budget."""

import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol, TypedDict

from faqsvc_embed.api.reading import is_slug, not_a_slug
from faqsvc_embed.cache.entries import Cache, Entry, Key, Want, snapshot, want
from faqsvc_embed.errors import FAQUnavailable
from faqsvc_embed.events import Listeners
from faqsvc_embed.models import FAQ, FAQState, Source
from faqsvc_embed.page.context import Page
from faqsvc_embed.runtime.fork import watch_for
from faqsvc_embed.runtime.waiting import Waits
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future

    from faqsvc_embed.cache.stores.bundle import Bundle

LONGEST_FORGETTING: Final = 0.5
"""Seconds that `forget` waits for the store."""


class Flies(Protocol):
    """A fetch under way; its future yields the entry that it led to."""

    @property
    def landed(self) -> "Future[Entry]": ...


class Fetches(Protocol):
    """What a reader needs of `fetching.Fetcher`, or of what stands in for it."""

    def join(self, key: Key) -> Flies | None: ...
    def is_flying(self, key: Key | None = None) -> bool: ...
    def drive(self, key: Key, seconds: float) -> bool: ...
    def forget(self, slug: str | None = None) -> "Future[None] | None": ...
    def close(self) -> None: ...


class Health(TypedDict):
    """What is known of one FAQ, for a health page; times in seconds."""

    slug: str
    lang: str | None
    freshness: str
    """`fresh`, `stale`, `expired` (older than `keep_for`), `missing` (404) or `failed` (never had)."""
    age: float | None
    error: str | None
    next_try_in: float | None


class Reader:
    """Reads the FAQs of one service, through the copies that are held."""

    def __init__(
        self,
        settings: Settings,
        cache: Cache,
        listeners: Listeners | None = None,
    ) -> None:
        self.cache = cache
        self._listeners = listeners
        self._settings = settings
        self._fetcher: Fetches | None = None
        self._bundle: Bundle | None = None
        self._waits = Waits()
        watch_for(self)

    def forked(self) -> None:
        """In a forked child: the lock is new."""
        self.cache.reset_lock()

    def read(self, key: Key, wait: float, page: Page | None = None) -> FAQState:
        """Return what is known of `key`; if nothing is held, fetch it and wait, at most `wait` seconds.

        Within a `page`, the same key gives the same snapshot, and all waits together stay within `wait`.
        """
        if page is None or not isinstance(key.slug, str):  # what is no slug may not even be hashable
            return self._read(key, wait)
        state: FAQState | None = page.states.get((self, key))
        if state is None:
            left = page.left(wait)
            page.start_waiting()
            try:
                state = self._read(key, left)
            finally:
                page.stop_waiting()
            page.keep(self, key, state)
        return state

    def _read(self, key: Key, wait: float) -> FAQState:
        until = time.monotonic() + wait  # to begin a fetch takes time, too, above all the first one
        answer = self.look_up(key)
        if isinstance(answer, FAQState):
            is_newer = answer.is_fetching and self._drive(key, until - time.monotonic())
            return self._snapshot(key) if is_newer else answer
        try:
            if self._drive(key, until - time.monotonic()) and not answer.landed.done():
                return self._snapshot(key)
            left = max(0.0, until - time.monotonic())
            return self._landed(answer.landed.result(left)) if wait > 0 else self._snapshot(key)
        except TimeoutError:
            return self._snapshot(key)

    async def aread(self, key: Key, wait: float, page: Page | None = None) -> FAQState:
        """Return what `read` does, waiting without holding the event loop up."""
        if page is None or not isinstance(key.slug, str):
            return await self._aread(key, wait)
        state: FAQState | None = page.states.get((self, key))
        left = page.left(wait)
        if state is None or (state.is_loading and left > 0):  # a template that could not wait asked before
            page.start_waiting()
            try:
                state = await self._aread(key, left)
            finally:
                page.stop_waiting()
            page.keep(self, key, state)
        return state

    async def _aread(self, key: Key, wait: float) -> FAQState:
        until = time.monotonic() + wait
        answer = self.look_up(key)
        if isinstance(answer, FAQState):
            return answer
        if (left := until - time.monotonic()) > 0:
            await self._waits.until(answer.landed, left)
        return self._landed(answer.landed.result()) if answer.landed.done() else self._snapshot(key)

    def look_up(self, key: Key) -> FAQState | Flies:
        """Return the snapshot that answers a call now, or the flight that brings its answer.

        A copy that should be refreshed is returned, and its refresh started.
        """
        try:
            entry = self.cache.get(key)
        except TypeError:  # a slug that is not even hashable
            return FAQState(error=not_a_slug(key.slug), lang_requested=key.lang)
        now = self.cache.clock()
        if entry is not None:
            entry.used_at = now
            if entry.state is not None and now < entry.fresh_until:
                return entry.state
        wanted = want(entry, now)
        if wanted is Want.NOTHING:
            return self._snapshot(key)
        if not is_slug(key.slug):
            return FAQState(error=not_a_slug(key.slug), lang_requested=key.lang)
        if self._settings.offline and self._fetcher is None:
            return self._offline(key)
        flight = self._fetching().join(key)
        return self._snapshot(key) if flight is None or wanted is Want.REFRESH else flight

    def _snapshot(self, key: Key) -> FAQState:
        is_fetching = self._is_fetching(key)  # asked first: what lands meanwhile is then held, not lost
        return snapshot(self.cache.get(key), key, self.cache.clock(), is_fetching=is_fetching)

    def _landed(self, entry: Entry) -> FAQState:
        """The source is `network` or `store` only for the call whose wait brought the copy."""
        source: Source = entry.came_from if entry.error is None else "memory"
        is_fetching = self._is_fetching(entry.key)
        return snapshot(entry, entry.key, self.cache.clock(), is_fetching=is_fetching, source=source)

    def _offline(self, key: Key) -> FAQState:
        source: Source = "memory"
        if self.cache.get(key) is None:
            copy = self._shipped().find(key)
            if copy is None:
                return FAQState(error=self._shipped().lacks(key), lang_requested=key.lang)
            self.cache.adopt(key, copy)
            source = "store"
        return snapshot(self.cache.get(key), key, self.cache.clock(), source=source)

    def _shipped(self) -> "Bundle":
        if self._bundle is None:
            from faqsvc_embed.cache.stores.bundle import Bundle

            self._bundle = Bundle(self._settings)
        return self._bundle

    def max_age(self, key: Key, state: FAQState) -> int | None:
        """Return for how many seconds a cache may keep a page that shows this; None if it is as it should be.

        Never longer than until the service is asked again (rule R9).
        """
        most = self._settings.degraded_max_age
        if most is None or (state.data is not None and not state.is_degraded):
            return None
        entry = self.cache.get(key)
        if self._settings.offline:
            return most
        if entry is None or state.is_fetching:
            return 0
        return max(0, min(most, int(entry.retry_at - self.cache.clock())))

    @property
    def is_fetching(self) -> bool:
        """Some fetch is running."""
        return self._fetcher is not None and self._fetcher.is_flying()

    def _is_fetching(self, key: Key) -> bool:
        return self._fetcher is not None and self._fetcher.is_flying(key)

    def _drive(self, key: Key, wait: float) -> bool:
        """Fetch in this thread, where no other can run."""
        return wait > 0 and self._fetcher is not None and self._fetcher.drive(key, wait)

    def _fetching(self) -> Fetches:
        if self._fetcher is None:
            # Imported here: a page whose FAQs are held needs neither asyncio nor an HTTP client.
            from faqsvc_embed.cache.fetcher import Fetcher
            from faqsvc_embed.cache.stores import open_store

            store = None if self._settings.offline else open_store(self._settings)
            fetcher = Fetcher(self._settings, self.cache, store, self._listeners)
            with self.cache.lock:  # of two that were made at once, one is used
                self._fetcher = self._fetcher or fetcher
        return self._fetcher

    def fetch_by(self, fetcher: Fetches) -> None:
        """Fetch by other means from here on, and forget what was fetched before."""
        self.close()
        self._fetcher = fetcher
        self.cache.forget(None)

    def get_ready(self) -> None:
        """Make what the first fetch needs; nothing is fetched."""
        if self._fetcher is None and not self._settings.offline:
            from faqsvc_embed.cache.fetcher import Fetcher

            fetcher = self._fetching()
            if isinstance(fetcher, Fetcher):
                fetcher.get_ready()

    def forget(self, slug: str | None = None) -> None:
        """Drop what is held of `slug` in every language, or of all FAQs, and what is on its way."""
        if self._settings.store is not None and not self._settings.offline:
            # The store may hold what this process never asked for.
            forgetting = self._fetching().forget(slug)
            if forgetting is not None and not in_event_loop():
                from concurrent import futures  # whoever has a future has it already

                futures.wait([forgetting], LONGEST_FORGETTING)
        elif self._fetcher is not None:
            self._fetcher.forget(slug)
        else:
            self.cache.forget(slug)

    def close(self) -> None:
        """End what is running, within a second; a later read starts anew."""
        fetcher = self._fetcher
        if fetcher is not None:
            fetcher.close()

    def health(self) -> list[Health]:
        """Return what is known of each FAQ that was asked for, by slug and language; asks nobody."""
        now, wall = self.cache.clock(), datetime.now(UTC)
        entries = sorted(self.cache.entries(), key=lambda entry: (entry.key.slug, entry.key.lang or ""))
        return [_health(entry, now, wall) for entry in entries]


def in_event_loop() -> bool:
    """Tell whether this thread runs an event loop, which must not be held up."""
    asyncio = sys.modules.get("asyncio")  # if nobody has imported it, nobody runs one
    return asyncio is not None and asyncio._get_running_loop() is not None


def data_or_raise(state: FAQState) -> FAQ:
    """Return the record of a snapshot, or raise why there is none."""
    if state.data is not None:
        return state.data
    if state.error is not None:
        raise state.error.fresh()
    raise FAQUnavailable("the FAQ did not arrive within what may be waited for it")


def _health(entry: Entry, now: float, wall: datetime) -> Health:
    if entry.faq is None:
        freshness = "failed" if entry.failures else "missing"
    elif now < entry.fresh_until:
        freshness = "fresh"
    else:
        freshness = "stale" if now < entry.keep_until else "expired"
    moments = [moment - now for moment in (entry.fresh_until, entry.retry_at) if moment > now]
    return Health(
        slug=entry.key.slug,
        lang=entry.key.lang,
        freshness=freshness,
        age=None if entry.updated_at is None else max(0.0, (wall - entry.updated_at).total_seconds()),
        error=None if entry.error is None else str(entry.error),
        next_try_in=max(moments, default=None),
    )
