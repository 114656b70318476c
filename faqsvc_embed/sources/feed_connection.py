"""What arrives on a connection to the change feed."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from faqsvc_embed.api.event_stream import EVENT_STREAM, EventStreamParser, ServerSentEvent
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


def check(stream: Stream) -> None:
    """Check that a response is a feed.

    Only an error in JSON means that there is no feed. During a deployment, a proxy may return any error in
    HTML.

    Raises:
        FeedNotOffered: the service has no feed.
        FAQUnavailable: the response is something else.
    """
    media_type = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
    if stream.status == 200 and media_type == EVENT_STREAM:
        return
    reason = f"it returned {stream.status}, {media_type[:100]!r}"
    if stream.status in NOT_OFFERED and media_type in JSON_TYPES:
        raise FeedNotOffered(f"the service has no change feed: {reason}")
    raise FAQUnavailable(f"the response is not a change feed: {reason}", status=stream.status)


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a feed, which has no end.

    Raises:
        ValueError: the feed ended, or does not behave like a feed of FAQs.
        TimeoutError: nothing arrived for too long.
    """
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
            if event.type == "reset":
                now = time.monotonic()
                if len(resets) == MAX_RESETS and now - resets[0] < 60:
                    raise ValueError("it sends too many resets")
                resets.append(now)
            yield event
