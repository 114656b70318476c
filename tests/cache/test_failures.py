"""Failed fetches: the record stays, and the next attempt waits."""

import random

import pytest

from faqsvc_embed import FAQError, FAQState, FAQUnavailable, RateLimited
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import Failed, Outcome
from faqsvc_embed.cache.entries import BACKOFF_CAP, Need
from faqsvc_embed.cache.memory import MemoryCache
from tests.cache.entries import DOWN, KEY, NEWER, fetched, make_cache, need_of, state_in
from tests.support.clock import Clock
from tests.support.embeds import PRICING


@pytest.mark.parametrize("error", [DOWN.error, RateLimited("later"), FAQUnavailable("no", status=401)])
def test_no_failure_removes_a_record(clock: Clock, error: FAQError) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched(etag='"1"'))
    for _ in range(10):
        clock.advance(61)
        entry = cache.apply(KEY, Failed(error))
        assert (entry.faq, entry.validators) == (PRICING, Validators('"1"'))
        assert state_in(cache).data is PRICING


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


def test_a_record_that_is_too_old_to_show_has_an_error(clock: Clock) -> None:
    cache = make_cache(clock, keep_for=0)
    cache.apply(KEY, fetched())
    clock.advance(60)
    assert isinstance(state_in(cache).error, FAQUnavailable)


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
    local = Failed(FAQUnavailable("not asked"), is_local=True)
    assert backoffs(cache, clock, 5, local) == [1] * 5
    assert backoffs(cache, clock, 3) == [1, 2, 4]
    assert backoffs(cache, clock, 2, local) == [4, 4]


def test_the_back_off_is_at_least_retry_after(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    assert backoffs(cache, clock, 2, Failed(RateLimited("later", retry_after=120))) == [120, 120]
    assert backoffs(cache, clock, 1, Failed(RateLimited("later", retry_after=3))) == [4]
