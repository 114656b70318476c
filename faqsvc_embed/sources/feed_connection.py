"""One connection to the change feed: the slugs that fit into its address, and what it receives."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from typing import Final
from urllib.parse import quote

from faqsvc_embed.api.event_stream import (
    EVENT_STREAM,
    MAX_URL,
    Change,
    EventStreamParser,
    feed_request,
    parse_change,
)
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.responses import JSON_TYPES
from faqsvc_embed.api.transport import Stream
from faqsvc_embed.errors import FAQUnavailable

IDLE_TIMEOUT: Final = 45.0
"""Seconds without a byte after which the connection counts as dead; the service sends one every 15."""
MAX_RESETS: Final = 10
"""Resets in a minute above which a feed counts as broken: each revalidates everything that is followed."""
MAX_RATE: Final = 65_536
"""Bytes per second above which a feed counts as broken, after the first minute."""
NOT_OFFERED: Final = (404, 405, 410, 501)
"""Statuses of a service that has no change feed."""


class FeedNotOffered(Exception):
    """The service has no change feed."""


class FeedConnection:
    """The state of one connection, which is opened again when it breaks or gets new slugs."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._wanted: dict[str, int] = {}
        """The slugs to follow, each with its length in the address."""
        self._size = len(feed_request(base_url, ()).url)
        self._last_id = ""
        self._requested: frozenset[str] = frozenset()
        self.slugs: frozenset[str] = frozenset()
        """The slugs of the open connection."""
        self.has_new: asyncio.Event = asyncio.Event()
        """Set while the connection has to be opened again."""
        self.is_connected: bool = False
        self.failures: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to follow."""
        return not self._wanted

    def has_room(self, slug: str) -> bool:
        """Return whether a slug fits into the address."""
        return self._size + _length(slug) <= MAX_URL

    def add(self, slug: str) -> None:
        """Follow a slug from the next connection on."""
        self._wanted[slug] = _length(slug)
        self._size += self._wanted[slug]
        self.has_new.set()

    def keep(self, slugs: Collection[str]) -> list[str]:
        """Follow only those of `slugs` from the next connection on; return the others."""
        others = sorted(self._wanted.keys() - set(slugs))
        for slug in others:
            self._size -= self._wanted.pop(slug)
        return others

    def request(self) -> Request:
        """Return the request for the changes since the last event."""
        self.has_new.clear()
        self._requested = frozenset(self._wanted)
        return feed_request(self._base_url, self._wanted, self._last_id)

    def opened(self, stream: Stream) -> frozenset[str]:
        """Check that a response is a feed; return the slugs that the previous connection did not have.

        Raises:
            FeedNotOffered: the service has no feed.
            FAQUnavailable: the response is something else.
        """
        _check(stream)
        before, self.slugs = self.slugs, self._requested
        return self.slugs - before

    async def receive(
        self,
        stream: Stream,
        on_change: Callable[[Change], None],
        on_reset: Callable[[Collection[str]], None],
    ) -> None:
        """Pass on the events that arrive, until there are new slugs.

        Raises:
            ValueError: the feed ended, or does not behave like a feed of FAQs.
            TimeoutError: nothing arrived for too long.
        """
        self.is_connected = True
        events = asyncio.ensure_future(self._receive(stream.chunks, on_change, on_reset))
        news = asyncio.ensure_future(self.has_new.wait())
        try:
            await asyncio.wait((events, news), return_when=asyncio.FIRST_COMPLETED)
            if events.done():
                events.result()
        finally:
            self.is_connected = False
            for task in (events, news):
                task.cancel()
            await asyncio.gather(events, news, return_exceptions=True)

    async def _receive(
        self,
        chunks: AsyncIterator[bytes],
        on_change: Callable[[Change], None],
        on_reset: Callable[[Collection[str]], None],
    ) -> None:
        parser, received, started = EventStreamParser(), 0, time.monotonic()
        resets = deque[float](maxlen=MAX_RESETS)
        while True:
            async with asyncio.timeout(IDLE_TIMEOUT):
                chunk = await anext(chunks, b"")
            if not chunk:
                raise ValueError("the service closed it")
            received += len(chunk)
            if received > MAX_RATE * (60 + time.monotonic() - started):
                raise ValueError("it sends too much data for a feed of FAQs")
            for event in parser.feed(chunk):
                self._last_id = event.id or self._last_id
                change = parse_change(event)
                if change is not None and change.slug in self.slugs:
                    on_change(change)
                elif event.type == "reset":  # the service no longer has the events since `Last-Event-ID`
                    now = time.monotonic()
                    if len(resets) == MAX_RESETS and now - resets[0] < 60:
                        raise ValueError("it sends too many resets")
                    resets.append(now)
                    on_reset(self.slugs)


def _length(slug: str) -> int:
    return len(f"&slug={quote(slug, safe='')}")


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
    raise FAQUnavailable(f"the response is not a change feed: {reason}", status=status)
