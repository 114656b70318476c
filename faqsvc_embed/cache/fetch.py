"""The fetches under way: one for each FAQ at a time, for any number of callers (single flight)."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from typing import Final

from faqsvc_embed.cache.entry import Entry, Key, Need, need
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.errors import FAQUnavailable
from faqsvc_embed.runtime.threads import Lock, is_gevent_patched, sleep_until, wait_for

MAX_FETCHES: Final = 1000
"""Maximum number of fetches at once. Beyond it, only cached records are refreshed.

Visitors can invent slugs.
"""
MAX_DRAFTS: Final = 5
"""Maximum number of drafts that are fetched at once, because any visitor can invent tokens."""


class FetchState(Enum):
    """The life of a fetch."""

    RUNNING = "its outcome will be cached"
    OVERDUE = "it took too long, and callers have an error; its outcome will be cached if it arrives"
    DETACHED = "its outcome is for its callers only: a draft, or an FAQ that was forgotten or has changed"
    ENDED = "there is nothing more to come"


class Fetch:
    """A fetch under way."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.state = FetchState.RUNNING if key.token is None else FetchState.DETACHED
        self.result: Future[Entry] = Future()
        """Done as soon as there is an entry for the callers, perhaps with a stale record before the end."""
        self.started_at: float = time.monotonic()
        self.entry: Entry | None = None
        """The result, which greenlets can read without a lock."""
        self.result.set_running_or_notify_cancel()  # so that no caller can cancel it for the others

    @property
    def is_draft(self) -> bool:
        """Whether this is a draft for one page."""
        return self.key.token is not None

    @property
    def is_detached(self) -> bool:
        """Whether the outcome is not cached."""
        return self.state is FetchState.DETACHED

    @property
    def is_running(self) -> bool:
        """Whether an outcome will be cached soon."""
        return self.state is FetchState.RUNNING

    def wait(self, seconds: float) -> None:
        """Wait for the entry, at most `seconds`."""
        if is_gevent_patched():
            sleep_until(lambda: self.entry is not None, seconds)
        else:
            wait_for(self.result, seconds)

    def resolve(self, entry: Entry) -> None:
        """Give the callers their entry; only the first call counts."""
        if self.entry is None:
            self.entry = entry
            self.result.set_result(entry)


class SingleFlight:
    """The fetches under way, by key."""

    def __init__(self, cache: MemoryCache) -> None:
        self._cache = cache
        self._fetches: dict[Key, Fetch] = {}
        self._lock = Lock()

    def join(self, key: Key, start: Callable[[Fetch], object]) -> Fetch | None:
        """Return the fetch of `key`, started if necessary; None if its entry is fresh, or in backoff.

        Raises:
            FAQUnavailable: there are too many others.
        """
        with self._lock.own():
            entry = self._cache.get(key)
            if need(entry, self._cache.clock()) is Need.NOTHING:
                return None
            if (fetch := self._fetches.get(key)) is not None:
                return fetch
            others = sum((key.token is None) is (other.token is None) for other in self._fetches)
            limit = MAX_FETCHES if key.token is None else MAX_DRAFTS
            is_refresh = entry is not None and entry.faq is not None
            if others >= limit and not is_refresh:
                message = f"FAQ {key.slug!r} is not fetched: {limit} others are being fetched"
                raise FAQUnavailable(message)
            fetch = self._fetches[key] = Fetch(key)
        start(fetch)
        return fetch

    def replace(self, key: Key) -> Fetch:
        """Return a new fetch of `key`, and detach the one under way, which may have begun before a change."""
        with self._lock.own():
            if (before := self._fetches.get(key)) is not None:
                before.state = FetchState.DETACHED
            fetch = self._fetches[key] = Fetch(key)
        return fetch

    def detach(self, slug: str | None) -> None:
        """Cache no outcome of the fetches of a slug, or of any; the next caller starts another."""
        with self._lock.own():
            for key in list(self._fetches):
                if slug is None or key.slug == slug:
                    self._fetches.pop(key).state = FetchState.DETACHED

    def end(self, fetch: Fetch, entry: Entry) -> None:
        """Remove a fetch, and give its callers their entry."""
        with self._lock.own():
            fetch.state = FetchState.ENDED
            if self._fetches.get(fetch.key) is fetch:
                del self._fetches[fetch.key]
        fetch.resolve(entry)

    def is_running(self, key: Key | None) -> bool:
        """Return whether callers can wait for a fetch of `key`, or of anything."""
        fetches = list(self._fetches.values()) if key is None else [self._fetches.get(key)]
        return any(fetch is not None and fetch.state is not FetchState.OVERDUE for fetch in fetches)

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._fetches.clear()
