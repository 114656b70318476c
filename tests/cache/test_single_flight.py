"""One fetch for each FAQ at a time, for any number of threads, tasks and event loops."""

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.cache import fetcher
from faqsvc_embed.cache.fetcher import MAX_FETCHES
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, PRICING, MakeEmbed, warnings_of
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle, wait_until


@pytest.fixture
def release(faulty: FaultyServer) -> threading.Event:
    """Let the service respond once this is set."""
    event = threading.Event()
    faulty.behave(behaviours.held_until(event))
    return event


def test_threads_and_the_tasks_of_two_event_loops_share_a_fetch(
    make_embed: MakeEmbed, faulty: FaultyServer, release: threading.Event
) -> None:
    embed = make_embed()
    readers: list[Callable[[], FAQ]] = [
        lambda: embed.get_faq("pricing"),
        lambda: asyncio.run(embed.aget_faq("pricing")),
        lambda: asyncio.run(embed.aget_faq("pricing")),
    ]
    with ThreadPoolExecutor(3) as pool:
        records = [pool.submit(read) for read in readers]
        faulty.wait_for_requests(1)
        release.set()
        assert len({id(record.result(60)) for record in records}) == 1
    assert len(faulty.log) == 1


def test_many_threads_that_see_a_stale_record_start_one_refresh(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed, release = make_embed(), threading.Event()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.behave(behaviours.held_until(release))
    with ThreadPoolExecutor(16) as pool:
        states = list(pool.map(lambda _: embed.use_faq("pricing"), range(200)))
    assert {(state.data, state.is_stale, state.is_fetching) for state in states} == {(PRICING, True, True)}
    faulty.wait_for_requests(2)
    release.set()
    settle(embed)
    assert len(faulty.log) == 2


def test_a_thousand_tasks_make_one_request_even_if_one_is_cancelled(
    make_embed: MakeEmbed, faulty: FaultyServer, release: threading.Event
) -> None:
    embed = make_embed()

    async def read() -> list[FAQ]:
        leader, *others = (asyncio.create_task(embed.aget_faq("pricing")) for _ in range(1000))
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        release.set()
        return await asyncio.gather(*others)

    assert asyncio.run(read()) == [PRICING] * 999
    assert len(faulty.log) == 1


def test_a_fetch_outlives_the_event_loop_that_started_it(
    make_embed: MakeEmbed, faulty: FaultyServer, release: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed()
    assert asyncio.run(embed.ause_faq("pricing", wait=0.01)).is_loading
    release.set()
    assert embed.get_faq("pricing") == PRICING
    assert len(faulty.log) == 1
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_different_faqs_and_languages_are_fetched_at_the_same_time(
    make_embed: MakeEmbed, faulty: FaultyServer, release: threading.Event
) -> None:
    embed = make_embed()
    for lang in samples.multilingual():
        embed.use_faq("pricing", lang=lang, wait=0)
    faulty.wait_for_requests(7)
    release.set()
    settle(embed)
    assert sorted(str(request.lang) for request in faulty.log) == sorted(samples.multilingual())


# Floods


def test_a_cached_record_is_refreshed_however_many_other_faqs_are_fetched(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "MAX_FETCHES", 1)
    embed, release = make_embed(), threading.Event()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.behave(behaviours.held_until(release))
    for number, slug in enumerate(("new", "pricing")):
        embed.use_faq(slug, wait=0)
        faulty.wait_for_requests(2 + number)
    assert not embed.use_faq("other").is_fetching
    release.set()


def test_a_flood_of_slugs_while_the_service_hangs_is_bounded(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(wait=0, timeout=60)
    embed.use_faq("pricing", wait=5)
    clock.advance(LONG)
    faulty.behave(behaviours.hang)
    caplog.clear()
    states = [embed.use_faq(f"bot-{number}") for number in range(MAX_FETCHES + 200)]
    assert sum(state.is_fetching for state in states) <= MAX_FETCHES
    state = embed.use_faq("pricing")
    assert (state.data, state.is_fetching) == (PRICING, True)  # a cached FAQ is refreshed all the same
    assert len(warnings_of(caplog)) == 1
    embed.close()
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
    assert len(embed.health()) <= embed.settings.max_entries


@pytest.mark.system
def test_a_flood_of_slugs_leaves_nothing_behind(faulty: FaultyServer) -> None:
    """What is left behind grows with each flood. What is cached may grow once, because failures differ."""
    faulty.refuse()
    with FAQEmbed(faulty.base_url, wait=0, timeout=1, max_entries=400) as embed:
        levels = list[int]()
        tracemalloc.start()
        try:
            for flood in range(5):
                for number in range(1_200):
                    embed.use_faq(f"bot-{flood}-{number}")
                wait_until(lambda: not embed.reader.fetcher.is_fetching())
                gc.collect()
                levels.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
        assert min(after - before for before, after in pairwise(levels)) / 1_200 < 20  # bytes
        assert len(embed.health()) <= 400
