"""Follows the service's change feed: an edited or unpublished FAQ reaches this process within seconds.

The feed only announces changes. The record, or the 410, always comes from a separate request, so a wrong feed
only causes additional requests.
"""

import asyncio
import contextlib
import random
import time
import weakref
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import Final

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.transport import Stream
from faqsvc_embed.cache.entries import longest_backoff
from faqsvc_embed.cache.source import Followed
from faqsvc_embed.errors import FAQError
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import LogOnce, logger
from faqsvc_embed.sources.feed_connection import FeedConnection, FeedNotOffered

MAX_CONNECTIONS: Final = 24
"""Maximum number of connections. Each has as many slugs as fit into its URL: 147 to 620 in most languages."""
RECONNECT_INTERVAL: Final = 1.0
"""Minimum seconds between two connections for the same slugs."""
SETTLE: Final = 0.2
"""Seconds to collect new slugs before a connection is opened again to follow them."""
REVALIDATIONS: Final = 50
"""Revalidations per second, if all FAQs are revalidated at once."""
REVALIDATE_INTERVAL: Final = 0.5
"""Seconds after the revalidation of a slug in which further changes are collected into one revalidation."""
RETRIES: Final = (0.3, 1.0, 3.0, 10.0, 30.0)
"""Seconds before each retry if the service, or a cache in front of it, still sends the old record."""


_random: Final = random.SystemRandom()  # the host may seed the generator of the module


