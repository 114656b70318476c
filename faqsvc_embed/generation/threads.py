"""Worker threads for parsing what websites send, so that it never blocks the event loop."""

from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

MAX_THREADS: Final = 2
"""Threads that parse for one event loop; they share the interpreter with it."""

T = TypeVar("T")

_limiter = RunVar[anyio.CapacityLimiter]("faqsvc_embed.generation.threads")


async def run_in_thread(function: Callable[[], T]) -> T:
    """Call a function in a worker thread. If the caller is cancelled, its result is dropped."""
    return await anyio.to_thread.run_sync(function, abandon_on_cancel=True, limiter=parsing_limiter())


def parsing_limiter() -> anyio.CapacityLimiter:
    """Return the running event loop's limit on pages that are parsed at a time, in threads and processes."""
    limiter = _limiter.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MAX_THREADS)
        _limiter.set(limiter)
    return limiter
