"""A store as fetching uses it: whatever happens to the store, no call raises, and none takes long."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

from faqsvc_embed.copies import Copy
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.freshness import FIRST_BACK_OFF, LONGEST_BACK_OFF, Key
from faqsvc_embed.stores.store import Store

T = TypeVar("T")

logger = logging.getLogger("faqsvc_embed")

LONGEST: Final = 0.5
"""Seconds that one call may take, whatever else limits it: a store is there to be faster than the service."""


class GuardedStore:
    """Calls a store within limits, and leaves it alone for a while after it failed."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._failures = 0
        self._retry_at = 0.0
        self._refused = set[Key]()
        """The copies that were found damaged, and said so."""
        self.is_shared = store.is_shared
        self.forked = store.forked

    async def load(self, key: Key) -> Copy | None:
        """Return the copy of `key`; None if there is none that can be used."""
        try:
            copy = await self._call(lambda: self._store.load(key), "read")
        except InvalidFAQ as error:
            if key not in self._refused and len(self._refused) < 1000:
                self._refused.add(key)
                logger.warning("FAQ %r: its stored copy is not used: %s", key.slug, error)
            return None
        self._refused.discard(key)
        return copy

    async def save(self, key: Key, copy: Copy) -> None:
        """Keep a copy."""
        await self._call(lambda: self._store.save(key, copy), "written")

    async def drop(self, key: Key) -> None:
        """Remove the copy of `key`."""
        await self._call(lambda: self._store.drop(key), "written")

    async def forget(self, slug: str | None) -> None:
        """Remove the copies of `slug`, or of all, and tell the other processes."""
        await self._call(lambda: self._store.forget(slug), "written")

    @contextlib.asynccontextmanager
    async def lease(self, key: Key, patience: float) -> AsyncIterator[None]:
        """Be the only one to refresh `key`, for as long as this lasts; without a store, be one of many."""
        async with contextlib.AsyncExitStack() as stack:
            if self._clock() >= self._retry_at:
                try:
                    await stack.enter_async_context(self._store.lease(key, patience))
                except Exception as error:
                    self._failed("locked", error)
            yield

    async def watch(self, forget: Callable[[str | None], None], missed: Callable[[], None]) -> None:
        """Pass on what other processes forget, for as long as this runs."""
        again: Callable[[], None] = _nothing
        while True:
            try:
                return await self._store.watch(forget, again)
            except Exception as error:
                self._failed("watched", error)
                again = missed
            await asyncio.sleep(max(0.0, self._retry_at - self._clock()))

    async def aclose(self) -> None:
        """Close what the store holds open."""
        with contextlib.suppress(Exception):
            await self._store.aclose()

    async def _call(self, call: Callable[[], Awaitable[T]], what: str) -> T | None:
        if self._clock() < self._retry_at:
            return None
        try:
            self._store.prepare()
            async with asyncio.timeout(LONGEST):
                result = await call()
        except InvalidFAQ:
            raise
        except Exception as error:
            self._failed(what, error)
            return None
        if self._failures:
            self._failures = 0
            logger.info("the store works again")
        return result

    def _failed(self, what: str, error: Exception) -> None:
        if not self._failures:
            reason = f"{type(error).__name__}: {str(error)[:200]!r}"
            logger.warning("the store cannot be %s; FAQs are shown from memory: %s", what, reason)
        self._retry_at = self._clock() + min(
            FIRST_BACK_OFF * 2.0 ** min(self._failures, 10), LONGEST_BACK_OFF
        )
        self._failures += 1


def _nothing() -> None:
    """Before the first word there is none to miss."""
