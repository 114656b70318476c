"""Reads the change log of the database, once for the response cache and the event feed of a process."""

import asyncio
import logging
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import anyio

from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import database_outages, open_file_limit, run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from faqsvc_embed.service.storage.logs import MAX_EVENTS, LoggedChange, Position

LOOK_INTERVAL: Final = 0.001
"""Seconds between two checks of a SQLite file."""

Listener = Callable[[Sequence[LoggedChange] | None], None]
"""Gets the changes in their order; None if everything may have changed, as after a restore."""


class Changes:
    """The changes of the published FAQs, whichever process makes them. It belongs to one event loop."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._listeners: list[Listener] = []
        self._file_version: int | None = None
        self._looked_at = 0.0
        self.listed: str | None = None
        """The listed sites. That they changed is no change of an FAQ."""
        self._position: Position | None = None
        self._running: asyncio.Future[None] | None = None
        self._waiting: asyncio.Future[None] | None = None
        """The query that has not begun; all calls until then wait for it."""

    @property
    def position(self) -> Position:
        """The end of the log when it was read last."""
        return self._position or Position(0)

    def listen(self, listener: Listener) -> None:
        """Call a function with all changes from now on."""
        self._listeners.append(listener)

    def is_unchanged(self) -> bool:
        """Return whether the file of SQLite shows, in microseconds, that there is nothing new.

        It is looked at once in a millisecond, because each look lets other threads run.
        """
        if self._file_version is None:
            return False
        now = time.monotonic()
        if now - self._looked_at >= LOOK_INTERVAL:
            if self._storage.database.data_version() != self._file_version:
                return False
            self._looked_at = now
        return True

    def expect(self) -> None:
        """Look at the file again, because this process has written to it."""
        self._looked_at = 0.0

    async def refresh(self) -> None:
        """Tell the listeners everything that was committed before this call; raise StorageUnavailable.

        One query serves all that wait for it.
        """
        if self.is_unchanged():
            return
        if self._waiting is None:
            self._waiting = asyncio.ensure_future(self._read(self._running))
            self._waiting.add_done_callback(_ignore_outage)
        await asyncio.shield(self._waiting)

    async def _read(self, previous: "asyncio.Future[None] | None") -> None:
        if previous is not None and not previous.done():
            await asyncio.wait([previous])
        self._running, self._waiting = self._waiting, None  # later calls need a later response
        database, before = self._storage.database, self._position
        file_version = database.data_version() if database.is_sqlite else None
        self._file_version = None  # until the query has succeeded
        now, listed = await run_blocking(self._storage.changes.version)
        changes: Sequence[LoggedChange] | None = ()
        if before is not None and before != now:
            changes = await self._between(before, now)
        if changes:  # there may be later ones than `now`
            now = Position(changes[-1].number, now.epoch, changes[-1].created_at)
        self._position, self.listed, self._file_version = now, listed, file_version
        if changes is None or changes:
            for listener in self._listeners:
                listener(changes)

    async def _between(self, before: Position, now: Position) -> Sequence[LoggedChange] | None:
        """Return the changes after a position; None if it is of another log, or if one of them is gone."""
        if before.epoch != now.epoch or not 0 < now.number - before.number < MAX_EVENTS:
            return None
        # The change at the position is read again: if it has another time, the log is another one.
        found = await run_blocking(self._storage.changes.after, before.number - 1)
        is_same = before.at is None or (bool(found) and found.pop(0).created_at == before.at)
        has_all = bool(found) and found[0].number == before.number + 1  # numbers have no gaps
        return found if is_same and has_all else None


def _ignore_outage(reading: "asyncio.Future[None]") -> None:
    """Retrieve the exception of a query without waiting requests; `run_blocking` has reported it."""
    if not reading.cancelled():
        reading.exception()


POLL: Final = 0.25
"""Seconds between two queries of the database, which has the changes of all processes."""
MAX_WAITING: Final = 200
"""Maximum number of changes that wait for a slow subscriber. Beyond it, all records must be read again."""
MAX_FOLLOWED: Final = 200_000
"""Maximum number of slugs of all subscribers together; each takes about 200 bytes."""
RETRY_AFTER: Final = 1.0
"""Seconds until the next query after one has failed."""

logger: logging.Logger = logging.getLogger("faqsvc_embed.service")


class Subscriber:
    """The changes that wait to be sent to one connection."""

    def __init__(self, slugs: Iterable[str], network: str | None) -> None:
        self.log: Position = Position(0)
        """The position in the log where the subscriber began, or had to begin again."""
        # Most subscribers follow the same slugs.
        self.slugs: frozenset[str] = frozenset(sys.intern(slug) for slug in slugs)
        self.network = network
        self.waiting: deque[LoggedChange] = deque()
        self.has_missed: bool = False
        self.has_news: asyncio.Event = asyncio.Event()

    def add(self, change: LoggedChange) -> None:
        """Add a change. If too many are waiting, drop them and mark them as missed."""
        if len(self.waiting) >= MAX_WAITING:
            self.waiting.clear()
            self.has_missed = True
        self.waiting.append(change)
        self.has_news.set()

    def miss(self, log: Position) -> None:
        """Tell the subscriber to read all records again, and continue at the end of a log."""
        self.log = log
        self.waiting.clear()
        self.has_missed = True
        self.has_news.set()


class ChangeFeed:
    """Polls while there are subscribers. It belongs to the event loop of the application.

    Subscribers may use a quarter of the files that this process may have open, and those of one network half
    of that, so that no client can block the feed or the service for others.
    """

    def __init__(self, storage: Storage, changes: Changes) -> None:
        self._storage = storage
        self._changes = changes
        changes.listen(self._pass_on)
        self._by_slug: defaultdict[str, set[Subscriber]] = defaultdict(set)
        self._by_network: Counter[str | None] = Counter()
        self._followed: Counter[str | None] = Counter()
        self._task: asyncio.Task[None] | None = None
        self._catching_up = anyio.CapacityLimiter(1)

    async def subscribe(self, slugs: Iterable[str], network: str | None, after: str | None) -> Subscriber:
        """Return a new subscriber.

        With `after`, the id of an event, the changes since then already wait for it, unless there are too
        many, some are gone, or the event is not in this log.

        Raises:
            Problem: there is no room (503).
            StorageUnavailable: the database does not respond.
        """
        subscriber = Subscriber(slugs, network)
        self._take(network, len(subscriber.slugs))
        try:
            await self._start()
            subscriber.log = self._changes.position
            for slug in subscriber.slugs:  # from now on, changes reach it
                self._by_slug[slug].add(subscriber)
            if after is not None and after != subscriber.log.event_id():
                await self._catch_up(subscriber, after)
        except BaseException:
            self.unsubscribe(subscriber)
            raise
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Send this subscriber nothing more."""
        self._release(subscriber.network, len(subscriber.slugs))
        for slug in subscriber.slugs:
            self._by_slug[slug].discard(subscriber)
            if not self._by_slug[slug]:
                del self._by_slug[slug]

    @contextmanager
    def reserved(self, network: str | None, slugs: int) -> Iterator[None]:
        """Reserve the room of a subscriber of this many slugs. Raise Problem (503) if there is none."""
        self._take(network, slugs)
        try:
            yield
        finally:
            self._release(network, slugs)

    def _take(self, network: str | None, slugs: int) -> None:
        limit, too_many = open_file_limit() // 4, ""
        if self._by_network.total() >= limit or self._followed.total() + slugs > MAX_FOLLOWED:
            too_many = "Too many subscribers"
        elif network is not None and (  # clients of a Unix socket have no network
            self._by_network[network] >= limit // 2 or self._followed[network] + slugs > MAX_FOLLOWED // 2
        ):
            too_many = "Too many subscribers from one address"
        if too_many:
            raise Problem(503, "unavailable", f"{too_many}; poll instead", headers={"retry-after": "60"})
        self._by_network[network] += 1
        self._followed[network] += slugs

    def _release(self, network: str | None, slugs: int) -> None:
        self._by_network[network] -= 1
        self._followed[network] -= slugs
        if not self._by_network[network]:
            del self._by_network[network], self._followed[network]

    async def _start(self) -> None:
        if self._task is None or self._task.done():
            await self._changes.refresh()
            if self._task is None or self._task.done():  # another subscriber may have been faster
                self._task = asyncio.create_task(self._poll())

    async def _catch_up(self, subscriber: Subscriber, after: str) -> None:
        # In one thread for all, so that public reads find a free one when many subscribers come back.
        last, missed = await run_blocking(
            self._missed, after, subscriber.slugs, limiter=self._catching_up, outages=database_outages
        )
        if missed is None or len(missed) > MAX_WAITING:
            subscriber.miss(last)
            return
        for change in missed:  # the poll may add one of them again, which only costs the reader a request
            subscriber.add(change)

    def _missed(self, after: str, slugs: frozenset[str]) -> tuple[Position, Sequence[LoggedChange] | None]:
        """Return the end of the log, and the changes of slugs after an event; None if it has not all."""
        log = self._storage.changes
        last, _ = log.version()
        number = last.number_of(after)
        if number is None or number > last.number:
            return last, None
        following = log.after(number, 1)
        # Numbers have no gaps, so a gap means that the next change is no longer in the log.
        if number == last.number or (following and following[0].number == number + 1):
            return last, log.after(number, MAX_WAITING + 1, slugs)
        return last, None

    async def _poll(self) -> None:
        while self._by_network:
            await asyncio.sleep(POLL)
            try:
                await self._changes.refresh()
            except StorageUnavailable:  # `run_blocking` has reported it
                await asyncio.sleep(RETRY_AFTER)
            except Exception:  # subscribers still need the feed
                logger.exception("the change feed failed; it continues")
                await asyncio.sleep(RETRY_AFTER)

    def _pass_on(self, changes: Sequence[LoggedChange] | None) -> None:
        """Pass changes to their subscribers, or tell each to read all records again."""
        if changes is None:
            for subscriber in {one for subscribers in self._by_slug.values() for one in subscribers}:
                subscriber.miss(self._changes.position)
            return
        for change in changes:
            for subscriber in self._by_slug.get(change.slug, ()):
                subscriber.add(change)
