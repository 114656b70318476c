"""Whatever happens to a store, no call raises, none takes long, and one line says so."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.cache.stores import GuardedStore
from faqsvc_embed.cache.stores.resilient import LONGEST
from tests.support import samples
from tests.support.clock import EPOCH, Clock

KEY = Key("pricing", None)
COPY = Copy(FAQ.from_dict(samples.pricing()), None, EPOCH, 60.0)


class Faulty:
    """A store that does what a test says."""

    is_shared = True

    def __init__(self) -> None:
        self.trouble: Exception | None = None
        self.slowness = 0.0
        self.calls = 0

    async def _do(self, *_: object) -> Any:
        self.calls += 1
        await asyncio.sleep(self.slowness)
        if self.trouble is not None:
            raise self.trouble
        return COPY

    load = save = drop = forget = watch = aclose = _do

    def prepare(self) -> None:
        pass

    def forked(self) -> None:
        pass

    @contextlib.asynccontextmanager
    async def lease(self, key: Key, patience: float) -> AsyncIterator[None]:
        await self._do()
        yield


async def use_all_of(store: GuardedStore) -> None:
    assert await store.load(KEY) is None
    await store.save(KEY, COPY)
    await store.drop(KEY)
    await store.forget(None)
    async with store.lease(KEY, 1):
        pass


@pytest.mark.parametrize("trouble", [OSError("disk full"), RuntimeError(), ValueError("\n[forged] line")])
def test_a_broken_store_raises_nothing_and_is_left_alone_for_a_while(
    clock: Clock, trouble: Exception, caplog: pytest.LogCaptureFixture
) -> None:  # R6, R10, D6
    faulty = Faulty()
    store = GuardedStore(faulty, clock.now)
    faulty.trouble = trouble
    with caplog.at_level(logging.INFO, "faqsvc_embed"):
        asyncio.run(use_all_of(store))
        assert faulty.calls == 2  # to forget is worth another attempt
        for calls in (3, 4, 5):
            clock.advance(60)
            assert asyncio.run(store.load(KEY)) is None
            assert faulty.calls == calls
        faulty.trouble = None
        clock.advance(60)
        assert asyncio.run(store.load(KEY)) == COPY
    broken, well = (record.getMessage() for record in caplog.records)
    assert broken.startswith("the store cannot be read; FAQs are shown from memory: ")
    assert "\n" not in broken
    assert well == "the store works again"


def test_pauses_grow_to_a_minute(clock: Clock) -> None:  # K14
    faulty = Faulty()
    faulty.trouble = OSError()
    store, pauses = GuardedStore(faulty, clock.now), list[float]()
    for calls in range(1, 10):
        began = clock.now()
        while faulty.calls < calls:
            asyncio.run(store.load(KEY))
            clock.advance(0.5)
        pauses.append(clock.now() - began)
    assert pauses[1:] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_slow_store_is_not_waited_for(clock: Clock) -> None:  # R2
    faulty = Faulty()
    faulty.slowness = 60
    store = GuardedStore(faulty, clock.now)
    began = time.monotonic()
    assert asyncio.run(store.load(KEY)) is None
    assert LONGEST <= time.monotonic() - began < LONGEST + 1


def test_watching_goes_on_after_trouble_and_says_that_something_was_missed(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty, heard = Faulty(), list[str | None]()
    outcomes = iter([ConnectionError(), ConnectionError(), None])

    async def watch(forget: Callable[[str | None], None], missed: Callable[[], None]) -> None:
        missed()
        forget("pricing")
        if (trouble := next(outcomes)) is not None:
            raise trouble

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    monkeypatch.setattr(faulty, "watch", watch)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    store = GuardedStore(faulty, clock.now)
    asyncio.run(store.watch(heard.append, lambda: heard.append("missed")))
    assert heard == ["pricing", "missed", "pricing", "missed", "pricing"]


def test_what_cannot_be_written_or_locked_is_read_all_the_same(clock: Clock) -> None:  # R7
    faulty = Faulty()
    store = GuardedStore(faulty, clock.now)

    async def use() -> Copy | None:
        faulty.trouble = OSError("read only")
        await store.save(KEY, COPY)
        async with store.lease(KEY, 1):
            faulty.trouble = None
        return await store.load(KEY)

    assert asyncio.run(use()) == COPY


def test_what_was_forgotten_in_bad_times_does_not_come_back_and_is_said_later(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty, said = Faulty(), list[str | None]()

    async def forget(slug: str | None) -> None:
        await faulty._do()
        said.append(slug)

    monkeypatch.setattr(faulty, "forget", forget)
    store = GuardedStore(faulty, clock.now)

    async def use() -> list[Copy | None]:
        faulty.trouble = OSError()
        await store.forget("pricing")
        found = [await store.load(KEY)]
        faulty.trouble = None
        found += [await store.load(KEY)]
        clock.advance(60)
        return [*found, await store.load(KEY)]

    assert asyncio.run(use()) == [None, None, COPY]
    assert said == ["pricing"]
