"""Tasks that wait for what another thread brings."""

import asyncio
import gc
import threading
import weakref
from concurrent.futures import Future
from typing import Any

from faqsvc_embed.runtime.waiting import Waits


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


def test_two_loops_wait_for_the_same() -> None:
    waits, brought = Waits(), Future[str]()
    waiting = threading.Barrier(3)

    async def wait() -> None:
        waiting.wait(5)
        await waits.until(brought, 5)
        assert brought.done()

    threads = [threading.Thread(target=asyncio.run, args=[wait()]) for _ in range(2)]
    for thread in threads:
        thread.start()
    waiting.wait(5)
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
