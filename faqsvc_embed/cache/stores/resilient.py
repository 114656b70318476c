"""A store as fetching uses it: whatever happens to the store, no call raises, and none takes long."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from faqsvc_embed.cache.entries import FIRST_BACK_OFF, LONGEST_BACK_OFF, Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.cache.stores.base import Store
from faqsvc_embed.errors import InvalidFAQ, masked

T = TypeVar("T")

logger = logging.getLogger("faqsvc_embed")

LONGEST: Final = 0.5
"""Seconds that one call may take, whatever else limits it: a store is there to be faster than the service."""


class Pause:
    """How long one kind of call is left alone after it failed."""

    def __init__(self) -> None:
        self.failures = 0
        self.until = 0.0

    def lengthen(self, now: float) -> None:
        """Begin again, for longer each time."""
        self.until = now + min(FIRST_BACK_OFF * 2.0 ** min(self.failures, 10), LONGEST_BACK_OFF)
        self.failures += 1


class GuardedStore:
    """Calls a store within limits, and leaves it alone for a while after it failed.

    What cannot be written or locked can still be read; what cannot be read is not written either.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._pauses = {what: Pause() for what in ("read", "written", "locked", "watched")}
        self._refused = set[Key]()
        """The copies that were found damaged, and said so."""
        self._unsaid = set[str | None]()
        """What was forgotten while the store could not be told; None is all of it."""
        self.is_shared = store.is_shared
        self.forked = store.forked

    def prepare(self) -> None:
        """Import what is slow to import, ahead of the first call."""
        with contextlib.suppress(Exception):  # the call itself will tell
            self._store.prepare()

    async def load(self, key: Key) -> Copy | None:
        """Return the copy of `key`; None if there is none that can be used."""
        await self._say_the_unsaid()
        if key.slug in self._unsaid or None in self._unsaid:
            return None
        try:
            copy = await self._call("read", lambda: self._store.load(key))
        except InvalidFAQ as error:
            if key not in self._refused and len(self._refused) < 1000:
                self._refused.add(key)
                logger.warning("FAQ %r: its stored copy is not used: %s", key.slug, error)
            return None
        self._refused.discard(key)
        return copy

    async def save(self, key: Key, copy: Copy) -> None:
        """Keep a copy."""
        await self._call("written", lambda: self._store.save(key, copy))

    async def drop(self, key: Key) -> None:
        """Remove the copy of `key`."""
        await self._call("written", lambda: self._store.drop(key))

    async def forget(self, slug: str | None) -> None:
        """Remove the copies of `slug`, or of all, and tell the other processes, as soon as it can be."""
        if len(self._unsaid) < 1000:
            self._unsaid.add(slug)
        else:
            self._unsaid = {None}
        await self._say_the_unsaid(at_once=True)

    async def _say_the_unsaid(self, *, at_once: bool = False) -> None:
        for slug in list(self._unsaid):
            if not await self._call("written", partial(self._forget, slug), at_once=at_once):
                break
            self._unsaid.discard(slug)

    async def _forget(self, slug: str | None) -> bool:
        await self._store.forget(slug)
        return True

    @contextlib.asynccontextmanager
    async def lease(self, key: Key, patience: float) -> AsyncIterator[None]:
        """Be the only one to refresh `key`, for as long as this lasts; without a store, be one of many."""
        async with contextlib.AsyncExitStack() as stack:
            if self._may("locked"):
                try:
                    await stack.enter_async_context(self._store.lease(key, patience))
                except Exception as error:
                    self._failed("locked", error)
                else:
                    self._well("locked")
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
            await asyncio.sleep(max(0.0, self._pauses["watched"].until - self._clock()))

    async def aclose(self) -> None:
        """Close what the store holds open."""
        with contextlib.suppress(Exception):
            await self._store.aclose()

    async def _call(self, what: str, call: Callable[[], Awaitable[T]], *, at_once: bool = False) -> T | None:
        if not at_once and not self._may(what):
            return None
        try:
            self._store.prepare()
            async with asyncio.timeout(LONGEST):
                result = await call()
        except InvalidFAQ:
            self._well(what)
            raise
        except Exception as error:
            self._failed(what, error)
            return None
        self._well(what)
        return result

    def _may(self, what: str) -> bool:
        now = self._clock()
        return now >= self._pauses["read"].until and now >= self._pauses[what].until

    def _well(self, what: str) -> None:
        if self._pauses[what].failures:
            self._pauses[what].failures = 0
            if not self._is_failing():
                logger.info("the store works again")

    def _failed(self, what: str, error: Exception) -> None:
        if not self._is_failing():
            logger.warning("the store cannot be %s; FAQs are shown from memory: %s", what, _reason(error))
        self._pauses[what].lengthen(self._clock())

    def _is_failing(self) -> bool:
        return any(pause.failures for what, pause in self._pauses.items() if what != "watched")


def _reason(error: Exception) -> str:
    """Say what went wrong, but no words of an error that may quote the address, and so a password."""
    if isinstance(error, OSError | ImportError) or type(error).__module__.startswith("redis"):
        return f"{type(error).__name__}: {masked(str(error))[:200]!r}"
    return type(error).__name__


def _nothing() -> None:
    """Before the first word there is none to miss."""
