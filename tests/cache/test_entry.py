"""What a cached entry shows at a given time, and how a response changes it."""

import random

import pytest

from faqsvc_embed import FAQ, FAQNotFound, FAQState
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl, Outcome
from faqsvc_embed.cache.entry import JITTER, MIN_REFRESH_INTERVAL, Key, Need
from tests.cache.entry import (
    DOWN,
    GONE,
    KEY,
    NOT_FOUND,
    fetched,
    make_cache,
    need_of,
    state_in,
)
from tests.support import samples
from tests.support.clock import EPOCH, Clock
from tests.support.embeds import PRICING

# States


def test_a_fresh_record_is_shown_as_it_is(clock: Clock) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched())
    assert need_of(cache) is Need.NOTHING
    assert state_in(cache) == FAQState(data=PRICING, source="memory", updated_at=EPOCH)


def test_a_stale_record_is_shown_while_it_is_refreshed(clock: Clock) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched())
    clock.advance(60)
    assert need_of(cache) is Need.REFRESH
    assert state_in(cache, is_fetching=True) == FAQState(
        data=PRICING, is_fetching=True, is_stale=True, source="memory", updated_at=EPOCH
    )


def test_a_record_is_shown_although_its_refresh_failed(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    cache.apply(KEY, fetched())
    clock.advance(60)
    cache.apply(KEY, DOWN)
    assert need_of(cache) is Need.NOTHING
    assert state_in(cache) == FAQState(
        data=PRICING, error=DOWN.error, is_stale=True, is_degraded=True, source="memory", updated_at=EPOCH
    )
    clock.advance(1)
    retrying = state_in(cache, is_fetching=True)
    assert (retrying.data, retrying.error, retrying.is_degraded) == (PRICING, None, True)


def test_without_a_record_there_is_only_the_fetch_or_its_error(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    assert need_of(cache) is Need.FETCH
    assert state_in(cache, is_fetching=True) == FAQState(is_fetching=True)
    cache.apply(KEY, DOWN)
    assert need_of(cache) is Need.NOTHING
    assert state_in(cache) == FAQState(error=DOWN.error)


# Freshness


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [(CacheControl(3600), 3600.0), (CacheControl(3600, age=600), 3000.0), (CacheControl(), 77.0)],
)
def test_a_record_is_fresh_for_its_lifetime_less_its_age_or_else_for_the_default(
    clock: Clock, cache_control: CacheControl, seconds: float
) -> None:
    cache = make_cache(clock, fresh_for=77)
    cache.apply(KEY, fetched(cache_control=cache_control))
    clock.advance(seconds - 0.001)
    assert need_of(cache) is Need.NOTHING
    clock.advance(0.001)
    assert need_of(cache) is Need.REFRESH


def test_a_record_is_never_fresh_for_longer_than_the_response_says(clock: Clock) -> None:
    cache = make_cache(clock, random=random.Random(7).random)
    ends = [
        cache.apply(Key(f"faq-{number}", None), fetched(cache_control=CacheControl(3600))).fresh_until
        for number in range(100)
    ]
    assert all(3600 * (1 - JITTER) <= end - clock.now() <= 3600 for end in ends)
    assert len({int(end) for end in ends}) > 50  # fetched together, they expire apart


def test_a_record_that_is_never_fresh_is_refreshed_at_most_once_a_second(clock: Clock) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched(cache_control=CacheControl(0)))
    state = state_in(cache)
    assert (state.data, state.is_stale, state.is_degraded) == (PRICING, True, False)
    clock.advance(MIN_REFRESH_INTERVAL - 0.01)
    assert need_of(cache) is Need.NOTHING
    clock.advance(0.01)
    assert need_of(cache) is Need.REFRESH


# 304


def test_an_equal_record_renews_the_cached_one_and_keeps_it(clock: Clock) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched())
    clock.advance(100)
    cache.apply(KEY, DOWN)
    equal = FAQ.from_dict(samples.pricing())
    entry = cache.apply(KEY, fetched(equal, CacheControl(30, age=10, no_store=True), etag='"1"'))
    assert (entry.faq is PRICING, entry.validators) == (True, Validators('"1"'))
    assert entry.cache_control == CacheControl(30, age=10, no_store=True)
    assert state_in(cache) == FAQState(data=PRICING, source="memory", updated_at=clock.wall())
    clock.advance(19.9)
    assert need_of(cache) is Need.NOTHING
    clock.advance(0.2)
    assert need_of(cache) is Need.REFRESH


# 404 and 410


@pytest.mark.parametrize("outcome", [NOT_FOUND, GONE])
def test_an_unknown_faq_is_not_asked_for_again_for_a_while(clock: Clock, outcome: Outcome) -> None:
    cache = make_cache(clock, not_found_for=30)
    cache.apply(KEY, outcome)
    assert isinstance(state_in(cache).error, FAQNotFound)
    clock.advance(29.9)
    assert need_of(cache) is Need.NOTHING
    clock.advance(0.1)
    assert need_of(cache) is Need.FETCH
    cache.apply(KEY, fetched())
    assert state_in(cache).data is PRICING


def test_a_repeated_404_removes_a_cached_record(clock: Clock) -> None:
    cache = make_cache(clock, not_found_for=30)
    cache.apply(KEY, fetched())
    clock.advance(100)
    for _ in range(3):  # as by a proxy, while the service restarts
        cache.apply(KEY, NOT_FOUND)
        state = state_in(cache)
        assert (state.data, state.error, state.is_degraded) == (PRICING, NOT_FOUND.error, True)
    clock.advance(29.9)
    assert need_of(cache) is Need.NOTHING
    cache.apply(KEY, DOWN)  # says nothing of it
    clock.advance(0.1)
    assert need_of(cache) is Need.REFRESH
    cache.apply(KEY, NOT_FOUND)
    assert state_in(cache) == FAQState(error=NOT_FOUND.error)


def test_a_success_between_two_404s_makes_the_second_the_first(clock: Clock) -> None:
    cache = make_cache(clock, not_found_for=30)
    cache.apply(KEY, fetched())
    for outcome in (NOT_FOUND, fetched(), NOT_FOUND):
        clock.advance(100)
        cache.apply(KEY, outcome)
    assert state_in(cache).data is PRICING


def test_a_404_removes_an_expired_record_at_once(clock: Clock) -> None:
    cache = make_cache(clock, keep_for=0)
    cache.apply(KEY, fetched())
    clock.advance(100)
    entry = cache.apply(KEY, NOT_FOUND)
    assert (entry.faq, entry.error) == (None, NOT_FOUND.error)


def test_two_404s_are_a_second_apart_even_if_they_are_not_cached(clock: Clock) -> None:
    cache = make_cache(clock, not_found_for=0)
    cache.apply(KEY, fetched())
    cache.apply(KEY, NOT_FOUND)
    cache.apply(KEY, NOT_FOUND)
    assert state_in(cache).data is PRICING
