"""The backend for several machines, on a real Valkey."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import ReadOnlyError

from faqsvc_embed.cache import redis
from faqsvc_embed.cache.redis import RedisBackend
from faqsvc_embed.runtime.background_loop import BackgroundLoop

pytestmark = pytest.mark.system

T = TypeVar("T")
MAX_SIZE = 1000


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop that closes the connections of its backends."""
    loop = BackgroundLoop()
    try:
        return loop.submit(work).result(60)
    finally:
        loop.close()


@pytest.fixture
def prefix() -> str:
    """The start of names that no other test uses, with every character that is special in a pattern."""
    return f"[a-z]*?^\\{uuid4()}:"


def test_values_are_kept_for_their_time_and_removed_by_name_or_prefix(valkey: str, prefix: str) -> None:
    async def use() -> None:
        backend = RedisBackend(valkey, MAX_SIZE)
        names = [f"{prefix}{name}" for name in ("a", "b", "c", "가")]
        for name in (*names, f"other{prefix}"):
            await backend.put(name, name.encode(), 60.0)
        await backend.put(names[0], b"1", float("inf"))
        await backend.put(names[1], b"2", 0.001)
        assert await backend.get(*names[:3], "unknown") == [b"1", b"2", names[2].encode(), None]
        await asyncio.sleep(1.1)  # the smallest lifetime in Redis
        assert await backend.get(*names[:2]) == [b"1", None]
        await backend.delete(names[0], "unknown")
        assert await backend.get(names[0], names[2]) == [None, names[2].encode()]
        await backend.clear(prefix)
        assert await backend.get(*names, f"other{prefix}") == [None] * 4 + [f"other{prefix}".encode()]

    run(use())


def test_of_a_value_that_is_too_large_only_the_beginning_is_read(valkey: str, prefix: str) -> None:
    async def use() -> bytes | None:
        backend = RedisBackend(valkey, MAX_SIZE)
        await backend.put(prefix, b"x" * 10_000_000, 60.0)
        (value,) = await backend.get(prefix)
        return value

    assert run(use()) == b"x" * (MAX_SIZE + 1)


def test_values_are_bytes_although_the_url_asks_for_text(valkey: str, prefix: str) -> None:
    async def use() -> None:
        backend = RedisBackend(f"{valkey}?decode_responses=true", MAX_SIZE)
        await backend.put(prefix, b"\xff", 60.0)
        assert await backend.get(prefix) == [b"\xff"]
        messages = backend.messages(prefix)
        assert await anext(messages) == b""
        await backend.publish(prefix, b"\xff")
        assert await anext(messages) == b"\xff"

    run(use())


async def close_connections(valkey: str, name: str) -> None:
    """Let the server close the connections of a client."""
    async with Redis.from_url(valkey) as client:
        for found in await client.client_list():
            if found["name"] == name:
                await client.client_kill_filter(_id=found["id"])


def test_a_call_succeeds_after_the_server_has_closed_its_connection(valkey: str, prefix: str) -> None:
    async def use() -> None:
        name = str(uuid4())
        backend = RedisBackend(f"{valkey}?client_name={name}", MAX_SIZE)
        await backend.put(prefix, b"1", 60.0)
        await close_connections(valkey, name)
        assert await backend.get(prefix) == [b"1"]

    run(use())


def test_messages_may_have_been_missed_when_the_server_has_closed_the_connection(
    valkey: str, prefix: str
) -> None:
    async def use() -> None:
        name = str(uuid4())
        messages = RedisBackend(f"{valkey}?client_name={name}", MAX_SIZE).messages(prefix)
        assert await anext(messages) == b""
        following = asyncio.ensure_future(anext(messages))
        await close_connections(valkey, name)
        assert await following == b""

    run(use())


def test_after_a_failover_the_next_call_looks_for_the_new_primary(valkey: str, prefix: str) -> None:
    async def use() -> None:
        name = str(uuid4())
        backend = RedisBackend(f"{valkey}?client_name={name}", MAX_SIZE)
        await backend.put(prefix, b"1", 60.0)
        async with Redis.from_url(valkey) as client:
            await client.replicaof("127.0.0.1", "1")
            try:
                with pytest.raises(ReadOnlyError):
                    await backend.put(prefix, b"2", 60.0)
                assert name not in [found["name"] for found in await client.client_list()]
            finally:
                await client.replicaof("NO", "ONE")
        await backend.put(prefix, b"3", 60.0)

    run(use())


def test_a_message_reaches_who_listens(valkey: str, prefix: str) -> None:
    async def use() -> list[bytes]:
        backend = RedisBackend(valkey, MAX_SIZE)
        await backend.publish(prefix, b"old")
        heard = list[bytes]()
        async for message in backend.messages(prefix):
            heard.append(message)
            if message:
                break
            await backend.publish(f"{prefix}other", b"other")
            await backend.publish(prefix, b"new")
        return heard

    assert run(use()) == [b"", b"new"]


def test_a_quiet_connection_is_kept_and_a_dead_one_is_noticed(
    valkey: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis, "SILENCE", 0.5)

    async def use() -> None:
        messages = RedisBackend(valkey, MAX_SIZE).messages(prefix)
        assert await anext(messages) == b""
        following = asyncio.ensure_future(anext(messages))
        await asyncio.wait([following], timeout=1.2)
        async with Redis.from_url(valkey) as client:
            await client.publish(prefix, b"after a while")
            assert await following == b"after a while"
            server: int = (await client.info("server"))["process_id"]
            os.kill(server, signal.SIGSTOP)
            try:
                with pytest.raises(TimeoutError, match="PING"):
                    await anext(messages)
            finally:
                os.kill(server, signal.SIGCONT)

    run(use())
