"""Follows the service's change feed: an edited or unpublished FAQ reaches this process within seconds.

The feed only announces changes. The record, or the 410, always comes from a separate request, so a wrong feed
only causes additional requests.
"""

import asyncio
import contextlib
import random
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from typing import Final

from faqsvc_embed.api.event_stream import (
    EVENT_STREAM,
    Change,
    EventStreamParser,
    feed_request,
    fitting,
    parse_change,
)
from faqsvc_embed.api.responses import JSON_TYPES
from faqsvc_embed.api.transport import Stream
from faqsvc_embed.cache.entries import longest_backoff
from faqsvc_embed.cache.source import Followed
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import logger

IDLE_TIMEOUT: Final = 45.0
"""Seconds without a byte after which the connection counts as dead; the service sends one every 15."""
SETTLE: Final = 0.2
"""Seconds to wait for further new slugs before the feed reconnects to follow them."""
RECONNECT_INTERVAL: Final = 1.0
"""Minimum seconds between two connections."""
REVALIDATIONS: Final = 50
"""Revalidations per second, if all FAQs are revalidated at once."""
REVALIDATE_INTERVAL: Final = 0.5
"""Seconds after the revalidation of a slug in which further changes are collected into one."""
MAX_RESETS: Final = 10
"""Resets in a minute above which a feed counts as broken: each revalidates everything that is cached."""
NOT_OFFERED: Final = (404, 405, 410, 501)
"""Statuses of a service that has no change feed."""
RETRIES: Final = (0.3, 1.0, 3.0, 10.0, 30.0)
"""Seconds before the next attempts if the service, or a cache in front of it, still sends the old record."""
MAX_RATE: Final = 65_536
"""Bytes per second above which a feed counts as broken, after the first minute."""


_random: Final = random.SystemRandom()  # the host may seed the generator of the module


class FeedNotOffered(Exception):
    """The service has no change feed."""


