"""Asks the storage, which blocks, in a thread; who finds all threads waiting for it is told soon."""

from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from faqsvc_embed.service.database import StorageUnavailable

PATIENCE: Final = 5.0
"""Seconds to wait for a thread, as long as one of them waits for the database."""

T = TypeVar("T")


async def ask(question: Callable[[], T], limiter: anyio.CapacityLimiter | None = None) -> T:
    """Return what `question` does, called in one of the threads of `limiter`, or of those for everything.

    Raises:
        StorageUnavailable: no thread was free in time. What has begun is waited for.
    """
    with anyio.move_on_after(PATIENCE):
        return await anyio.to_thread.run_sync(question, limiter=limiter)
    raise StorageUnavailable(f"no thread was free in {PATIENCE:g} s: all wait for the database")
