"""Redis or Valkey: all processes share their records, and invalidations reach them all."""

import asyncio
import contextlib
import json
import re
import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ, is_forgotten, max_document
from faqsvc_embed.cache.stores.base import OnGap, OnInvalidate
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime.background_loop import on_close

if TYPE_CHECKING:
    from redis.asyncio import Redis

SOCKET_TIMEOUT: Final = 0.2
"""Seconds that a connection or a reply may take."""
KEEP_FOR: Final = 30 * 86_400
"""Seconds after which Redis drops a record that no process refreshes."""

_GLOB_CHARACTERS: Final = re.compile(r"[\\*?\[\]^-]")


class RedisStore:
    """Keeps each record under a key of its own; a channel carries invalidations."""

    is_shared = True

    def __init__(self, url: str, base_url: str, max_bytes: int, secret: str | None = None) -> None:
        self._url = url
        self._secret = secret
        self._base_url = base_url
        self._max_document = max_document(max_bytes)
        self._prefix = f"faqsvc:{base_url}"
        self._process = secrets.token_hex(8)
        self._client: tuple[asyncio.AbstractEventLoop, Redis] | None = None
        self._of_parents: list[Any] = []

    def prepare(self) -> None:
        """Make the client of the running loop, which connects with its first call."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

            client = Redis.from_url(
                self._url,
                socket_connect_timeout=SOCKET_TIMEOUT,
                socket_timeout=SOCKET_TIMEOUT,
                retry=Retry(NoBackoff(), 0),
            )
            self._client = loop, client
            on_close(client.aclose)

    async def load(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None if there is none."""
        from redis.exceptions import ResponseError

        try:
            if await self._redis().strlen(self._name(key)) > self._max_document:
                raise InvalidFAQ(f"{self._name(key)!r}: it is larger than max_bytes allows")
            text, *marks = await self._values(self._name(key), self._mark(key.slug), self._mark(None))
        except ResponseError as error:  # the value of this key is not a string
            raise InvalidFAQ(f"{self._name(key)!r}: {error}") from None
        if text is None:
            return None
        stored = StoredFAQ.from_json(text, self._base_url, key, self._secret)
        return None if is_forgotten(stored, marks) else stored

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record; Redis keeps it for at least a month."""
        text = stored.to_json(self._base_url, self._secret)
        await self._redis().set(self._name(key), text, ex=int(stored.fresh_for) + KEEP_FOR)
        if is_forgotten(stored, await self._values(self._mark(key.slug), self._mark(None))):
            await self.delete(key)  # a process has removed the earlier record meanwhile
        else:  # the FAQ may have been published again
            await self._redis().delete(self._tombstone(key.slug))

    async def delete(self, key: Key) -> None:
        """Remove one record."""
        await self._redis().delete(self._name(key))

    async def invalidate(self, slug: str | None, at: datetime) -> None:
        """Remove the records of `slug` in all languages, or all records of this service; publish it."""
        redis = self._redis()
        await redis.set(self._mark(slug), at.isoformat(), ex=2 * KEEP_FOR)
        if slug is not None:
            names = [self._name(Key(slug, lang)) for lang in (None, *LANGUAGES)]
        else:
            pattern = _GLOB_CHARACTERS.sub(r"\\\g<0>", f"{self._prefix}:copy:") + "*"
            names = [name async for name in redis.scan_iter(pattern, count=1000)]
        if names:
            await redis.delete(*names)
        await redis.publish(self._channel, json.dumps({"from": self._process, "slug": slug}))

    async def bury(self, slug: str, tombstone: str) -> None:
        """Store a tombstone for as long as Redis keeps a record."""
        await self._redis().set(self._tombstone(slug), tombstone, ex=2 * KEEP_FOR)

    async def tombstone(self, slug: str) -> bytes | None:
        """Return the tombstone, if there is one."""
        return (await self._values(self._tombstone(slug)))[0]

    async def subscribe(self, on_invalidate: OnInvalidate, on_connected: OnGap) -> None:
        """Pass on what other processes invalidate; ends only by an exception."""
        async with self._redis().pubsub(ignore_subscribe_messages=True) as messages:
            await messages.subscribe(self._channel)
            on_connected()
            while True:
                message = await messages.get_message(timeout=None)
                if message is not None:
                    self._receive(message["data"], on_invalidate)

    def _receive(self, data: bytes, on_invalidate: OnInvalidate) -> None:
        with contextlib.suppress(ValueError, TypeError, KeyError):  # not a message of this package
            message = json.loads(data)
            slug = message["slug"]
            if message["from"] != self._process and (slug is None or isinstance(slug, str)):
                on_invalidate(slug)

    def after_fork(self) -> None:
        """Keep the parent's client alive: collecting it would use the parent's connections."""
        self._of_parents.append(self._client)
        self._client = None
        self._process = secrets.token_hex(8)

    @property
    def _channel(self) -> str:
        return f"{self._prefix}:forgotten"

    def _tombstone(self, slug: str) -> str:
        return f"{self._prefix}:gone:{slug}"

    def _mark(self, slug: str | None) -> str:
        """Return the key of the time when `slug`, or everything, was last forgotten."""
        return f"{self._prefix}:forgotten-at" + ("" if slug is None else f":{slug}")

    def _name(self, key: Key) -> str:
        return f"{self._prefix}:copy:{key.lang or '-'}:{key.slug}"

    async def _values(self, *names: str) -> list[bytes | None]:
        return cast("list[bytes | None]", await self._redis().mget(*names))

    def _redis(self) -> "Redis":
        self.prepare()
        assert self._client is not None  # noqa: S101  # it was made just now
        return self._client[1]
