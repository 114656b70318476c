"""Tasks that wait for what another thread brings."""

import asyncio
import gc
import threading
import weakref
from concurrent import futures
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from faqsvc_embed import waiting
from faqsvc_embed.waiting import Waits


class Wakings(asyncio.SelectorEventLoop):
    """An event loop that counts how often it is woken."""

    wakings = 0

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> Any:  # type: ignore[override]
        self.wakings += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


def test_a_thousand_tasks_are_woken_once() -> None:  # K11
    waits, brought = Waits(), Future[str]()

    async def wait() -> list[str]:
        async def one() -> str:
            await waits.until(brought, 5)
            return brought.result(0)

        tasks = [asyncio.create_task(one()) for _ in range(1000)]
        await asyncio.sleep(0)
        threading.Thread(target=brought.set_result, args=["it"]).start()
        return await asyncio.gather(*tasks)

    with asyncio.Runner(loop_factory=Wakings) as runner:
        assert set(runner.run(wait())) == {"it"}
        loop = runner.get_loop()
        assert isinstance(loop, Wakings)
        assert loop.wakings == 1


def test_a_loop_stands_still_a_millisecond_for_what_is_brought_once_and_not_for_many_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # F5
    now, stood = [100.0], list[tuple[float, list[Future[str]], float]]()
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(futures, "wait", lambda brought, timeout: stood.append((now[0], brought, timeout)))
    waits, one, other = Waits(), Future[str](), Future[str]()

    async def wait() -> None:
        async def at(moment: float, brought: Future[str]) -> None:
            now[0] = moment
            await waits.until(brought, 5)

        moments = [
            (100, one),
            (100.001, one),
            (100.004, other),
            (100.006, other),
            (100.02, other),
            (100.03, one),
        ]
        tasks = [asyncio.create_task(at(*moment)) for moment in moments]
        await asyncio.sleep(0)
        one.set_result("it")
        other.set_result("it")
        await asyncio.gather(*tasks)

    asyncio.run(wait())
    assert stood == [(100, [one], 0.001), (100.006, [other], 0.001)]


def test_two_loops_wait_for_the_same() -> None:
    waits, brought = Waits(), Future[str]()
    both_wait = threading.Barrier(3)

    async def wait() -> None:
        both_wait.wait(5)
        await waits.until(brought, 5)
        assert brought.done()

    threads = [threading.Thread(target=asyncio.run, args=[wait()]) for _ in range(2)]
    for thread in threads:
        thread.start()
    both_wait.wait(5)
    brought.set_result("it")
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def test_who_stops_waiting_leaves_the_others_and_what_they_wait_for_alone() -> None:
    waits, brought = Waits(), Future[str]()

    async def wait() -> None:
        gone = asyncio.create_task(waits.until(brought, 5))
        late = asyncio.create_task(waits.until(brought, 0.001))
        patient = asyncio.create_task(waits.until(brought, 5))
        await asyncio.sleep(0)
        gone.cancel()
        await late
        assert not brought.done()
        brought.set_result("it")
        await patient
        assert (gone.cancelled(), brought.result()) == (True, "it")

    asyncio.run(wait())


def test_what_never_comes_keeps_no_loop_that_has_ended() -> None:
    waits = Waits()
    loops = list[weakref.ref[asyncio.AbstractEventLoop]]()

    async def wait(brought: Future[str]) -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await waits.until(brought, 0)

    def forget(brought: Future[str]) -> None:
        for _ in range(2):
            asyncio.run(wait(brought))
        brought.set_result("late")

    forget(Future())
    gc.collect()
    assert [loop() for loop in loops] == [None, None]
