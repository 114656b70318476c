"""What a running service does by itself: it empties the bin."""

import asyncio
from contextlib import suppress
from typing import Final

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable

FIRST: Final = 60.0
"""Seconds until the first time, so that a start is quick."""
INTERVAL: Final = 3600.0
"""Seconds between two times."""


async def empty_bin(service: ServiceContext) -> None:
    """Delete every hour what has been in the bin for 30 days. Several processes may do it at once."""
    await asyncio.sleep(FIRST)
    while True:
        with suppress(StorageUnavailable):  # the next hour will do
            await run_blocking(service.storage.removal.empty_bin, limiter=service.writers)
        await asyncio.sleep(INTERVAL)
