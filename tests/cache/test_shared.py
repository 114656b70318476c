"""Whatever a backend does, no call of a store raises or takes long, and one line in the log says so."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl
from faqsvc_embed.cache import backend as backends
from faqsvc_embed.cache.entry import Key, StoredFAQ
from faqsvc_embed.cache.memory import Mark
from faqsvc_embed.cache.shared import MAX_PENDING, SharedStore
from faqsvc_embed.settings import Settings
from tests.support import samples, strategies
from tests.support.clock import EPOCH, Clock
from tests.support.embeds import SLACK, warnings_of

KEY = Key("pricing", None)
STORED = StoredFAQ(
    FAQ.from_dict(samples.record("pricing", ("How?", "So.\n— “ünïcode”"), lang="ko", title="값")),
    EPOCH,
    60.0,
    Validators('"v1"', "Sat, 21 Nov 2026 08:00:00 GMT"),
    CacheControl(7200.0),
)
Use = Callable[[Coroutine[Any, Any, Any]], Any]


class FaultyBackend:
    """Values in memory, until a test says otherwise."""

    def __init__(self) -> None:
        self.values = dict[str, bytes]()
        self.error: Exception | None = None
        self.delay = 0.0
        self.calls = list[str]()
        self.sent = asyncio.Queue[bytes | Exception]()

    async def _called(self, operation: str) -> None:
        self.calls.append(operation)
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error

    async def get(self, *names: str) -> list[bytes | None]:
        await self._called("get")
        return [self.values.get(name) for name in names]

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        await self._called("put")
        self.values[name] = value

    async def delete(self, *names: str) -> None:
        await self._called("delete")
        for name in names:
            self.values.pop(name, None)

    async def clear(self, prefix: str) -> None:
        await self._called("clear")
        self.values = {name: value for name, value in self.values.items() if not name.startswith(prefix)}

    async def publish(self, channel: str, message: bytes) -> None:
        await self._called("publish")
        self.sent.put_nowait(message)

    async def messages(self, channel: str) -> AsyncIterator[bytes]:
        yield b""
        while True:
            message = await self.sent.get()
            if isinstance(message, Exception):
                raise message
            yield message


@pytest.fixture
def backend() -> FaultyBackend:
    return FaultyBackend()


def open_store(backend: FaultyBackend, clock: Clock, **settings: Any) -> SharedStore:
    settings = {"base_url": "https://faq.example.com", **settings}
    return SharedStore(Settings(**settings), lambda: backend, serves_machines=True, clock=clock.now)


@pytest.fixture
def store(backend: FaultyBackend, clock: Clock) -> SharedStore:
    return open_store(backend, clock)


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine, and what it has started."""

    async def settled(work: Coroutine[Any, Any, Any]) -> Any:
        result = await work
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            await task
        return result

    return lambda work: asyncio.run(settled(work))


# Values


