"""Quotas of a site that are not in the database: writes per minute, and generations at once.

With Redis, all processes count together, otherwise each counts alone. If Redis does not respond, each
process counts on its own, because an outage of Redis must not prevent writes.
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
from faqsvc_embed.service.http.rate_limit import RateLimiter
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.telemetry.outages import OutageLog

REDIS_TIMEOUT: Final = 1.0
"""Seconds to connect to Redis, and for each of its responses."""
PREFIX: Final = "faqsvc:service"


class SiteQuotas:
    """The quotas of all sites, counted in this process; None is no limit."""

    def __init__(self, writes_per_minute: int | None, max_generations: int | None) -> None:
        self._writes = RateLimiter(writes_per_minute)
        self._max_generations = max_generations
        self._generations = Counter[str]()

    async def count_write(self, site: str) -> None:
        """Count a write. Raises Problem (429, with Retry-After) if there are too many."""
        self._writes.enforce(site)

    @asynccontextmanager
    async def generation(self, site: str, lifetime: float) -> AsyncIterator[None]:
        """Count a generation while the block runs, at most `lifetime` seconds; raises Problem (429)."""
        self._generations[site] += 1
        try:
            if self._max_generations is not None and self._generations[site] > self._max_generations:
                raise too_many_generations(self._max_generations)
            yield
        finally:
            self._generations[site] -= 1
            self._generations += Counter()  # removes the sites that have none


def too_many_generations(limit: int) -> Problem:
    """Return the problem for a generation beyond the limit."""
    detail = f"More than {limit} generations at once; try again when one of them has ended"
    return Problem(429, "rate-limited", detail, headers={"retry-after": "5"})


class RedisQuotas(SiteQuotas):
    """Quotas that all processes with the same Redis share."""

    def __init__(self, url: str, writes_per_minute: int | None, max_generations: int | None) -> None:
        """Raise ConfigurationError if the URL is not valid, without the URL, which may have a password."""
        super().__init__(writes_per_minute, max_generations)
        with needs_extra("redis"):
            import redis  # `limits` uses the same client
        from limits import RateLimitItemPerMinute
        from limits.storage import RedisStorage
        from limits.strategies import MovingWindowRateLimiter

        timeouts = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
        try:
            self._redis: Any = redis.Redis.from_url(url, **timeouts)
            storage = RedisStorage(url, connection_pool=self._redis.connection_pool, key_prefix=PREFIX)
        except ValueError:
            raise ConfigurationError(
                "redis is not valid (not shown here, as it may contain a password):"
                " expected redis://HOST:PORT/0"
            ) from None
        self._strategy = MovingWindowRateLimiter(storage)
        self._item = None if writes_per_minute is None else RateLimitItemPerMinute(writes_per_minute)
        self._error: type[Exception] = redis.RedisError
        self._outages = OutageLog("Redis, which counts for all processes,")

    async def count_write(self, site: str) -> None:
        """Count a write. Raises Problem (429, with Retry-After) if there are too many."""
        if self._item is None:
            return
        try:
            is_allowed = await run_blocking(self._strategy.hit, self._item, "writes", site)
            self._outages.succeeded()
            if is_allowed:
                return
            stats = await run_blocking(self._strategy.get_window_stats, self._item, "writes", site)
        except (self._error, StorageUnavailable) as error:
            self._outages.failed(error)
            await super().count_write(site)
            return
        raise self._writes.problem(stats.reset_time - time.time())

    @asynccontextmanager
    async def generation(self, site: str, lifetime: float) -> AsyncIterator[None]:
        """Count a generation while the block runs, at most `lifetime` seconds; raises Problem (429)."""
        async with super().generation(site, lifetime):
            name, token = f"{PREFIX}:generations:{site}", uuid.uuid4().hex
            try:
                is_counted = await run_blocking(self._claim, name, token, lifetime)
            except (self._error, StorageUnavailable) as error:
                self._outages.failed(error)
                is_counted = True
            if not is_counted:
                raise too_many_generations(self._max_generations or 0)
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
        if self._max_generations is None or rank < self._max_generations:
            return True
        self._release(name, token)
        return False

    def _release(self, name: str, token: str) -> None:
        try:
            self._redis.zrem(name, token)
        except self._error:  # it expires by itself
            return
