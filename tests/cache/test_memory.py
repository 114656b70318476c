"""The entries in memory: bounded in number and in bytes, and adopted from other processes."""

import gc
import weakref

import pytest

from faqsvc_embed import FAQ, FAQNotFound
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl
from faqsvc_embed.cache.entry import JITTER, Key, Need, StoredFAQ
from faqsvc_embed.cache.memory import MAX_TOTAL_BYTES
from faqsvc_embed.models import Item
from faqsvc_embed.testing import fake_embed
from tests.cache.entry import (
    DOWN,
    KEY,
    NEWER,
    NOT_FOUND,
    fetched,
    make_cache,
    need_of,
    state_in,
    stored,
)
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import PRICING

# Bounds


def test_a_flood_of_unknown_slugs_evicts_no_record(clock: Clock) -> None:
    cache = make_cache(clock, max_entries=20)
    real = [Key(f"real-{number}", None) for number in range(10)]
    for key in real:
        cache.apply(key, fetched())
    for number in range(2_000):
        clock.advance(0.001)
        cache.apply(Key(f"bot-{number}", None), NOT_FOUND)
    assert [key for key in real if cache.get(key) is None] == []
    assert len(cache.entries()) <= 20


def test_what_was_forgotten_is_known_for_an_hour_and_in_a_bounded_number(clock: Clock) -> None:
    cache = make_cache(clock, max_entries=20)
    cache.forget("pricing")
    clock.advance(3_599)
    assert (cache.is_forgotten("pricing"), cache.is_forgotten("other")) == (True, False)
    clock.advance(1)
    assert not cache.is_forgotten("pricing")
    for number in range(30):
        cache.forget(f"faq-{number}")
    assert [number for number in range(30) if cache.is_forgotten(f"faq-{number}")] == list(range(10, 30))
    cache.forget("faq-10")
    cache.forget("faq-30")
    assert (cache.is_forgotten("faq-10"), cache.is_forgotten("faq-11")) == (True, False)


def test_the_least_recently_used_record_is_evicted() -> None:
    with fake_embed({slug: samples.record(slug) for slug in "abcd"}, max_entries=3) as embed:
        for slug in ("a", "b", "c", "a", "d"):
            embed.get_faq(slug)
        assert {health["slug"] for health in embed.health()} == {"a", "c", "d"}


LONG_TEXT = "x" * 2**20


@pytest.mark.parametrize(
    "faq",
    [
        FAQ("a", title=LONG_TEXT),
        FAQ("a", website_name=LONG_TEXT),
        FAQ("a", items=(Item(0, LONG_TEXT, ""),)),
        FAQ("a", items=(Item(0, "", LONG_TEXT),)),
        FAQ("a", cta=[[]] * 2**14),  # 64 bytes of memory for 3 of JSON
    ],
    ids=["title", "website name", "question", "answer", "call to action"],
)
def test_the_bytes_of_all_records_are_bounded(clock: Clock, faq: FAQ) -> None:
    cache = make_cache(clock, max_entries=10_000)
    for number in range(70):
        cache.apply(Key(str(number), None), fetched(faq))
    assert 1 < len(cache.entries()) <= MAX_TOTAL_BYTES / 2**20


def test_bytes_are_counted_once_whatever_becomes_of_a_record(clock: Clock) -> None:
    cache = make_cache(clock)
    large = FAQ("a", title=LONG_TEXT)
    for _ in range(100):
        cache.apply(KEY, fetched(large))
        cache.apply(KEY, fetched())
        cache.apply(KEY, stored(clock, age=-1, faq=large))
        cache.forget()
    for number in range(60):
        cache.apply(Key(str(number), None), fetched(large))
    assert len(cache.entries()) == 60


def test_a_record_that_changes_often_leaves_nothing_behind() -> None:
    with fake_embed({}) as embed:
        versions = list[weakref.ref[FAQ]]()
        for number in range(50):
            faq = FAQ.from_dict(samples.record("pricing", title=f"Version {number}"))
            embed.reader.cache.apply(KEY, fetched(faq))
            assert f"Version {number}" in embed.render("pricing")
            versions.append(weakref.ref(faq))
        del faq
        gc.collect()
        assert sum(version() is not None for version in versions) <= 2


def test_forgetting_removes_a_slug_in_every_language_or_everything(clock: Clock) -> None:
    cache = make_cache(clock)
    keys = [Key("pricing", None), Key("pricing", "ko"), Key("pricing2", None), Key("help", "ko")]
    for key in keys:
        cache.apply(key, fetched())
    cache.forget("pricing")
    assert [entry.key for entry in cache.entries()] == keys[2:]
    cache.forget("unknown")
    assert [entry.key for entry in cache.entries()] == keys[2:]
    cache.forget()
    assert cache.entries() == []