class ChangeFeed:
    """One connection for all cached slugs, in a task of the background loop."""

    def __init__(self, base_url: str, cached_slugs: Callable[[], list[str]], followed: Followed) -> None:
        """`cached_slugs` returns the slugs to follow, the most important first."""
        self._base_url = base_url
        self._cached_slugs = cached_slugs
        self._followed = weakref.ref(followed)  # so that the feed does not keep an unused embed alive
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None
        self._reset()
        fork.register(self)

    def _reset(self) -> None:
        self._is_offered = True
        self._slugs = frozenset[str]()
        self._known = frozenset[str]()
        """The slugs at the last connection, including those that did not fit into the URL."""
        self._last_id = ""
        self._has_new = asyncio.Event()
        self._refreshes: dict[str, asyncio.Task[None]] = {}
        self._changes: dict[str, Change] = {}
        self._changed_again: dict[str, asyncio.Event] = {}
        """For each slug that is being revalidated: an event that is set when it changes again."""
        self._in_vain: dict[str, int] = {}
        self._announced: dict[str, float] = {}
        self.is_connected = False

    @property
    def lag(self) -> float:
        """Seconds since the oldest announced change that is not fetched yet; 0 if there is none."""
        announced = list(self._announced.values())
        return time.monotonic() - min(announced) if announced else 0.0

    def follow(self, slug: str, *, may_be_old: bool = False) -> None:
        """Follow the changes of a slug, from a coroutine of the background loop.

        If its record `may_be_old`, it is revalidated, even if the slug is followed already.
        """
        loop = asyncio.get_running_loop()
        if self._task is None or self._task[0] is not loop:
            self._reset()
            self._task = loop, loop.create_task(self._run())
        if slug not in self._known:
            self._has_new.set()
        elif may_be_old and slug in self._slugs:
            self._changed(Change(slug, state=None))

    def after_fork(self) -> None:
        """Forget the connection in a forked child, because it belongs to the parent."""
        self._task, self.is_connected = None, False
        self._announced.clear()

    async def _run(self) -> None:
        failures = 0
        while self._is_offered and self._followed() is not None:
            started = time.monotonic()
            try:
                await self._has_new.wait()
                await asyncio.sleep(SETTLE)
                self._has_new.clear()
                await self._connect()
                failures = 0
            except FeedNotOffered as error:
                logger.debug("pages show changes only when records expire: %s", error)
                self._is_offered = False
            except (FAQError, TimeoutError, ValueError) as error:
                if failures == 0:
                    logger.info("the change feed is interrupted; records expire as usual: %s", error)
                failures += 1
                self._has_new.set()
                backoff = longest_backoff(failures) * _random.uniform(0.5, 1.0)
                await asyncio.sleep(max(RECONNECT_INTERVAL, backoff))
            else:
                await asyncio.sleep(max(0.0, started + RECONNECT_INTERVAL - time.monotonic()))

    async def _connect(self) -> None:
        """Follow the feed until there are new slugs, or it ends."""
        followed = self._followed()
        if followed is None:
            return
        cached = self._cached_slugs()
        slugs = fitting(self._base_url, cached)
        connection = followed.open_feed(feed_request(self._base_url, slugs, self._last_id))
        del followed
        async with connection as stream:
            _check(stream)
            new, self._slugs, self._known = set(slugs) - self._slugs, frozenset(slugs), frozenset(cached)
            self._revalidate_all(new)  # they may have changed before this connection
            self.is_connected = True
            events = asyncio.ensure_future(self._receive(stream.chunks))
            news = asyncio.ensure_future(self._has_new.wait())
            try:
                await asyncio.wait((events, news), return_when=asyncio.FIRST_COMPLETED)
                if events.done():
                    events.result()
            finally:
                self.is_connected = False
                for task in (events, news):
                    task.cancel()
                await asyncio.gather(events, news, return_exceptions=True)

    async def _receive(self, chunks: AsyncIterator[bytes]) -> None:
        parser, received, started = EventStreamParser(), 0, time.monotonic()
        resets = deque[float](maxlen=MAX_RESETS)
        while True:
            async with asyncio.timeout(IDLE_TIMEOUT):
                chunk = await anext(chunks, b"")
            if not chunk:
                raise ValueError("it was closed by the service")
            received += len(chunk)
            if received > MAX_RATE * (60 + time.monotonic() - started):
                raise ValueError("it sends too much data for a feed of FAQs")
            for event in parser.feed(chunk):
                self._last_id = event.id or self._last_id
                change = parse_change(event)
                if change is not None and change.slug in self._slugs:
                    self._changed(change)
                elif event.type == "reset":  # the service no longer has the events since `Last-Event-ID`
                    now = time.monotonic()
                    if len(resets) == MAX_RESETS and now - resets[0] < 60:
                        raise ValueError("it sends too many resets")
                    resets.append(now)
                    self._revalidate_all(self._slugs)

    def _revalidate_all(self, slugs: Collection[str]) -> None:
        for slug in slugs:
            self._changed(Change(slug, state=None), spread=len(slugs) / REVALIDATIONS)

    def _changed(self, change: Change, spread: float = 0.0) -> None:
        """Revalidate a slug, once for all changes that arrive during the revalidation."""
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


def _check(stream: Stream) -> None:
    """Raise the reason why a response is not a feed.

    Only an error in JSON means that there is no feed. During a deployment, a proxy may return any error in
    HTML.
    """
    status, media_type = (
        stream.status,
        stream.headers.get("content-type", "").partition(";")[0].strip().lower(),
    )
    if status == 200 and media_type == EVENT_STREAM:
        return
    reason = f"it returned {status}, {media_type[:100]!r}"
    if status in NOT_OFFERED and media_type in JSON_TYPES:
        raise FeedNotOffered(f"the service has no change feed: {reason}")
    raise FAQUnavailable(f"this is no change feed: {reason}", status=status)
