"""The quota of a site that is not in the database: generations at once.

With Redis, all processes count together, otherwise each counts alone. If Redis does not respond, each
process counts on its own.
"""

import math
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from anyio import CancelScope

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.runtime.extras import needs_extra
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.telemetry.outages import OutageLog

REDIS_TIMEOUT: Final = 1.0
"""Seconds to connect to Redis, and for each of its responses."""
PREFIX: Final = "faqsvc:service"


class GenerationQuota:
    """The generations of each site at once, counted in this process; None is no limit."""

    def __init__(self, maximum: int | None) -> None:
        self._maximum = maximum
        self._running = Counter[str]()

    @asynccontextmanager
    async def running(self, site: str, lifetime: float) -> AsyncIterator[None]:
        """Count a generation while the block runs, at most `lifetime` seconds; raises Problem (429)."""
        self._running[site] += 1
        try:
            if self._maximum is not None and self._running[site] > self._maximum:
                raise too_many_generations(self._maximum)
            yield
        finally:
            self._running[site] -= 1
            self._running += Counter()  # removes the sites that have none


def too_many_generations(limit: int) -> Problem:
    """Return the problem for a generation beyond the limit."""
    detail = f"More than {limit} generations at once; try again when one of them has ended"
    return Problem(429, "rate-limited", detail, headers={"retry-after": "5"})


class RedisGenerationQuota(GenerationQuota):
    """A quota that all processes with the same Redis share."""

    def __init__(self, url: str, maximum: int | None) -> None:
        """Raise ConfigurationError if the URL is not valid, without the URL, which may have a password."""
        super().__init__(maximum)
        with needs_extra("redis"):
            import redis
        timeouts = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
        try:
            self._redis: Any = redis.Redis.from_url(url, **timeouts)
        except ValueError:
            raise ConfigurationError(
                "redis is not valid (not shown here, as it may contain a password):"
                " expected redis://HOST:PORT/0"
            ) from None
        self._error: type[Exception] = redis.RedisError
        self._outages = OutageLog("Redis, which counts generations for all processes,")

    @asynccontextmanager
    async def running(self, site: str, lifetime: float) -> AsyncIterator[None]:
        """Count a generation while the block runs, at most `lifetime` seconds; raises Problem (429)."""
        async with super().running(site, lifetime):
            name, token = f"{PREFIX}:generations:{site}", uuid.uuid4().hex
            try:
                is_counted = await run_blocking(self._claim, name, token, lifetime)
            except (self._error, StorageUnavailable) as error:
                self._outages.failed(error)
                is_counted = True
            if not is_counted:
                raise too_many_generations(self._maximum or 0)
            try:
                yield
            finally:
                with CancelScope(shield=True), suppress(StorageUnavailable):
                    await run_blocking(self._release, name, token)

    def _claim(self, name: str, token: str, lifetime: float) -> bool:
        """Add a generation to the sorted set of running ones unless it is full; the score is its end."""
        now = time.time()
        with self._redis.pipeline() as commands:
            commands.zremrangebyscore(name, 0, now)  # of processes that were killed
            commands.zadd(name, {token: now + lifetime})
            commands.zrank(name, token)
            commands.expire(name, math.ceil(lifetime))
            _, _, rank, _ = commands.execute()
        if self._maximum is None or rank < self._maximum:
            return True
        self._release(name, token)
        return False

    def _release(self, name: str, token: str) -> None:
        try:
            self._redis.zrem(name, token)
        except self._error:  # it expires by itself
            return