# Records that another process has stored


@pytest.mark.parametrize(("age", "expected"), [(0, Need.NOTHING), (59, Need.NOTHING), (60, Need.REFRESH)])
def test_a_stored_record_ages_from_when_it_was_fetched(clock: Clock, age: float, expected: Need) -> None:
    cache = make_cache(clock)
    record = stored(clock, age)
    cache.apply(KEY, record)
    assert need_of(cache) is expected
    assert (state_in(cache).data, state_in(cache).updated_at) == (PRICING, record.updated_at)


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [(10, Need.NOTHING), (299, Need.NOTHING), (301, Need.REFRESH), (86_400, Need.REFRESH)],
)
def test_a_stored_record_from_the_future_is_shown_and_refreshed(
    clock: Clock, ahead: float, expected: Need
) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, stored(clock, -ahead))
    assert (need_of(cache), state_in(cache).data) == (expected, PRICING)
    assert state_in(cache).updated_at == clock.wall()
    clock.advance(60)
    assert need_of(cache) is Need.REFRESH  # never fresh for longer than the response said


def test_a_stored_record_is_kept_for_as_long_as_its_own_process_would_keep_it(clock: Clock) -> None:
    cache = make_cache(clock, keep_for=100)
    cache.apply(KEY, stored(clock, age=150))
    assert state_in(cache).data == PRICING
    clock.advance(10)
    assert state_in(cache).data is None


def test_the_newer_record_wins_and_an_equal_one_stays_the_same_object(clock: Clock) -> None:
    cache = make_cache(clock)
    entry = cache.apply(KEY, fetched())
    assert cache.apply(KEY, stored(clock, age=10, faq=NEWER)) is entry
    clock.advance(30)
    assert cache.apply(KEY, stored(clock, age=0, faq=FAQ.from_dict(samples.pricing()))).faq is PRICING
    assert need_of(cache) is Need.NOTHING
    assert cache.apply(KEY, stored(clock, age=-1, faq=NEWER)).faq is NEWER


def test_a_stale_stored_record_ends_no_back_off(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    cache.apply(KEY, DOWN)
    cache.apply(KEY, stored(clock, age=70))
    state = state_in(cache)
    assert (need_of(cache), state.error, state.is_degraded) == (Need.NOTHING, DOWN.error, True)
    cache.apply(KEY, stored(clock, age=5))
    state = state_in(cache)
    assert (need_of(cache), state.error, state.is_degraded) == (Need.NOTHING, None, False)


def test_a_stored_record_does_not_undo_the_first_of_two_404s(clock: Clock) -> None:
    cache = make_cache(clock, not_found_for=30)
    record = stored(clock, age=100)
    for _ in range(2):
        clock.advance(100)
        cache.apply(KEY, record)
        cache.apply(KEY, NOT_FOUND)
    assert isinstance(state_in(cache).error, FAQNotFound)
    assert state_in(cache).data is None


def test_a_404_from_before_another_process_fetched_the_record_counts_no_more(clock: Clock) -> None:
    cache = make_cache(clock, not_found_for=30)
    cache.apply(KEY, fetched())
    clock.advance(100)
    cache.apply(KEY, NOT_FOUND)
    clock.advance(100)
    cache.apply(KEY, stored(clock, age=70))
    cache.apply(KEY, NOT_FOUND)
    assert state_in(cache).data == PRICING


def test_a_record_is_stored_with_what_is_left_of_its_lifetime(clock: Clock) -> None:
    cache = make_cache(clock, random=lambda: 1.0)
    entry = cache.apply(KEY, fetched(etag='"v1"'))
    clock.advance(10)
    record = cache.to_store(entry)
    assert record is not None
    assert record.fresh_for == pytest.approx(60 * (1 - JITTER) - 10)
    assert record == StoredFAQ(
        PRICING,
        entry.updated_at or clock.wall(),
        record.fresh_for,
        Validators('"v1"'),
        CacheControl(60),
    )
    assert cache.to_store(cache.apply(Key("gone", None), NOT_FOUND)) is None


def test_an_expired_cache_shows_its_records_and_refreshes_them(clock: Clock) -> None:
    cache = make_cache(clock)
    cache.apply(KEY, fetched())
    cache.expire()
    state = state_in(cache)
    assert (need_of(cache), state.data, state.is_stale) == (Need.REFRESH, PRICING, True)
