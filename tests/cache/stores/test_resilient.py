"""Whatever a store does, no call raises, none takes long, and one line in the log says so."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.cache.stores import ResilientStore
from faqsvc_embed.cache.stores.resilient import CALL_TIMEOUT, MAX_PENDING
from tests.support import samples
from tests.support.clock import EPOCH, Clock
from tests.support.embeds import SLACK, warnings_of

KEY = Key("pricing", None)
STORED = StoredFAQ(FAQ.from_dict(samples.pricing()), None, EPOCH, 60.0)


class FaultyStore:
    """A store that fails, or takes long, as a test says."""

    is_shared = True

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.delay = 0.0
        self.calls = 0
        self.invalidated = list[str | None]()
        self.subscriptions = list[Exception | None]()

    async def _do(self, *arguments: object) -> Any:
        self.calls += 1
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return STORED

    load = save = delete = aclose = _do

    async def bury(self, slug: str, tombstone: str) -> None:
        pass

    async def tombstone(self, slug: str) -> bytes | None:
        return None

    async def invalidate(self, slug: str | None, at: datetime) -> None:
        await self._do()
        self.invalidated.append(slug)

    async def subscribe(
        self, on_invalidate: Callable[[str | None], None], on_connected: Callable[[], None]
    ) -> None:
        on_connected()
        on_invalidate("pricing")
        error = self.subscriptions.pop(0)
        if error is not None:
            raise error

    def prepare(self) -> None:
        pass

    def after_fork(self) -> None:
        pass


@pytest.fixture
def faulty_store() -> FaultyStore:
    return FaultyStore()


@pytest.fixture
def store(faulty_store: FaultyStore, clock: Clock) -> ResilientStore:
    return ResilientStore(faulty_store, clock.now)


async def use_all_of(store: ResilientStore) -> None:
    assert await store.load(KEY) is None
    await store.save(KEY, STORED)
    await store.delete(KEY)


@pytest.mark.parametrize("error", [OSError("disk full"), RuntimeError(), ValueError("\n[forged] line")])
def test_a_broken_store_raises_nothing_and_is_retried_with_backoff(
    store: ResilientStore,
    faulty_store: FaultyStore,
    clock: Clock,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "faqsvc_embed")
    faulty_store.error = error
    asyncio.run(use_all_of(store))
    assert faulty_store.calls == 1
    for calls in (2, 3, 4):
        clock.advance(60)
        assert asyncio.run(store.load(KEY)) is None
        assert faulty_store.calls == calls
    faulty_store.error = None
    clock.advance(60)
    assert asyncio.run(store.load(KEY)) == STORED
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "\n" not in caplog.records[0].getMessage()


def test_back_offs_grow_to_a_minute(store: ResilientStore, faulty_store: FaultyStore, clock: Clock) -> None:
    faulty_store.error = OSError()
    backoffs = list[float]()
    for calls in range(1, 10):
        start = clock.now()
        while faulty_store.calls < calls:
            asyncio.run(store.load(KEY))
            clock.advance(0.5)
        backoffs.append(clock.now() - start)
    assert backoffs[1:] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_slow_store_is_not_waited_for(store: ResilientStore, faulty_store: FaultyStore) -> None:
    faulty_store.delay = 60
    start = time.monotonic()
    assert asyncio.run(store.load(KEY)) is None
    assert CALL_TIMEOUT <= time.monotonic() - start < CALL_TIMEOUT + SLACK


def test_one_damaged_record_is_logged_once_and_stops_no_other(
    store: ResilientStore, faulty_store: FaultyStore, caplog: pytest.LogCaptureFixture
) -> None:
    faulty_store.error = InvalidFAQ("it was edited")
    for _ in range(3):
        assert asyncio.run(store.load(KEY)) is None
    assert len(warnings_of(caplog)) == 1
    faulty_store.error = None
    assert asyncio.run(store.load(Key("other", None))) == STORED


def test_a_store_that_cannot_be_written_can_be_read(store: ResilientStore, faulty_store: FaultyStore) -> None:
    async def use() -> StoredFAQ | None:
        faulty_store.error = OSError("read only")
        await store.save(KEY, STORED)
        faulty_store.error = None
        return await store.load(KEY)

    assert asyncio.run(use()) == STORED


# Invalidations


@pytest.mark.parametrize("slug", ["pricing", None])
def test_a_record_that_could_not_be_removed_is_not_read_and_is_removed_later(
    store: ResilientStore, faulty_store: FaultyStore, clock: Clock, slug: str | None
) -> None:
    faulty_store.error = OSError()
    store.mark_invalid(slug, EPOCH)
    asyncio.run(store.invalidate())
    faulty_store.error = None
    assert asyncio.run(store.load(KEY)) is None  # it is still backing off
    clock.advance(60)
    assert asyncio.run(store.load(KEY)) == STORED
    assert faulty_store.invalidated == [slug]


def test_forgetting_is_tried_even_while_backing_off(store: ResilientStore, faulty_store: FaultyStore) -> None:
    faulty_store.error = OSError()
    asyncio.run(use_all_of(store))
    faulty_store.error = None
    store.mark_invalid(None, EPOCH)
    asyncio.run(store.invalidate())
    assert faulty_store.invalidated == [None]


def test_an_faq_that_is_forgotten_again_meanwhile_is_removed_again(
    store: ResilientStore, faulty_store: FaultyStore
) -> None:
    faulty_store.delay = 0.01

    async def use() -> None:
        store.mark_invalid("pricing", EPOCH)
        first = asyncio.create_task(store.invalidate())
        await asyncio.sleep(0.005)
        store.mark_invalid("pricing", EPOCH)
        await first
        assert faulty_store.invalidated == ["pricing"]
        await store.load(KEY)

    asyncio.run(use())
    assert faulty_store.invalidated == ["pricing", "pricing"]


def test_a_flood_of_invalidations_becomes_one_of_everything(
    store: ResilientStore, faulty_store: FaultyStore
) -> None:
    for number in range(MAX_PENDING + 1):
        store.mark_invalid(f"faq-{number}", EPOCH)
    asyncio.run(store.invalidate())
    assert faulty_store.invalidated == [None]


class Received:
    """What a subscriber receives."""

    def __init__(self) -> None:
        self.events = list[str | None]()

    def invalidate(self, slug: str | None) -> None:
        self.events.append(slug)

    def gap(self) -> None:
        self.events.append("gap")


async def subscribe(store: ResilientStore, received: Received, clock: Clock, seconds: int = 3) -> None:
    store.watch(received.invalidate, received.gap)
    for _ in range(10):
        clock.advance(seconds)
        await asyncio.sleep(0)


def test_a_lost_subscription_is_renewed_and_the_gap_is_reported(
    store: ResilientStore, faulty_store: FaultyStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = asyncio.sleep

    async def at_once(seconds: float) -> None:
        clock.advance(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    faulty_store.subscriptions = [ConnectionError(), ConnectionError(), None]
    received = Received()
    asyncio.run(subscribe(store, received, clock))
    assert received.events == ["pricing", "gap", "pricing", "gap", "pricing"]


def test_a_subscription_on_a_new_loop_reports_a_gap(
    store: ResilientStore, faulty_store: FaultyStore, clock: Clock
) -> None:
    faulty_store.subscriptions = [None, None]
    received = Received()
    for _ in range(2):
        asyncio.run(subscribe(store, received, clock))
    assert received.events == ["pricing", "gap", "pricing"]