@given(
    strategies.records.map(FAQ.from_dict), st.none() | st.sampled_from(["en", "ko"]), st.integers(0, 10**9)
)
def test_any_record_is_read_as_it_was_written(faq: FAQ, lang: str | None, seconds: int) -> None:
    async def use() -> None:
        store, key = open_store(FaultyBackend(), Clock()), Key(faq.slug, lang)
        stored = StoredFAQ(faq, EPOCH + timedelta(seconds=seconds), 60.0, STORED.validators)
        await store.save(key, stored)
        found = await store.load(key)
        assert found is not None
        assert (found.faq, found.updated_at) == (FAQ.from_json(faq.to_json()), stored.updated_at)
        assert (found.fresh_for, found.validators) == (60.0, STORED.validators)

    asyncio.run(use())


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: b"",
        lambda value: value[:1],
        lambda value: value[:-3],
        lambda value: value + b" ",
        lambda value: value.replace(b"So.", b"No."),
        lambda value: value.replace(b",60.0,", b",6e9,"),
        lambda value: b"[" * 100_000,
        lambda value: b"\xff\xfe",
        lambda value: value + b" " * 5_000_000,
    ],
)
def test_a_damaged_record_is_ignored_once_in_the_log_and_replaced(
    store: SharedStore,
    backend: FaultyBackend,
    run: Use,
    damage: Callable[[bytes], bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(store.save(KEY, STORED))
    ((name, value),) = backend.values.items()
    backend.values[name] = damage(value)
    assert [run(store.load(KEY)) for _ in range(2)] == [None, None]
    assert len(warnings_of(caplog)) == 1
    run(store.save(KEY, STORED))
    assert run(store.load(KEY)) == STORED


def test_the_record_of_another_name_or_source_is_not_read(
    backend: FaultyBackend, clock: Clock, run: Use
) -> None:
    store, other = open_store(backend, clock), open_store(backend, clock, base_url="https://other.example")
    run(store.save(KEY, STORED))
    assert run(other.load(KEY)) is None
    ((name, value),) = backend.values.items()
    backend.values = {name.replace("pricing", "legal"): value}
    assert run(store.load(Key("legal", None))) is None


@pytest.mark.parametrize("cache_control", [CacheControl(60, no_store=True), CacheControl(60, private=True)])
def test_what_may_not_be_stored_is_not_and_removes_the_earlier_record(
    store: SharedStore, backend: FaultyBackend, run: Use, cache_control: CacheControl
) -> None:
    run(store.save(KEY, STORED))
    run(store.save(KEY, StoredFAQ(STORED.faq, EPOCH, 60.0, cache_control=cache_control)))
    assert backend.values == {}


# Failures


@pytest.mark.parametrize("error", [OSError("disk full"), RuntimeError(), ValueError("\n[forged] line")])
def test_a_broken_store_raises_nothing_and_is_retried_with_backoff(
    store: SharedStore,
    backend: FaultyBackend,
    clock: Clock,
    run: Use,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "faqsvc_embed")
    run(store.save(KEY, STORED))
    backend.error = error
    backend.calls.clear()
    for work in (store.load(KEY), store.save(KEY, STORED), store.delete(KEY), store.tombstone("pricing")):
        assert run(work) is None
    assert backend.calls == ["get"]
    for calls in (2, 3, 4):
        clock.advance(60)
        assert run(store.load(KEY)) is None
        assert len(backend.calls) == calls
    backend.error = None
    clock.advance(60)
    run(store.load(KEY))
    assert run(store.load(KEY)) == STORED
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "\n" not in caplog.records[0].getMessage()


def test_calls_that_fail_together_count_once_and_the_rest_is_not_tried(
    store: SharedStore, backend: FaultyBackend, clock: Clock, run: Use
) -> None:
    backend.error, backend.delay = OSError(), 0.01

    async def use() -> None:
        await asyncio.gather(*(store.load(KEY) for _ in range(1000)))

    run(use())
    assert len(backend.calls) <= 20
    clock.advance(1)
    backend.error = None
    run(store.load(KEY))
    assert backend.calls.count("get") <= 21
    run(store.save(KEY, STORED))
    assert run(store.load(KEY)) == STORED


@pytest.fixture
def call_timeout(monkeypatch: pytest.MonkeyPatch) -> float:
    """A short time-out for each call of the backend."""
    monkeypatch.setattr(backends, "CALL_TIMEOUT", 0.5)
    return 0.5


def test_many_calls_wait_for_their_turn(
    store: SharedStore, backend: FaultyBackend, clock: Clock, run: Use, call_timeout: float
) -> None:
    run(store.save(KEY, STORED))
    backend.delay = call_timeout / 20

    async def use() -> list[StoredFAQ | None]:
        clock.advance(60)  # a busy machine may have been late for a call, and the store is asked again now
        return await asyncio.gather(*(store.load(KEY) for _ in range(400)))

    assert any(run(use()) == [STORED] * 400 for _ in range(10))


def test_a_slow_store_is_not_waited_for_and_after_that_not_at_all(
    store: SharedStore, backend: FaultyBackend, clock: Clock, call_timeout: float
) -> None:
    backend.delay = 60

    async def seconds_to_load() -> float:
        start = time.monotonic()
        assert await store.load(KEY) is None
        return time.monotonic() - start

    async def use() -> None:
        assert call_timeout <= await seconds_to_load() < call_timeout + SLACK
        clock.advance(60)
        assert sum([await seconds_to_load() for _ in range(20)]) < 10 * call_timeout
        await asyncio.sleep(0)
        assert len(backend.calls) == 2  # one attempt at a time, behind its caller

    asyncio.run(use())


def test_a_store_that_cannot_be_written_can_be_read(
    store: SharedStore, backend: FaultyBackend, run: Use
) -> None:
    run(store.save(KEY, STORED))
    backend.error = OSError("read only")
    run(store.delete(KEY))
    backend.error = None
    assert run(store.load(KEY)) == STORED


# Forgetting


def forget(store: SharedStore, slug: str | None, seconds: float = 1.0) -> Coroutine[Any, Any, bool]:
    store.mark_invalid(slug, Mark(EPOCH + timedelta(seconds=seconds)))
    return store.invalidate()


@pytest.mark.parametrize("slug", ["pricing", None])
def test_a_record_that_could_not_be_removed_is_not_read_and_is_removed_later(
    store: SharedStore, backend: FaultyBackend, clock: Clock, run: Use, slug: str | None
) -> None:
    run(store.save(KEY, STORED))
    backend.error = OSError()
    assert not run(forget(store, slug))
    backend.error = None
    assert run(store.load(KEY)) is None
    clock.advance(60)
    run(store.load(KEY))
    assert STORED.faq.title.encode() not in b"".join(backend.values.values())
    newer = StoredFAQ(STORED.faq, EPOCH + timedelta(seconds=2), 60.0)
    run(store.save(KEY, newer))
    assert run(store.load(KEY)) == newer


def test_a_record_leaves_a_store_that_has_no_room_to_note_it(
    store: SharedStore, backend: FaultyBackend, run: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store.save(KEY, STORED))

    async def put(name: str, value: bytes, seconds: float) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(backend, "put", put)
    assert not run(forget(store, "pricing"))
    assert backend.values == {}


def test_a_store_whose_user_may_not_publish_keeps_a_record_that_was_fetched_after_forgetting(
    store: SharedStore,
    backend: FaultyBackend,
    clock: Clock,
    run: Use,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def publish(channel: str, message: bytes) -> None:
        raise PermissionError("No permissions to access a channel")

    monkeypatch.setattr(backend, "publish", publish)
    assert run(forget(store, "pricing"))
    newer = StoredFAQ(STORED.faq, EPOCH + timedelta(seconds=2), 60.0)
    run(store.save(KEY, newer))
    clock.advance(60)
    assert run(store.load(KEY)) == newer
    backend.error = OSError("gone")
    assert run(store.load(KEY)) is None
    assert len(warnings_of(caplog)) == 2  # the first one does not hide this one


def test_a_backend_that_returns_anything_else_than_bytes_cannot_be_read(
    store: SharedStore, backend: FaultyBackend, run: Use, caplog: pytest.LogCaptureFixture
) -> None:
    run(store.save(KEY, STORED))
    values: Any = backend.values
    values.update({name: value.decode() for name, value in backend.values.items()})
    assert run(store.load(KEY)) is None
    assert len(warnings_of(caplog)) == 1


def test_forgetting_is_tried_even_while_backing_off(
    store: SharedStore, backend: FaultyBackend, run: Use
) -> None:
    backend.error = OSError()
    run(store.load(KEY))
    backend.error = None
    assert run(forget(store, None))


def test_an_faq_that_is_forgotten_again_meanwhile_is_removed_again(
    store: SharedStore, backend: FaultyBackend, run: Use
) -> None:
    backend.delay = 0.001

    async def use() -> None:
        first = asyncio.create_task(forget(store, "pricing"))
        await until(lambda: len(backend.calls) > 0)
        store.mark_invalid("pricing", Mark(EPOCH + timedelta(seconds=2)))
        await first
        await store.invalidate()

    run(use())
    assert backend.calls.count("publish") == 2


def test_a_flood_of_forgotten_faqs_becomes_everything(
    store: SharedStore, backend: FaultyBackend, run: Use
) -> None:
    for number in range(MAX_PENDING + 1):
        store.mark_invalid(f"faq-{number}", Mark(EPOCH))
    run(store.invalidate())
    assert backend.calls.count("publish") == backend.calls.count("clear") == 1


def test_a_tombstone_stays_until_a_later_record_is_stored(store: SharedStore, run: Use) -> None:
    tombstone = Mark(EPOCH + timedelta(seconds=1), None, "digest")
    store.mark_invalid("pricing", tombstone)
    run(store.invalidate())
    run(store.save(KEY, STORED))  # of a process that was slow
    assert (run(store.load(KEY)), run(store.tombstone("pricing"))) == (None, tombstone)
    run(store.save(KEY, StoredFAQ(STORED.faq, EPOCH + timedelta(seconds=2), 60.0)))
    assert run(store.tombstone("pricing")) is None


# Messages


class Received:
    """What a process hears of the others."""

    def __init__(self) -> None:
        self.events = list[str | None]()

    def forget(self, slug: str | None) -> None:
        self.events.append(slug)

    def gap(self) -> None:
        self.events.append("gap")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def test_a_process_hears_of_the_others_and_of_gaps_but_not_of_itself(
    backend: FaultyBackend, clock: Clock
) -> None:
    one, other, received = open_store(backend, clock), open_store(backend, clock), Received()

    async def use() -> None:
        one.watch(received.forget, received.gap)
        await forget(other, "pricing")
        await forget(one, "own")
        await forget(other, None)
        backend.sent.put_nowait(b"no message of this package")
        await until(lambda: len(received.events) == 2)
        backend.sent.put_nowait(ConnectionError())
        await until(backend.sent.empty)
        clock.advance(60)
        await until(lambda: len(received.events) == 3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "sleep", partial(_at_once, asyncio.sleep))
        asyncio.run(use())
    assert received.events == ["pricing", None, "gap"]


async def _at_once(sleep: Callable[[float], Coroutine[Any, Any, None]], seconds: float) -> None:
    await sleep(min(seconds, 0.001))


def test_a_new_loop_may_have_missed_something(store: SharedStore, backend: FaultyBackend) -> None:
    received = Received()

    async def use() -> None:
        store.watch(received.forget, received.gap)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    for _ in range(2):
        asyncio.run(use())
    assert received.events == ["gap"]
