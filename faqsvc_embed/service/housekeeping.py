"""The regular tasks of a running service: emptying the bin, and recording when keys were used last."""

import asyncio
from contextlib import suppress
from typing import Final

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable

FIRST: Final = 60.0
"""Seconds until the first run, so that the start is quick."""
INTERVAL: Final = 3600.0
"""Seconds between two runs."""
USES_INTERVAL: Final = 30.0
"""Seconds between two records of the uses of keys."""


async def empty_bin(service: ServiceContext) -> None:
    """Delete FAQs every hour that have been in the bin for 30 days. Several processes may do so at once."""
    await asyncio.sleep(FIRST)
    while True:
        with suppress(StorageUnavailable):  # the next run tries again
            await run_blocking(service.storage.removal.empty_bin, limiter=service.writers)
        await asyncio.sleep(INTERVAL)


async def record_key_uses(service: ServiceContext) -> None:
    """Record the last use of each key behind the requests, which never wait for it."""
    while True:
        await asyncio.sleep(USES_INTERVAL)
        with suppress(StorageUnavailable):  # the next run tries again
            await run_blocking(service.storage.keys.record_uses, limiter=service.writers)
