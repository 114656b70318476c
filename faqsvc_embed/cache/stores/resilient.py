"""Wraps a store: no call raises or takes long, and a failing store is retried with backoff."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final, Literal, TypeVar
from weakref import WeakMethod

from faqsvc_embed.cache.entries import Key, longest_backoff
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.cache.stores.base import OnGap, OnInvalidate, Store
from faqsvc_embed.cache.tombstone import Tombstone
from faqsvc_embed.errors import InvalidFAQ, masked
from faqsvc_embed.runtime.background_loop import finished
from faqsvc_embed.runtime.bounded_log import LogOnce, logger

T = TypeVar("T")
Operation = Literal["read", "written", "watched"]

CALL_TIMEOUT: Final = 0.5
"""Seconds for one call: a store has to be faster than the service."""
MAX_PENDING: Final = 1000


class Backoff:
    """The time from which a failed operation may be tried again."""

    def __init__(self) -> None:
        self.failures: int = 0
        self.until: float = float("-inf")

    def extend(self, now: float) -> None:
        """Back off, for longer after each failure."""
        self.failures += 1
        self.until = now + longest_backoff(self.failures)


class _Invalidation:
    """One call of `mark_invalid`; a later one for the same slug replaces it."""

    def __init__(self, at: datetime, tombstone: Tombstone | None) -> None:
        self.at = at
        self.tombstone = tombstone


class ResilientStore:
    """Calls a store within a time limit, and backs off from operations that fail.

    A store that cannot be written is still read. A store that cannot be read is not used at all.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_shared: bool = store.is_shared
        self._store = store
        self._clock = clock
        self._backoffs: dict[Operation, Backoff] = {
            "read": Backoff(),
            "written": Backoff(),
            "watched": Backoff(),
        }
        self._pending: dict[str | None, _Invalidation] = {}
        """Slugs whose invalidation the store has not confirmed yet; None stands for all."""
        self._log = LogOnce()
        self._watch: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None

    def watch(self, on_invalidate: OnInvalidate, on_gap: OnGap) -> None:
        """Receive the invalidations of other processes, in a task of the running loop.

        Both are methods; this does not keep their objects alive. `on_gap` is called if messages may have been
        missed.
        """
        loop = asyncio.get_running_loop()
        if self._watch is None or self._watch[0] is not loop:
            # Nothing can be missed before the first connection.
            on_connected = _nothing if self._watch is None else _weak(on_gap)
            work = self._subscribe(_weak(on_invalidate), on_connected, _weak(on_gap))
            self._watch = loop, loop.create_task(work)

    async def load(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None if there is none that can be used."""
        await self._send_pending()
        if key.slug in self._pending or None in self._pending:
            return None
        try:
            return await self._call("read", lambda: self._store.load(key))
        except InvalidFAQ as error:
            self._log.warning(repr(key), "FAQ %r: its stored record is ignored: %s", key.slug, error)
            return None

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record."""
        await finished(self._call("written", lambda: self._store.save(key, stored)))

    async def delete(self, key: Key) -> None:
        """Remove one record."""
        await finished(self._call("written", lambda: self._store.delete(key)))

    async def is_buried(self, slug: str) -> bool:
        """Return whether an FAQ was unpublished; False if the store does not work."""
        return await self._tombstone(slug) is not None

    async def tombstone(self, slug: str) -> Tombstone | None:
        """Return the tombstone of an FAQ; None if there is none that can be read."""
        text = await self._tombstone(slug)
        return None if text is None else Tombstone.from_json(text)

    async def _tombstone(self, slug: str) -> bytes | None:
        try:
            return await self._call("read", lambda: self._store.tombstone(slug))
        except InvalidFAQ:
            return None

    def mark_invalid(self, slug: str | None, at: datetime, tombstone: Tombstone | None = None) -> None:
        """Hide the records of `slug`, or all records, until `invalidate` succeeds.

        After that, records that were confirmed before `at` stay hidden. `at` comes from the clock that also
        sets `updated_at`. The store keeps the `tombstone` of an FAQ that was unpublished.
        """
        if len(self._pending) >= MAX_PENDING:
            self._pending, slug, tombstone = {}, None, None
        self._pending[slug] = _Invalidation(at, tombstone)

    async def invalidate(self) -> bool:
        """Remove the records that are marked invalid, and tell other processes, even during backoff.

        Returns whether the store has done both.
        """
        await self._send_pending(now=True)
        return not self._pending

    async def _send_pending(self, *, now: bool = False) -> None:
        for slug, invalidation in list(self._pending.items()):
            if not await finished(
                self._call("written", partial(self._invalidate, slug, invalidation), now=now)
            ):
                break
            if self._pending.get(slug) is invalidation:  # the slug was not forgotten again meanwhile
                del self._pending[slug]

    async def _invalidate(self, slug: str | None, invalidation: "_Invalidation") -> bool:
        if slug is not None and invalidation.tombstone is not None:
            await self._store.bury(slug, invalidation.tombstone.to_json())
        await self._store.invalidate(slug, invalidation.at)
        return True

    async def _subscribe(self, on_invalidate: OnInvalidate, on_connected: OnGap, on_gap: OnGap) -> None:
        while True:
            try:
                self._store.prepare()
                return await self._store.subscribe(on_invalidate, on_connected)
            except Exception as error:
                self._failed("watched", error)
                on_connected = on_gap
            await asyncio.sleep(max(0.0, self._backoffs["watched"].until - self._clock()))

    async def _call(
        self, operation: Operation, call: Callable[[], Awaitable[T]], *, now: bool = False
    ) -> T | None:
        if not now and not self._may(operation):
            return None
        try:
            self._store.prepare()
            async with asyncio.timeout(CALL_TIMEOUT):
                result = await call()
        except InvalidFAQ:
            self._succeeded(operation)
            raise
        except Exception as error:
            self._failed(operation, error)
            return None
        self._succeeded(operation)
        return result

    def _may(self, operation: Operation) -> bool:
        now = self._clock()
        return now >= self._backoffs["read"].until and now >= self._backoffs[operation].until

    def _failed(self, operation: Operation, error: Exception) -> None:
        if not self._is_failing():
            reason = masked(f"{type(error).__name__}: {str(error)!r}")[:200]
            logger.warning("the store cannot be %s; FAQs are shown from memory: %s", operation, reason)
        self._backoffs[operation].extend(self._clock())

    def _succeeded(self, operation: Operation) -> None:
        if self._backoffs[operation].failures:
            self._backoffs[operation] = Backoff()
            if not self._is_failing():
                logger.info("the store works again")

    def _is_failing(self) -> bool:
        return any(backoff.failures for name, backoff in self._backoffs.items() if name != "watched")

    def after_fork(self) -> None:
        """Drop the resources of the parent in a forked child."""
        self._watch = None
        self._store.after_fork()


def _weak(method: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls a method while its object lives."""
    reference = WeakMethod(method)

    def call(*arguments: str | None) -> None:
        bound = reference()
        if bound is not None:
            bound(*arguments)

    return call


def _nothing() -> None:
    pass
