"""Many at once, and very many different ones: one request, bounded memory, and nobody left waiting."""

import asyncio
import gc
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQState
from faqsvc_embed.cache.fetcher import MOST_FLIGHTS
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer

MANY = 1000


def in_threads(count: int, work: Callable[[], Any]) -> list[Any]:
    """Do the same in so many threads at once, and return what each returned or raised."""
    results = list[Any]()
    start = threading.Barrier(count)

    def run() -> None:
        start.wait(30)
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_a_thousand_threads_that_ask_for_one_cold_faq_make_one_request(faulty: FaultyServer) -> None:  # D9
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.slow_head(0.3))
    with FAQEmbed(faulty.base_url, wait=20, timeout=20) as embed:
        states = in_threads(MANY, lambda: embed.use_faq("pricing"))
        assert len(states) == MANY
        assert {state.data is embed.get_faq("pricing") for state in states} == {True}
    assert len(faulty.log) == 1


def test_a_thousand_tasks_that_ask_for_one_cold_faq_make_one_request(faulty: FaultyServer) -> None:  # D9
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.slow_head(0.3))

    async def ask() -> list[FAQState]:
        async with FAQEmbed(faulty.base_url, wait=20, timeout=20) as embed:
            return await asyncio.gather(*(embed.ause_faq("pricing") for _ in range(MANY)))

    assert {state.data is not None for state in asyncio.run(ask())} == {True}
    assert len(faulty.log) == 1


@pytest.mark.parametrize("crash", [SystemExit, KeyboardInterrupt, MemoryError, GeneratorExit, RuntimeError])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fetch_that_crashes_leaves_nobody_waiting(
    crash: type[BaseException], faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # D9
    for slug in ("pricing", "other"):
        faulty.serve(samples.record(slug))
    with FAQEmbed(faulty.base_url, wait=10, timeout=10) as embed:
        embed.get_faq("other")
        embed.forget()
        embed.cache.chance = lambda: 1.0
        fetcher: Any = embed._reader._fetcher
        ask = fetcher._transport.ask
        release = threading.Event()

        async def crashing(*arguments: Any, **options: Any) -> Any:
            if "other" in options["about"]:
                return await ask(*arguments, **options)
            while not release.is_set():
                await asyncio.sleep(0.001)
            raise crash

        monkeypatch.setattr(fetcher._transport, "ask", crashing)
        faulty.behave(behaviours.hang)
        assert embed.use_faq("other", wait=0).is_loading  # a bystander, on the same loop
        threading.Timer(0.1, release.set).start()
        began = time.monotonic()
        states = in_threads(50, lambda: embed.use_faq("pricing"))
        assert [state.data for state in states] == [None] * 50
        assert time.monotonic() - began < 5
        assert not embed.use_faq("pricing", wait=0).data

        monkeypatch.setattr(fetcher._transport, "ask", ask)
        faulty.behave(behaviours.healthy)
        while embed.use_faq("pricing").data is None:  # what comes while the loop ends is interrupted, too
            assert time.monotonic() - began < 5
            embed.forget()
        assert embed.get_faq("other").slug == "other"


def test_a_cancelled_leader_leaves_the_others_their_answer(faulty: FaultyServer) -> None:  # D9
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.slow_head(0.3))

    async def ask() -> list[FAQState]:
        async with FAQEmbed(faulty.base_url, wait=20, timeout=20) as embed:
            leader = asyncio.create_task(embed.ause_faq("pricing"))
            await asyncio.sleep(0.05)
            others = [asyncio.create_task(embed.ause_faq("pricing")) for _ in range(100)]
            await asyncio.sleep(0)
            leader.cancel()
            states = await asyncio.gather(*others)
            with pytest.raises(asyncio.CancelledError):
                await leader
            return states

    assert {state.data is not None for state in asyncio.run(ask())} == {True}
    assert len(faulty.log) == 1


def test_a_flood_of_slugs_while_the_service_hangs_is_bounded(
    faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # D10, K16
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=0"})
    with FAQEmbed(faulty.base_url, wait=0, timeout=1) as embed:
        embed.use_faq("pricing", wait=5)
        caplog.clear()
        faulty.behave(behaviours.hang)
        tracemalloc.start()
        try:
            for number in range(10 * MOST_FLIGHTS):
                embed.use_faq(f"bot-{number}")
            fetcher: Any = embed._reader._fetcher
            assert len(fetcher._flights) <= MOST_FLIGHTS + 1
            assert embed.use_faq("pricing").data is not None  # and its refresh is on its way
            assert fetcher.is_flying()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 48 * 2**20
        deadline = time.monotonic() + 20
        while embed.is_fetching:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert len(embed.health()) <= embed.settings.max_entries
    full = [r.getMessage() for r in caplog.records if "at once" in r.getMessage()]
    assert full == ["1000 FAQs are being fetched at once: no more are asked for meanwhile"]


@pytest.mark.slow
def test_a_million_slugs_leave_nothing_behind(faulty: FaultyServer) -> None:  # D10
    faulty.refuse()
    with FAQEmbed(faulty.base_url, wait=0, timeout=1, max_entries=1000) as embed:

        def flood(start: int, count: int) -> None:
            for number in range(start, start + count):
                embed.use_faq(f"bot-{number}")
            while embed.is_fetching:
                time.sleep(0.01)

        flood(0, 50_000)
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            flood(50_000, 950_000)
            gc.collect()
            after = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert after - before < 8 * 2**20
        assert len(embed.health()) <= 1000
