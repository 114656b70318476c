"""The change feed of one process: it reads the log of changes, and passes each on to its subscribers."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Final

from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from faqsvc_embed.service.storage.change_log import LoggedChange

POLL: Final = 0.25
"""Seconds between two looks at the database, which tell of the changes of all processes."""
MAX_WAITING: Final = 200
"""Changes that wait for a slow subscriber; one that misses some has to read everything again."""
MAX_SUBSCRIBERS: Final = 5_000

logger = logging.getLogger("faqsvc_embed.service")


class Subscriber:
    """The changes of some slugs that one connection has not sent yet."""

    def __init__(self, slugs: Iterable[str]) -> None:
        self.slugs = frozenset(slugs)
        self.waiting: deque[LoggedChange] = deque()
        self.has_missed = False
        self.has_news = asyncio.Event()

    def add(self, change: LoggedChange) -> None:
        """Add a change, unless too many wait already."""
        if len(self.waiting) >= MAX_WAITING:
            self.waiting.clear()
            self.has_missed = True
        self.waiting.append(change)
        self.has_news.set()


class ChangeFeed:
    """Polls while there are subscribers. It belongs to the event loop of the application."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._by_slug: defaultdict[str, set[Subscriber]] = defaultdict(set)
        self._count = 0
        self._last = 0
        self._version: int | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_full(self) -> bool:
        """Whether no further subscriber is accepted."""
        return self._count >= MAX_SUBSCRIBERS

    async def subscribe(self, slugs: Iterable[str], after: int | None) -> tuple[Subscriber, int]:
        """Return a new subscriber, and the number of the last change.

        With `after`, the changes since then wait for it already, or it has missed some.

        Raises:
            StorageUnavailable: the database does not respond.
        """
        subscriber = Subscriber(slugs)
        self._count += 1
        for slug in subscriber.slugs:
            self._by_slug[slug].add(subscriber)
        try:
            last = await run_blocking(self._storage.changes.last)
            if self._task is None or self._task.done():
                self._last = last
                self._task = asyncio.create_task(self._poll())
            if after is not None:
                await self._catch_up(subscriber, after, last)
        except BaseException:
            self.unsubscribe(subscriber)
            raise
        return subscriber, last

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Send this subscriber nothing more."""
        self._count -= 1
        for slug in subscriber.slugs:
            self._by_slug[slug].discard(subscriber)
            if not self._by_slug[slug]:
                del self._by_slug[slug]

    async def _catch_up(self, subscriber: Subscriber, after: int, last: int) -> None:
        first = await run_blocking(self._storage.changes.first_kept)
        if not first - 1 <= after <= last:
            subscriber.has_missed = True
            subscriber.has_news.set()
            return
        for change in await run_blocking(self._storage.changes.after, after):
            if change.slug in subscriber.slugs:  # perhaps twice, which costs a request
                subscriber.add(change)

    async def _poll(self) -> None:
        while self._count:
            await asyncio.sleep(POLL)
            try:
                if self._has_changed():
                    await self._read()
            except StorageUnavailable as error:
                logger.warning("the change feed waits: %s", error)
                self._version = None  # what it announced was not read
                await asyncio.sleep(1)

    def _has_changed(self) -> bool:
        """Return whether there may be changes; only SQLite tells without a query."""
        if not self._storage.database.is_sqlite:
            return True
        before, self._version = self._version, self._storage.database.data_version()
        return self._version is None or self._version != before

    async def _read(self) -> None:
        for change in await run_blocking(self._storage.changes.after, self._last):
            self._last = change.number
            for subscriber in self._by_slug.get(change.slug, ()):
                subscriber.add(change)