class ChangeFeed:
    """Follows all cached slugs on several connections, in tasks of the background loop."""

    def __init__(
        self,
        base_url: str,
        open_stream: Callable[[Request], AbstractAsyncContextManager[Stream]],
        cached_slugs: Callable[[], list[str]],
        followed: Followed,
    ) -> None:
        """`open_stream` opens a connection, and `cached_slugs` returns the slugs to follow."""
        self._base_url = base_url
        self._open_stream = open_stream
        self._cached_slugs = cached_slugs
        self._followed = weakref.ref(followed)  # so that the feed does not keep an unused embed alive
        self._loop: asyncio.AbstractEventLoop | None = None
        self._log = LogOnce()
        self._reset()
        fork.register(self)

    def _reset(self) -> None:
        self._is_offered = True
        self._connections: list[FeedConnection] = []
        self._by_slug: dict[str, FeedConnection] = {}
        self._tasks = set[asyncio.Task[None]]()
        self._refreshes: dict[str, asyncio.Task[None]] = {}
        self._changes: dict[str, Change] = {}
        self._changed_again: dict[str, asyncio.Event] = {}
        """For each slug that is being revalidated: an event that is set when it changes again."""
        self._in_vain: dict[str, int] = {}
        self._announced: dict[str, float] = {}

    @property
    def lag(self) -> float | None:
        """Seconds since the oldest announced change that is not fetched yet; 0 if there is none.

        None while changes of some followed slugs do not arrive.
        """
        connections = self._connections if self._loop is not None else []
        if not connections or not all(connection.is_connected for connection in connections):
            return None
        announced = list(self._announced.values())
        return time.monotonic() - min(announced) if announced else 0.0

    def follow(self, slug: str, *, may_be_old: bool = False) -> None:
        """Follow the changes of a slug, from a coroutine of the background loop.

        If its record `may_be_old`, it is revalidated, even if the slug is followed already.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._reset()
            self._loop = loop
        if not self._is_offered:
            return
        connection = self._by_slug.get(slug)
        if connection is None:
            self._add(slug)
        elif may_be_old and slug in connection.slugs:
            self._changed(Change(slug, state=None))

    def after_fork(self) -> None:
        """Forget the connections in a forked child, because they belong to the parent."""
        self._loop = None
        self._announced.clear()

    def _add(self, slug: str) -> None:
        """Give a new slug to a connection with room for it."""
        found = next((connection for connection in self._connections if connection.has_room(slug)), None)
        if found is None:
            if len(self._connections) == MAX_CONNECTIONS:
                self._log.warning(
                    "full", "the change feed has no room for %r and others: they expire as usual", slug
                )
                return
            found = FeedConnection(self._base_url)
            self._connections.append(found)
            task = asyncio.get_running_loop().create_task(self._run(found))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        found.add(slug)
        self._by_slug[slug] = found

    async def _run(self, connection: FeedConnection) -> None:
        """Keep a connection until none of its slugs is cached any more."""
        while self._is_offered and self._followed() is not None:
            started = time.monotonic()
            try:
                await connection.has_new.wait()
                await asyncio.sleep(SETTLE)
                if not self._prune(connection):
                    return
                await self._connect(connection)
                connection.failures = 0
            except FeedNotOffered as error:
                logger.debug("pages show changes only when records expire: %s", error)
                self._is_offered = False
            except (FAQError, TimeoutError, ValueError) as error:
                if not any(other.failures for other in self._connections):
                    logger.info("the change feed is interrupted; records expire as usual: %s", error)
                connection.failures += 1
                connection.has_new.set()
                backoff = longest_backoff(connection.failures) * _random.uniform(0.5, 1.0)
                await asyncio.sleep(max(RECONNECT_INTERVAL, backoff))
            else:
                await asyncio.sleep(max(0.0, started + RECONNECT_INTERVAL - time.monotonic()))

    def _prune(self, connection: FeedConnection) -> bool:
        """Stop following slugs that are no longer cached; return False if the connection has no others."""
        for slug in connection.keep(self._cached_slugs()):
            del self._by_slug[slug]
        if not connection.is_empty:
            return True
        self._connections.remove(connection)
        return False

    async def _connect(self, connection: FeedConnection) -> None:
        async with self._open_stream(connection.request()) as response:
            self._revalidate_all(connection.opened(response))  # they may have changed before the connection
            await connection.receive(response, self._changed, self._revalidate_all)

    def _revalidate_all(self, slugs: Collection[str]) -> None:
        """Revalidate slugs, spread over a time that is long enough for all connections."""
        spread = min(len(slugs) * len(self._connections), len(self._by_slug)) / REVALIDATIONS
        for slug in slugs:
            self._changed(Change(slug, state=None), spread)

    def _changed(self, change: Change, spread: float = 0.0) -> None:
        """Revalidate a slug; changes during a revalidation lead to only one more."""
        if change.slug not in self._changes or change.state is not None:  # events arrive in order
            self._changes[change.slug] = change
        if change.slug in self._changed_again:
            self._changed_again[change.slug].set()
        if change.state is not None:
            self._announced.setdefault(change.slug, time.monotonic())
        if change.slug not in self._refreshes:
            task = asyncio.get_running_loop().create_task(self._refresh(change.slug, spread))
            self._refreshes[change.slug] = task

    async def _refresh(self, slug: str, spread: float) -> None:
        try:
            await asyncio.sleep(spread * _random.random())
            await self._refresh_until_current(slug)
        finally:
            self._refreshes.pop(slug, None)
            self._changed_again.pop(slug, None)

    async def _refresh_until_current(self, slug: str) -> None:
        while (change := self._changes.pop(slug, None)) is not None:
            changed_again = self._changed_again[slug] = asyncio.Event()
            in_vain = self._in_vain.get(slug, 0)
            if in_vain:
                await asyncio.sleep(longest_backoff(in_vain))
            is_current = await self._revalidate(change)
            for delay in RETRIES if change.state is not None else ():
                if is_current or slug in self._changes:
                    break
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed_again.wait(), delay)
                    break
                is_current = await self._revalidate(change)
            if is_current or change.state is None:
                self._in_vain.pop(slug, None)
            else:
                self._in_vain[slug] = in_vain + 1
                if slug not in self._changes and (followed := self._followed()) is not None:
                    followed.expire(slug)  # the feed does not announce the change again
            if slug not in self._changes:
                self._announced.pop(slug, None)
            await asyncio.sleep(REVALIDATE_INTERVAL)

    async def _revalidate(self, change: Change) -> bool:
        followed = self._followed()
        return followed is None or await followed.revalidate(change)
