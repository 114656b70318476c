"""Failed fetches: the record stays, the next attempt waits, and pages do not wait for it."""

import logging
import random
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed import FAQState, FAQUnavailable, RateLimited
from faqsvc_embed.api.responses import Failed, Outcome
from faqsvc_embed.cache.entry import Need
from faqsvc_embed.cache.fetch import CircuitBreaker
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.runtime.backoff import BACKOFF_CAP
from tests.cache.entry import DOWN, KEY, NEWER, fetched, make_cache, need_of, state_in
from tests.support.clock import Clock
from tests.support.embeds import PRICING, MakeEmbed, read, warnings_of
from tests.support.faults import behaviours
from tests.support.faulty import Behaviour, FaultyServer
from tests.support.waiting import settle, wait_until


def test_a_record_is_shown_through_an_outage_until_keep_for_ends(clock: Clock) -> None:
    cache = make_cache(clock, keep_for=100)
    cache.apply(KEY, fetched())
    clock.advance(159.9)
    cache.apply(KEY, DOWN)
    assert state_in(cache).data is PRICING
    clock.advance(0.1)
    assert need_of(cache) is Need.FETCH
    assert state_in(cache) == FAQState(error=DOWN.error)
    assert state_in(cache, is_fetching=True) == FAQState(is_fetching=True)


def test_a_record_can_be_kept_for_ever(clock: Clock) -> None:
    cache = make_cache(clock, keep_for=float("inf"))
    cache.apply(KEY, fetched())
    clock.advance(1e9)
    assert need_of(cache) is Need.REFRESH
    cache.apply(KEY, DOWN)
    assert state_in(cache).data is PRICING


def test_a_success_ends_a_failure(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    cache.apply(KEY, fetched())
    clock.advance(60)
    cache.apply(KEY, DOWN)
    clock.advance(1)
    cache.apply(KEY, fetched(NEWER))
    assert state_in(cache) == FAQState(data=NEWER, source="memory", updated_at=clock.wall())
    clock.advance(60)
    assert backoffs(cache, clock, 2) == [1, 2]


def backoffs(cache: MemoryCache, clock: Clock, count: int, outcome: Outcome = DOWN) -> list[float]:
    """Return the back-offs after `count` failures in a row."""
    return [cache.apply(KEY, outcome).retry_at - clock.now() for _ in range(count)]


def test_the_back_off_doubles_up_to_a_minute(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    assert backoffs(cache, clock, 9) == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert set(backoffs(cache, clock, 2000)) == {BACKOFF_CAP}
    clock.advance(59.999)
    assert need_of(cache) is Need.NOTHING
    clock.advance(0.001)
    assert need_of(cache) is Need.FETCH


def test_the_back_off_has_full_jitter(clock: Clock) -> None:
    assert backoffs(make_cache(clock, random=lambda: 0.5), clock, 3) == [0.5, 1, 2]
    drawn = backoffs(make_cache(clock, random=random.Random(7).random), clock, 500)[6:]
    assert 0 <= min(drawn) < 6
    assert 54 < max(drawn) <= BACKOFF_CAP


def test_a_failure_without_a_request_does_not_prolong_the_back_off(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    local = Failed(FAQUnavailable("not asked"), was_sent=False)
    assert backoffs(cache, clock, 5, local) == [1] * 5
    assert backoffs(cache, clock, 3) == [1, 2, 4]
    assert backoffs(cache, clock, 2, local) == [4, 4]


def test_the_back_off_is_at_least_retry_after(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    assert backoffs(cache, clock, 2, Failed(RateLimited("later", retry_after=120))) == [120, 120]
    assert backoffs(cache, clock, 1, Failed(RateLimited("later", retry_after=3))) == [4]


TIMEOUT: Final = Failed(FAQTimeout("no response"))


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker("shop", clock.now)
    for _ in range(3):
        assert not breaker.is_open
        breaker.record(TIMEOUT)
    assert breaker.is_open
    return breaker


def test_three_timeouts_in_a_row_open_it_and_a_response_closes_it(clock: Clock) -> None:
    breaker = opened(clock)
    breaker.record(DOWN)
    assert not breaker.is_open
    for _ in range(2):
        breaker.record(TIMEOUT)
    breaker.record(DOWN)
    for _ in range(2):
        breaker.record(TIMEOUT)
    assert not breaker.is_open


def test_probes_are_one_at_a_time_and_become_rarer_up_to_one_a_minute(clock: Clock) -> None:
    breaker, intervals, last = opened(clock), list[float](), clock.now()
    while len(intervals) < 10:
        clock.advance(0.5)
        if breaker.may_probe():
            assert not breaker.may_probe()
            breaker.record(TIMEOUT)
            intervals.append(clock.now() - last)
            last = clock.now()
    assert intervals == [1, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    breaker.record(DOWN)
    for _ in range(3):
        breaker.record(TIMEOUT)
    clock.advance(1)
    assert breaker.may_probe()


def test_after_three_timeouts_uncached_faqs_are_left_out_at_once(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(timeout=1)
    read(embed, clock)
    faulty.behave(behaviours.hang)
    embed.prefetch("a", "b", "c")
    for number in range(50):
        state = embed.use_faq(f"faq-{number}")
        assert (state.data, state.is_fetching, state.error is not None) == (None, False, True)
    assert embed.use_faq("pricing").data == PRICING
    clock.advance(1)
    assert embed.use_faq("probe").is_fetching  # the probe does not delay its page either
    settle(embed)
    assert {request.slug for request in faulty.log} <= {"pricing", "a", "b", "c", "probe"}
    assert len(warnings_of(caplog)) <= 3


def test_a_stored_translation_is_shown_while_a_probe_waits_for_its_response(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, tmp_path: Path
) -> None:
    store = f"file:{tmp_path}"
    with make_embed(store=store) as other:
        other.get_faq("pricing", lang="de")
        settle(other)
    faulty.behave(behaviours.hang)

    def is_shown_meanwhile() -> bool:
        embed = make_embed(store=store, timeout=1)
        embed.prefetch("a", "b", "c")
        clock.advance(1)

        def is_shown() -> bool:
            return embed.use_faq("pricing", lang="fr").data is not None

        wait_until(lambda: is_shown() or not embed.reader.fetcher.is_fetching())
        return is_shown() and embed.reader.fetcher.is_fetching()

    wait_until(is_shown_meanwhile)  # not at once, if a busy machine is late by a whole time-out


@pytest.mark.parametrize(
    "behaviour", [behaviours.healthy, behaviours.status(500), behaviours.reset, behaviours.refuse]
)
def test_a_probe_that_does_not_time_out_ends_it(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    clock: Clock,
    behaviour: Behaviour,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    embed = make_embed(timeout=0.5)
    faulty.behave(behaviours.hang)
    embed.prefetch("a", "b", "c")
    faulty.behave(behaviour)

    def is_ended() -> bool:  # not at once, if a busy machine delays the probe beyond its time-out
        clock.advance(60)
        embed.use_faq("a")
        settle(embed)
        return "INFO" in [record.levelname for record in caplog.records]

    wait_until(is_ended)


def test_a_probe_brings_its_record(make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock) -> None:
    embed = make_embed(timeout=0.05)
    faulty.behave(behaviours.hang)
    for slug in ("a", "b", "c"):
        embed.use_faq(slug)
    clock.advance(1)
    faulty.behave(behaviours.healthy)
    assert embed.use_faq("pricing").data is None

    def is_shown() -> bool:
        clock.advance(60)
        return embed.use_faq("pricing").data == PRICING

    wait_until(is_shown)
