"""The cache's decisions: what is held, for how long, and what a call does about it. No network, no sleep."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from faqsvc_embed import FAQ, FAQError, FAQNotFound, FAQState, FAQUnavailable, RateLimited, Settings
from faqsvc_embed.api.reading import (
    CachePolicy,
    Failed,
    Found,
    Missing,
    NotModified,
    Outcome,
    Validators,
    cache_policy,
)
from faqsvc_embed.cache.entries import (
    JITTER,
    LONGEST_BACK_OFF,
    Cache,
    Entry,
    Key,
    Want,
    snapshot,
    want,
)
from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.cache.stored import Copy
from tests.support import samples
from tests.support.clock import EPOCH, Clock

KEY = Key("pricing", None)
PRICING = FAQ.from_dict(samples.pricing())
NEWER = FAQ.from_dict({**samples.pricing(), "title": "Newer"})
DOWN = FAQUnavailable("down", status=500)
GONE = FAQNotFound("gone", status=404)
MINUTE = CachePolicy(lifetime=60)


def holding(clock: Clock, *, chance: Callable[[], float] = lambda: 0.0, **limits: Any) -> Cache:
    """Return an empty cache; `chance` is 0 unless given: no jitter, and no pause after a failure."""
    return Cache(clock=clock.now, wall_clock=clock.wall, chance=chance, **limits)


def found(faq: FAQ = PRICING, policy: CachePolicy = MINUTE, etag: str | None = None) -> Found:
    return Found(faq, policy, Validators(etag))


def wants(cache: Cache, key: Key = KEY) -> Want:
    return want(cache.get(key), cache.clock())


def shown(cache: Cache, key: Key = KEY, *, is_fetching: bool = False) -> FAQState:
    return snapshot(cache.get(key), key, cache.clock(), is_fetching=is_fetching)


def columns(state: FAQState) -> tuple[bool, bool, bool, FAQ | None, FAQError | None]:
    """Return what the table of rule U tells the states apart by."""
    return state.is_loading, state.is_fetching, state.is_stale, state.data, state.error


# The table: every state of the cache, and every column


def test_a_fresh_copy_is_shown_as_it_is(clock: Clock) -> None:  # U1, row 1
    cache = holding(clock)
    cache.apply(KEY, found())
    assert wants(cache) is Want.NOTHING
    assert shown(cache) == FAQState(data=PRICING, source="memory", updated_at=EPOCH)
    assert columns(shown(cache)) == (False, False, False, PRICING, None)
    assert (shown(cache).status, shown(cache).is_degraded) == ("success", False)


def test_a_stale_copy_is_shown_while_its_refresh_runs(clock: Clock) -> None:  # U1, row 2; K3
    cache = holding(clock)
    cache.apply(KEY, found())
    clock.advance(60)
    assert wants(cache) is Want.REFRESH
    state = shown(cache, is_fetching=True)
    assert state == FAQState(data=PRICING, is_fetching=True, is_stale=True, source="memory", updated_at=EPOCH)
    assert columns(state) == (False, True, True, PRICING, None)


def test_a_stale_copy_outlives_the_failure_of_its_refresh(clock: Clock) -> None:  # U1, row 3; U3, K4
    cache = holding(clock, chance=lambda: 1.0)
    cache.apply(KEY, found())
    clock.advance(63)
    cache.apply(KEY, Failed(DOWN))
    assert wants(cache) is Want.NOTHING
    state = shown(cache)
    assert state == FAQState(
        data=PRICING, error=DOWN, is_stale=True, is_degraded=True, source="memory", updated_at=EPOCH
    )
    assert columns(state) == (False, False, True, PRICING, DOWN)
    assert (state.status, state.is_refetch_error) == ("success", True)


def test_the_next_attempt_does_not_repeat_the_error_of_the_last(clock: Clock) -> None:  # U1, row 2
    cache = holding(clock)
    cache.apply(KEY, found())
    clock.advance(60)
    cache.apply(KEY, Failed(DOWN))
    assert wants(cache) is Want.REFRESH
    state = shown(cache, is_fetching=True)
    assert columns(state) == (False, True, True, PRICING, None)
    assert state.is_degraded


def test_what_just_came_is_of_the_network_for_the_call_that_waited(clock: Clock) -> None:  # U1, row 4
    entry = holding(clock).apply(KEY, found())
    state = snapshot(entry, KEY, clock.now(), source="network")
    assert state == FAQState(data=PRICING, source="network", updated_at=EPOCH)
    assert columns(state) == (False, False, False, PRICING, None)


def test_nothing_is_shown_while_the_first_fetch_runs(clock: Clock) -> None:  # U1, row 5; U2
    cache = holding(clock)
    assert wants(cache) is Want.ANSWER
    state = shown(cache, is_fetching=True)
    assert state == FAQState(is_fetching=True)
    assert columns(state) == (True, True, False, None, None)
    assert state.status == "pending"


def test_a_first_fetch_that_failed_leaves_its_error(clock: Clock) -> None:  # U1, row 6; U3
    cache = holding(clock, chance=lambda: 1.0)
    cache.apply(KEY, Failed(DOWN))
    assert wants(cache) is Want.NOTHING
    assert shown(cache) == FAQState(error=DOWN)
    assert columns(shown(cache)) == (False, False, False, None, DOWN)
    assert (shown(cache).status, shown(cache).is_refetch_error) == ("error", False)


def test_offline_nothing_is_unavailable_and_what_is_held_is_shown(clock: Clock) -> None:  # U1, row 7; R8
    cache = holding(clock)
    reader = Reader(Settings(base_url="https://faq.invalid", offline=True), cache)
    state = reader.read(KEY, wait=5)
    assert columns(state)[:4] == (False, False, False, None)
    assert isinstance(state.error, FAQUnavailable)
    assert str(state.error) == ("offline, and no copy of 'pricing' is held without store=\"file:DIRECTORY\"")
    cache.apply(KEY, found())
    clock.advance(61)
    assert columns(reader.read(KEY, wait=5)) == (False, False, True, PRICING, None)


def test_a_missing_faq_is_not_found(clock: Clock) -> None:  # U1, row 8
    cache = holding(clock)
    cache.apply(KEY, Missing(GONE))
    assert wants(cache) is Want.NOTHING
    assert shown(cache) == FAQState(error=GONE)
    assert columns(shown(cache)) == (False, False, False, None, GONE)


def test_a_snapshot_names_the_language_asked_for_and_the_one_that_came(clock: Clock) -> None:
    cache, key = holding(clock), Key("pricing", "de")
    assert (shown(cache, key).lang_requested, shown(cache, key).lang_served) == ("de", None)
    cache.apply(key, found())
    assert (shown(cache, key).lang_requested, shown(cache, key).lang_served) == ("de", "en")


def test_a_snapshot_does_not_change_when_the_copy_does(clock: Clock) -> None:  # U4
    cache = holding(clock)
    cache.apply(KEY, found())
    before = shown(cache)
    cache.apply(KEY, found(NEWER))
    assert (before.data, shown(cache).data) == (PRICING, NEWER)
    with pytest.raises(AttributeError):
        before.data = NEWER  # type: ignore[misc]


# How long a copy is fresh


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache-control": "max-age=3600"}, 3600.0),
        ({"cache-control": "max-age=3600", "age": "600"}, 3000.0),
        ({"cache-control": "max-age=60, s-maxage=600"}, 600.0),  # K2
        ({"cache-control": "public"}, 77.0),  # K2: fresh_for
        ({}, 77.0),
    ],
)
def test_a_copy_is_fresh_for_as_long_as_the_reply_says(
    clock: Clock, headers: dict[str, str], seconds: float
) -> None:  # K1, K2
    cache = holding(clock, fresh_for=77)
    cache.apply(KEY, found(policy=cache_policy(headers, EPOCH)))
    clock.advance(seconds - 0.001)
    assert wants(cache) is Want.NOTHING
    clock.advance(0.001)
    assert wants(cache) is Want.REFRESH


@pytest.mark.parametrize("directive", ["no-store", "no-cache", "max-age=0"])
def test_a_copy_that_may_not_be_reused_is_asked_for_again_at_once(clock: Clock, directive: str) -> None:
    cache = holding(clock)
    cache.apply(KEY, found(policy=cache_policy({"cache-control": directive}, EPOCH)))
    assert wants(cache) is Want.REFRESH
    assert shown(cache, is_fetching=True).data is PRICING


def test_copies_fetched_together_do_not_expire_in_the_same_second(clock: Clock) -> None:  # K13
    cache = holding(clock, chance=random.Random(7).random)
    policy = CachePolicy(lifetime=3600)
    ends = [cache.apply(Key(f"faq-{n}", None), found(policy=policy)).fresh_until for n in range(100)]
    assert all(3600 <= end - clock.now() <= 3600 * (1 + JITTER) for end in ends)
    assert len({int(end) for end in ends}) > 50


def test_only_the_monotonic_clock_decides(clock: Clock) -> None:  # K15
    cache = holding(clock)
    cache.apply(KEY, found())
    for days in (1, -1, 10_000):
        clock.set_wall(EPOCH + timedelta(days=days))
        assert wants(cache) is Want.NOTHING
    clock.advance(60)
    clock.set_wall(EPOCH - timedelta(days=1))
    assert wants(cache) is Want.REFRESH
    cache.apply(KEY, Failed(RateLimited("later", retry_after=10)))
    clock.set_wall(EPOCH + timedelta(days=1))
    assert wants(cache) is Want.NOTHING
    clock.advance(10)
    assert wants(cache) is Want.REFRESH


# How long a copy is kept


def test_a_copy_is_shown_through_an_outage_until_keep_for_ends(clock: Clock) -> None:  # K4
    cache = holding(clock, keep_for=100)
    cache.apply(KEY, found())
    clock.advance(159.9)
    cache.apply(KEY, Failed(DOWN))
    assert shown(cache).data is PRICING
    clock.advance(0.2)
    assert wants(cache) is Want.ANSWER
    assert columns(shown(cache)) == (False, False, False, None, DOWN)
    assert columns(shown(cache, is_fetching=True)) == (True, True, False, None, None)


def test_a_copy_that_is_too_old_says_so_where_nobody_may_ask(clock: Clock) -> None:  # K4, R8
    cache = holding(clock, keep_for=0)
    cache.apply(KEY, found())
    assert shown(cache).data is PRICING
    clock.advance(60)
    error = shown(cache).error
    assert isinstance(error, FAQUnavailable)
    assert str(error) == "the copy of 'pricing' is older than keep_for allows"


def test_a_copy_can_be_kept_for_ever(clock: Clock) -> None:  # K4
    cache = holding(clock, keep_for=None)
    cache.apply(KEY, found())
    clock.advance(1e9)
    assert wants(cache) is Want.REFRESH
    cache.apply(KEY, Failed(DOWN))
    assert shown(cache).data is PRICING


def test_must_revalidate_waits_for_the_answer_and_still_shows_the_last_good_copy(clock: Clock) -> None:  # K4
    cache = holding(clock, chance=lambda: 1.0)
    cache.apply(KEY, found(policy=CachePolicy(lifetime=60, must_revalidate=True)))
    clock.advance(62)
    assert wants(cache) is Want.NOTHING
    clock.advance(1)
    assert wants(cache) is Want.ANSWER
    cache.apply(KEY, Failed(DOWN))
    assert columns(shown(cache)) == (False, False, True, PRICING, DOWN)


@pytest.mark.parametrize("error", [DOWN, RateLimited("slow down"), FAQUnavailable("no key", status=401)])
def test_no_failure_takes_a_good_copy_away(clock: Clock, error: FAQError) -> None:  # K7, K9
    cache = holding(clock)
    cache.apply(KEY, found(etag='"1"'))
    for _ in range(20):
        clock.advance(61)
        entry = cache.apply(KEY, Failed(error))
        assert (entry.faq, entry.validators) == (PRICING, Validators('"1"'))
        assert shown(cache).data is PRICING


def test_a_success_ends_a_failure(clock: Clock) -> None:
    cache = holding(clock, chance=lambda: 1.0)
    cache.apply(KEY, found())
    clock.advance(63)
    cache.apply(KEY, Failed(DOWN))
    clock.advance(1)
    entry = cache.apply(KEY, found(NEWER))
    assert (entry.failures, entry.error, entry.retry_at) == (0, None, 0.0)
    assert shown(cache) == FAQState(data=NEWER, source="memory", updated_at=EPOCH + timedelta(seconds=64))


# 304


def test_not_modified_renews_the_copy_and_keeps_everything_of_it(clock: Clock) -> None:  # K5
    cache = holding(clock)
    first = cache.apply(KEY, found(etag='"1"'))
    first.rendered["a look"] = "a block"
    clock.advance(100)
    cache.apply(KEY, Failed(DOWN))
    second = cache.apply(KEY, NotModified(CachePolicy(lifetime=30)))
    assert (second.faq, second.validators, second.rendered) == (
        PRICING,
        Validators('"1"'),
        {"a look": "a block"},
    )
    assert shown(cache) == FAQState(data=PRICING, source="memory", updated_at=EPOCH + timedelta(seconds=100))
    clock.advance(29.9)
    assert wants(cache) is Want.NOTHING
    clock.advance(0.2)
    assert wants(cache) is Want.REFRESH


def test_not_modified_that_says_nothing_leaves_what_was_said(clock: Clock) -> None:  # K1, K2, K5
    """RFC 9111, 4.3.4: the header fields of the 200 stay, but for those that the 304 has."""
    cache = holding(clock)
    policy = CachePolicy(lifetime=60, must_revalidate=True, no_store=True, private=True)
    cache.apply(KEY, Found(PRICING, policy, Validators('"1"', "yesterday")))
    clock.advance(100)
    entry = cache.apply(KEY, NotModified(validators=Validators('"2"')))
    assert (entry.policy, entry.validators) == (policy, Validators('"2"', "yesterday"))
    clock.advance(59.9)
    assert wants(cache) is Want.NOTHING
    clock.advance(0.2)
    assert wants(cache) is Want.ANSWER


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("stated", "lifetime"), [(60, 60), (None, 3600)])
def test_a_lifetime_neither_grows_nor_shrinks_as_copies_go_from_process_to_process(
    clock: Clock, chance: float, stated: float | None, lifetime: float
) -> None:  # K1
    cache = holding(clock, chance=lambda: chance)
    entry = cache.apply(KEY, found(policy=CachePolicy(stated)))
    for _ in range(5):
        copy = cache.copy_of(entry)
        assert copy is not None
        copy = Copy.from_json(copy.to_json("https://faq.example").encode(), "https://faq.example", *KEY)
        cache = holding(clock, chance=lambda: chance)
        cache.adopt(KEY, copy)
        clock.advance(copy.fresh_for)
        entry = cache.apply(KEY, NotModified())
    assert entry.fresh_until - clock.now() == pytest.approx(lifetime * (1 + JITTER * chance))


def test_an_age_counts_once(clock: Clock) -> None:  # K1
    cache = holding(clock)
    cache.apply(KEY, found(policy=CachePolicy(lifetime=60, age=60)))
    assert wants(cache) is Want.REFRESH
    entry = cache.apply(KEY, NotModified(age=10))
    assert entry.fresh_until == clock.now() + 50


def test_a_new_record_drops_what_was_rendered_of_the_old(clock: Clock) -> None:
    cache = holding(clock)
    cache.apply(KEY, found()).rendered["a look"] = "a block"
    assert cache.apply(KEY, found(NEWER)).rendered == {}


@pytest.mark.parametrize("before", [None, Failed(DOWN), Missing(GONE)])
def test_not_modified_without_a_copy_is_a_failure(clock: Clock, before: Outcome | None) -> None:  # K5
    cache = holding(clock)
    if before is not None:
        cache.apply(KEY, before)
    entry = cache.apply(KEY, NotModified(MINUTE))
    assert (entry.faq, entry.validators) == (None, Validators())
    assert wants(cache) is Want.ANSWER
    assert isinstance(shown(cache).error, FAQUnavailable)


# Missing


def test_a_missing_faq_is_believed_for_a_while(clock: Clock) -> None:  # K6
    cache = holding(clock, not_found_for=30)
    cache.apply(KEY, Missing(GONE))
    clock.advance(29.9)
    assert wants(cache) is Want.NOTHING
    clock.advance(0.1)
    assert wants(cache) is Want.ANSWER
    assert columns(shown(cache, is_fetching=True)) == (True, True, False, None, None)
    cache.apply(KEY, found())
    assert columns(shown(cache)) == (False, False, False, PRICING, None)


def test_an_faq_that_was_taken_down_is_no_longer_shown(clock: Clock) -> None:  # K6
    cache = holding(clock)
    cache.apply(KEY, found())
    clock.advance(60)
    cache.apply(KEY, Missing(GONE))
    assert columns(shown(cache)) == (False, False, False, None, GONE)
    cache.apply(KEY, Failed(DOWN))
    assert columns(shown(cache)) == (False, False, False, None, DOWN)


# Back-off


def pauses(cache: Cache, clock: Clock, count: int, error: FAQError = DOWN) -> list[float]:
    """Return how long nothing is asked after each of `count` failures in a row."""
    return [cache.apply(KEY, Failed(error)).retry_at - clock.now() for _ in range(count)]


def test_the_back_off_doubles_up_to_a_minute(clock: Clock) -> None:  # K14
    cache = holding(clock, chance=lambda: 1.0)
    assert pauses(cache, clock, 9) == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert set(pauses(cache, clock, 2000)) == {LONGEST_BACK_OFF}


def test_the_back_off_has_full_jitter(clock: Clock) -> None:  # K14
    assert pauses(holding(clock, chance=lambda: 0.5), clock, 3) == [0.5, 1, 2]
    drawn = pauses(holding(clock, chance=random.Random(7).random), clock, 500)[6:]
    assert all(0 <= pause <= LONGEST_BACK_OFF for pause in drawn)
    assert (min(drawn) < 6, max(drawn) > 54) == (True, True)


def test_the_back_off_begins_anew_after_a_success(clock: Clock) -> None:  # K14
    cache = holding(clock, chance=lambda: 1.0)
    pauses(cache, clock, 5)
    cache.apply(KEY, found())
    clock.advance(100)
    assert pauses(cache, clock, 2) == [1, 2]


def test_nothing_is_asked_during_the_back_off(clock: Clock) -> None:  # K14
    cache = holding(clock, chance=lambda: 1.0)
    pauses(cache, clock, 3)
    clock.advance(3.999)
    assert wants(cache) is Want.NOTHING
    clock.advance(0.001)
    assert wants(cache) is Want.ANSWER


def test_retry_after_is_not_called_before(clock: Clock) -> None:  # K8
    cache = holding(clock, chance=lambda: 1.0)
    assert pauses(cache, clock, 2, RateLimited("later", retry_after=120)) == [120, 120]
    assert pauses(cache, clock, 1, RateLimited("later", retry_after=0)) == [4]
    assert pauses(cache, clock, 1, RateLimited("later", retry_after=3)) == [8]


# Bounds


def test_the_cache_never_holds_more_than_it_may(clock: Clock) -> None:  # K16
    for bound in (1, 2, 19, 20, 21, 100):
        cache = holding(clock, max_entries=bound)
        for number in range(5 * bound):
            key = Key(f"bot-{number}", None)
            cache.apply(key, found())
            assert cache.get(key) is not None
            assert len(list(cache.entries())) <= bound


def test_a_flood_of_slugs_does_not_wash_out_what_is_held(clock: Clock) -> None:  # K16
    cache = holding(clock, max_entries=20)
    real = [Key(f"real-{number}", None) for number in range(10)]
    for key in real:
        cache.apply(key, found())
    for number in range(10_000):
        clock.advance(0.001)
        cache.apply(Key(f"bot-{number}", None), Missing(GONE))
    assert [key for key in real if cache.get(key) is None] == []
    assert len(list(cache.entries())) <= 20


def test_the_least_recently_used_gives_way(clock: Clock) -> None:  # K16
    cache = holding(clock, max_entries=3)
    reader = Reader(Settings(base_url="https://faq.invalid", offline=True), cache)
    for slug in "abc":
        clock.advance(1)
        cache.apply(Key(slug, None), found())
    clock.advance(1)
    reader.read(Key("a", None), wait=0)
    cache.apply(Key("d", None), found())
    assert {entry.key.slug for entry in cache.entries()} == {"a", "c", "d"}


def test_forgetting_drops_a_slug_in_every_language_or_everything(clock: Clock) -> None:
    cache = holding(clock)
    keys = [Key("pricing", None), Key("pricing", "ko"), Key("pricing2", None), Key("help", "ko")]
    for key in keys:
        cache.apply(key, found())
    cache.forget("pricing")
    assert [entry.key for entry in cache.entries()] == keys[2:]
    assert [cache.get(key) is None for key in keys] == [True, True, False, False]
    cache.forget("unknown")
    assert [entry.key for entry in cache.entries()] == keys[2:]
    cache.forget()
    assert list(cache.entries()) == []


def test_a_lock_that_died_with_its_thread_is_replaced(clock: Clock) -> None:  # F2
    cache = holding(clock)
    cache.lock.acquire()  # as another thread did at the moment of a fork
    cache.reset_lock()
    assert cache.apply(KEY, found()).faq is PRICING


# The state machine: whatever happens in whatever order


keys = st.sampled_from([Key(slug, lang) for slug in "abcd" for lang in (None, "ko")])
lifetimes = st.none() | st.sampled_from([0.0, 1.0, 60.0, 3600.0])
policies = st.builds(CachePolicy, lifetime=lifetimes, must_revalidate=st.booleans())
errors = st.sampled_from([DOWN, RateLimited("later", retry_after=30.0), FAQUnavailable("at once")])
records = st.integers().map(lambda number: FAQ("a", title=str(number)))


class Holding(RuleBasedStateMachine):
    """A cache, the flights that its wants start, and a clock; a model remembers the last good records."""

    flights = Bundle("flights")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.random = random.Random(7)
        self.cache = Cache(
            fresh_for=100,
            keep_for=1000,
            not_found_for=10,
            max_entries=5,
            clock=self.clock.now,
            wall_clock=self.clock.wall,
            chance=self.random.random,
        )
        self.flying = set[Key]()
        self.good = dict[Key, FAQ]()

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 30.0, 100.0, 1000.0, 5000.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(days=st.integers(-400, 400))
    def somebody_sets_the_wall_clock(self, days: int) -> None:  # K15
        entries = list(self.cache.entries())
        before = [want(entry, self.clock.now()) for entry in entries]
        self.clock.set_wall(EPOCH + timedelta(days=days))
        assert [want(entry, self.clock.now()) for entry in entries] == before

    @rule(target=flights, key=keys)
    def a_page_asks(self, key: Key) -> Any:
        if key in self.flying or want(self.cache.get(key), self.clock.now()) is Want.NOTHING:
            return multiple()
        self.flying.add(key)
        return key

    def land(self, key: Key, outcome: Outcome) -> Entry:
        self.flying.discard(key)
        return self.cache.apply(key, outcome)

    @rule(key=consumes(flights), faq=records, policy=policies)
    def a_record_comes(self, key: Key, faq: FAQ, policy: CachePolicy) -> None:
        entry = self.land(key, Found(faq, policy, Validators('"1"')))
        self.good[key] = faq
        assert (entry.faq, entry.error, entry.failures) == (faq, None, 0)

    @rule(key=consumes(flights), policy=policies)
    def nothing_has_changed(self, key: Key, policy: CachePolicy) -> None:
        before = self.cache.get(key)
        entry = self.land(key, NotModified(policy))
        assert entry.faq is (before.faq if before is not None else None)
        assert (entry.error is None) == (entry.faq is not None)

    @rule(key=consumes(flights), error=errors)
    def a_fetch_fails(self, key: Key, error: FAQError) -> None:
        before = self.cache.get(key)
        entry = self.land(key, Failed(error))
        assert entry.faq is (before.faq if before is not None else None)
        assert entry.retry_at >= self.clock.now() + (error.retry_after or 0.0)
        assert entry.retry_at <= self.clock.now() + max(LONGEST_BACK_OFF, error.retry_after or 0.0)

    @rule(key=consumes(flights))
    def there_is_none(self, key: Key) -> None:
        self.land(key, Missing(GONE))
        self.good.pop(key, None)

    @rule(slug=st.sampled_from([*"abcd", None]))
    def a_host_forgets(self, slug: str | None) -> None:
        self.cache.forget(slug)
        for key in list(self.good):
            if slug is None or key.slug == slug:
                del self.good[key]

    @invariant()
    def the_cache_is_bounded(self) -> None:  # K16
        assert len(list(self.cache.entries())) <= 5

    @invariant()
    def what_is_held_is_the_last_good_record_or_nothing(self) -> None:  # K4, K9
        for entry in self.cache.entries():
            assert entry.faq is None or entry.faq is self.good[entry.key]

    @invariant()
    def every_state_is_one_of_the_table(self) -> None:  # U1, U2, U3
        now = self.clock.now()
        for entry in self.cache.entries():
            is_fetching = entry.key in self.flying
            state = snapshot(entry, entry.key, now, is_fetching=is_fetching)
            assert state.is_fetching == (is_fetching and not now < entry.fresh_until)
            assert state.is_loading == (state.data is None and state.is_fetching)
            assert not (state.error is not None and state.is_fetching)
            assert state.data is not None or state.error is not None or state.is_fetching
            assert state.is_stale == (state.data is not None and now >= entry.fresh_until)
            assert state.is_degraded <= state.is_stale
            assert state.is_refetch_error <= state.is_degraded
            assert (state.source, state.updated_at is None) == (
                ("none", True) if state.data is None else ("memory", False)
            )
            assert (state.error is None) or not state.data or state.is_degraded

    @invariant()
    def nothing_is_asked_before_its_time(self) -> None:  # K1, K8, K14
        now = self.clock.now()
        for entry in self.cache.entries():
            rests = now < entry.fresh_until or now < entry.retry_at
            assert (want(entry, now) is Want.NOTHING) == rests
            shows = snapshot(entry, entry.key, now, is_fetching=True).data is not None
            assert want(entry, now) is not Want.REFRESH or shows


TestHolding = Holding.TestCase


# Copies that another process left


def copy_of(clock: Clock, age: float, fresh_for: float = 60.0, faq: FAQ = PRICING, **more: Any) -> Copy:
    return Copy(faq, None, clock.wall() - timedelta(seconds=age), fresh_for, **more)


@pytest.mark.parametrize(("age", "expected"), [(0, Want.NOTHING), (59, Want.NOTHING), (60, Want.REFRESH)])
def test_a_copy_is_as_old_as_the_process_before_made_it(clock: Clock, age: float, expected: Want) -> None:
    cache = holding(clock)
    cache.adopt(KEY, copy_of(clock, age))
    assert wants(cache) is expected
    assert shown(cache).data == PRICING
    assert shown(cache).updated_at == clock.wall() - timedelta(seconds=age)


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [(10, Want.NOTHING), (299, Want.NOTHING), (301, Want.REFRESH), (86_400, Want.REFRESH)],
)
def test_a_copy_from_the_future_is_shown_and_asked_about(
    clock: Clock, ahead: float, expected: Want
) -> None:  # K15
    cache = holding(clock)
    cache.adopt(KEY, copy_of(clock, -ahead))
    assert (wants(cache), shown(cache).data) == (expected, PRICING)
    assert shown(cache).updated_at == clock.wall()


def test_a_copy_is_kept_no_longer_than_the_process_before_would_have(clock: Clock) -> None:
    cache = holding(clock, keep_for=100)
    cache.adopt(KEY, copy_of(clock, age=150))
    assert shown(cache).data == PRICING
    clock.advance(11)
    assert shown(cache).data is None


def test_the_newer_copy_wins_and_an_equal_record_stays_the_same_object(clock: Clock) -> None:
    cache = holding(clock)
    older = copy_of(clock, age=10, faq=NEWER)
    held = cache.apply(KEY, found())
    assert cache.adopt(KEY, older) is held
    clock.advance(30)
    again = FAQ.from_dict(samples.pricing())
    entry = cache.adopt(KEY, copy_of(clock, age=0, faq=again))
    assert entry.faq is held.faq
    assert entry.rendered is held.rendered
    assert wants(cache) is Want.NOTHING
    assert cache.adopt(KEY, copy_of(clock, age=-1, faq=NEWER)).faq is NEWER


def test_a_stale_copy_does_not_end_a_back_off(clock: Clock) -> None:  # K14
    cache = holding(clock, chance=lambda: 1.0)
    cache.apply(KEY, Failed(DOWN))
    cache.adopt(KEY, copy_of(clock, age=70))
    assert (wants(cache), shown(cache).error, shown(cache).is_degraded) == (Want.NOTHING, DOWN, True)
    cache.adopt(KEY, copy_of(clock, age=5))
    assert (wants(cache), shown(cache).error, shown(cache).is_degraded) == (Want.NOTHING, None, False)


def test_what_is_adopted_counts_as_an_entry(clock: Clock) -> None:  # K16
    cache = holding(clock, max_entries=3)
    for number in range(10):
        cache.adopt(Key(str(number), None), copy_of(clock, age=0))
    assert len(list(cache.entries())) == 3


def test_a_copy_for_the_next_process_lives_as_long_as_ours(clock: Clock) -> None:
    cache = holding(clock, chance=lambda: 1.0)
    entry = cache.apply(KEY, found(etag='"v1"'))
    copy = cache.copy_of(entry)
    assert copy is not None
    assert copy.fresh_for == pytest.approx(60 * (1 + JITTER))
    assert copy == Copy(PRICING, None, clock.wall(), copy.fresh_for, Validators('"v1"'), lifetime=60)
    assert cache.copy_of(cache.apply(Key("gone", None), Missing(GONE))) is None


def test_expired_copies_are_shown_while_they_are_asked_about(clock: Clock) -> None:
    cache = holding(clock)
    cache.apply(KEY, found())
    cache.expire()
    assert (wants(cache), shown(cache).data, shown(cache).is_stale) == (Want.REFRESH, PRICING, True)
