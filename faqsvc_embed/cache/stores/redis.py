"""A Redis or Valkey: for a fleet, so that one process refreshes an FAQ for all, and all forget together."""

import contextlib
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final, cast

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime.steps import SHORT, in_short_steps

if TYPE_CHECKING:
    from redis.asyncio import Redis

SLOWEST: Final = 0.2
"""Seconds that a connection or an answer may take."""
POLL: Final = 0.02
"""Seconds between two looks at a lease that another process holds."""
LEEWAY: Final = 0.5
"""Seconds by which those who wait for a lease outlast it."""
KEPT_FOR: Final = 30 * 86_400
"""Seconds after which a copy that nobody refreshes leaves the store."""

_SPECIAL = re.compile(r"[\\*?\[\]^-]")


class RedisStore:
    """Keeps each copy under a key of its own; a channel carries what was forgotten."""

    is_shared = True

    def __init__(self, url: str, base_url: str) -> None:
        self._url = url
        self._base_url = base_url
        self._prefix = f"faqsvc:{base_url}"
        self._channel = f"{self._prefix}:forgotten"
        self._name_here = secrets.token_hex(8)
        self._client: Redis | None = None
        self._parents_clients: list[Any] = []

    def prepare(self) -> None:
        """Make the client, which connects with its first call; importing it takes a quarter of a second."""
        if self._client is None:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

            self._client = Redis.from_url(
                self._url, socket_connect_timeout=SLOWEST, socket_timeout=SLOWEST, retry=Retry(NoBackoff(), 0)
            )

    async def load(self, key: Key) -> Copy | None:
        """Read a copy; None if there is none."""
        from redis.exceptions import ResponseError

        try:
            text = cast("bytes | None", await self._redis().get(self._name(key)))
        except ResponseError as error:  # of this key: what stands there is no text
            raise InvalidFAQ(f"{self._name(key)!r}: {error}") from None
        if text is None:
            return None
        return await in_short_steps(Copy.from_json_steps(text, self._base_url, *key), pause=SHORT)

    async def save(self, key: Key, copy: Copy) -> None:
        """Write a copy, for a month at least."""
        text = await in_short_steps(copy.to_json_steps(self._base_url), pause=SHORT)
        await self._redis().set(self._name(key), text, ex=int(copy.fresh_for) + KEPT_FOR)

    async def drop(self, key: Key) -> None:
        """Remove one copy."""
        await self._redis().delete(self._name(key))

    async def forget(self, slug: str | None) -> None:
        """Remove the copies of `slug` in all languages, or of all FAQs of the service; tell everybody."""
        redis = self._redis()
        if slug is not None:
            names = [self._name(Key(slug, lang)) for lang in (None, *LANGUAGES)]
        else:
            pattern = _SPECIAL.sub(r"\\\g<0>", f"{self._prefix}:copy:") + "*"
            names = [name async for name in redis.scan_iter(pattern, count=1000)]
        if names:
            await redis.delete(*names)
        await redis.publish(self._channel, json.dumps({"from": self._name_here, "slug": slug}))

    @contextlib.asynccontextmanager
    async def lease(self, key: Key, patience: float) -> AsyncIterator[None]:
        """Be the only one of the fleet to refresh `key`; who died holds it for `patience` at most."""
        from redis.exceptions import RedisError

        # It runs out before the patience of those who wait does: one of them takes it, not all.
        lasting = max(patience - LEEWAY, LEEWAY)
        lock = self._redis().lock(f"{self._name(key)}:lease", timeout=lasting, sleep=POLL)
        is_held = await lock.acquire(blocking_timeout=patience)
        try:
            yield
        finally:
            if is_held:
                with contextlib.suppress(RedisError, OSError):  # it runs out by itself
                    await lock.release()

    async def watch(self, forget: Callable[[str | None], None], missed: Callable[[], None]) -> None:
        """Pass on what other processes forget, not what this one does; ends only by an exception."""
        async with self._redis().pubsub(ignore_subscribe_messages=True) as messages:
            await messages.subscribe(self._channel)
            missed()
            while True:
                message = await messages.get_message(timeout=None)
                if message is not None:
                    self._hear(message["data"], forget)

    def _hear(self, data: bytes, forget: Callable[[str | None], None]) -> None:
        with contextlib.suppress(ValueError, TypeError, KeyError):  # a word of somebody else's
            said = json.loads(data)
            slug = said["slug"]
            if said["from"] != self._name_here and (slug is None or isinstance(slug, str)):
                forget(slug)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def forked(self) -> None:
        """In a forked child: keep the parent's connections, for collecting them would speak on them."""
        self._parents_clients.append(self._client)
        self._client = None
        self._name_here = secrets.token_hex(8)

    def _name(self, key: Key) -> str:
        return f"{self._prefix}:copy:{key.lang or '-'}:{key.slug}"

    def _redis(self) -> "Redis":
        self.prepare()
        assert self._client is not None  # noqa: S101  # it was made just now
        return self._client
