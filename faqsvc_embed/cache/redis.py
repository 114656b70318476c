"""Redis or Valkey, for the processes of several machines."""

import math
import re
from collections.abc import AsyncIterator
from typing import Final

from faqsvc_embed.runtime.background_loop import on_close
from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("redis"):
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as BrokenConnection
    from redis.exceptions import ReadOnlyError

SOCKET_TIMEOUT: Final = 0.2
"""Seconds that a connection or a response may take."""
SILENCE: Final = 30.0
"""Seconds without a message after which a connection is checked: a firewall may have dropped it silently."""

_GLOB_CHARACTERS: Final = re.compile(r"[\\*?\[\]^-]")


class RedisBackend:
    """Keeps each value under a key of its own. The client belongs to the running loop."""

    def __init__(self, url: str, max_size: int) -> None:
        self._max_size = max_size
        self._client = Redis.from_url(
            url,
            socket_connect_timeout=SOCKET_TIMEOUT,
            socket_timeout=SOCKET_TIMEOUT,
            # A call is repeated once, on a new connection: the server may have closed an idle one, and after
            # a failover, a new one reaches the new primary.
            retry=Retry(NoBackoff(), 1, (BrokenConnection,)),
            retry_on_error=[ReadOnlyError],
        )
        # Values are bytes, even if the URL, copied from another program, asks for text.
        self._client.connection_pool.connection_kwargs["decode_responses"] = False
        on_close(self._client.aclose)

    async def get(self, *names: str) -> list[bytes | None]:
        """Return the values at one moment; of a value that is too large, only its beginning."""
        async with self._client.pipeline(transaction=True) as pipeline:
            for name in names:
                pipeline.getrange(name, 0, self._max_size)
            return [value or None for value in await pipeline.execute()]

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        await self._client.set(name, value, ex=None if math.isinf(seconds) else max(1, math.ceil(seconds)))

    async def delete(self, *names: str) -> None:
        await self._client.delete(*names)

    async def clear(self, prefix: str) -> None:
        pattern = _GLOB_CHARACTERS.sub(r"\\\g<0>", prefix) + "*"
        names = [name async for name in self._client.scan_iter(pattern, count=1000)]
        if names:
            await self._client.delete(*names)

    async def publish(self, channel: str, message: bytes) -> None:
        await self._client.publish(channel, message)

    async def messages(self, channel: str) -> AsyncIterator[bytes]:
        async with self._client.pubsub() as subscription:
            await subscription.subscribe(channel)
            is_pinged = False
            while True:
                message = await subscription.get_message(timeout=SILENCE)
                if message is not None:
                    is_pinged = False
                    if message["type"] == "subscribe":  # also when the client has connected again
                        yield b""
                    elif message["type"] == "message":
                        yield message["data"]
                elif is_pinged:
                    raise TimeoutError("the connection is dead: PING got no response")
                else:
                    is_pinged = True
                    await subscription.ping()
