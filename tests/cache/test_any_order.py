"""A cache under every order of events, against a model that remembers the last good records."""

import random
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from faqsvc_embed import FAQ, FAQError, FAQUnavailable, RateLimited
from faqsvc_embed.api.responses import CacheControl, Failed, Outcome
from faqsvc_embed.cache.entry import Entry, Key, Need, need, state_of
from faqsvc_embed.runtime.backoff import BACKOFF_CAP
from tests.cache.entry import DOWN, GONE, NOT_FOUND, fetched, make_cache
from tests.support.clock import EPOCH, Clock

keys = st.sampled_from([Key(slug, lang) for slug in "abcd" for lang in (None, "ko")])
cache_controls = st.builds(CacheControl, lifetime=st.none() | st.sampled_from([0.0, 1.0, 60.0, 3600.0]))
errors = st.sampled_from([DOWN.error, RateLimited("later", retry_after=30.0), FAQUnavailable("at once")])
records = st.integers().map(lambda number: FAQ("a", title=str(number)))


class AnyOrder(RuleBasedStateMachine):
    """A cache, the fetches that its needs start, and a clock."""

    fetches = Bundle("fetches")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.cache = make_cache(
            self.clock,
            random=random.Random(7).random,
            max_entries=5,
            fresh_for=100.0,
            keep_for=1000.0,
            not_found_for=10.0,
        )
        self.fetching = set[Key]()
        self.good = dict[Key, FAQ]()

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 30.0, 100.0, 1000.0, 5000.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(days=st.integers(-400, 400))
    def the_wall_clock_is_set(self, days: int) -> None:
        before = [need(entry, self.clock.now()) for entry in self.cache.entries()]
        self.clock.set_wall(EPOCH + timedelta(days=days))
        assert [need(entry, self.clock.now()) for entry in self.cache.entries()] == before

    @rule(target=fetches, key=keys)
    def a_page_looks_up(self, key: Key) -> Any:
        if key in self.fetching or need(self.cache.get(key), self.clock.now()) is Need.NOTHING:
            return multiple()
        self.fetching.add(key)
        return key

    def finish(self, key: Key, outcome: Outcome) -> Entry:
        self.fetching.discard(key)
        return self.cache.apply(key, outcome)

    @rule(key=consumes(fetches), faq=records, cache_control=cache_controls)
    def a_record_arrives(self, key: Key, faq: FAQ, cache_control: CacheControl) -> None:
        entry = self.finish(key, fetched(faq, cache_control, etag='"1"'))
        self.good[key] = faq
        assert (entry.faq, entry.error, entry.failures) == (faq, None, 0)

    @rule(key=consumes(fetches), error=errors)
    def a_fetch_fails(self, key: Key, error: FAQError) -> None:
        before, now = self.cache.get(key), self.clock.now()
        could_be_shown = before is not None and before.is_usable(now)
        entry = self.finish(key, Failed(error))
        assert entry.is_usable(now) == could_be_shown
        assert now + (error.retry_after or 0.0) <= entry.retry_at
        assert entry.retry_at <= now + max(BACKOFF_CAP, error.retry_after or 0.0)

    @rule(key=consumes(fetches))
    def the_service_does_not_know_it(self, key: Key) -> None:
        before, now = self.cache.get(key), self.clock.now()
        since = before.missing_since if before is not None else None
        was_shown = before is not None and before.is_usable(now)
        entry = self.finish(key, NOT_FOUND)
        assert entry.is_usable(now) == (was_shown and (since is None or now - since < 10))

    @rule(key=consumes(fetches))
    def it_was_unpublished(self, key: Key) -> None:
        assert self.finish(key, GONE).faq is None

    @rule(slug=st.sampled_from([*"abcd", None]))
    def a_host_forgets(self, slug: str | None) -> None:
        self.cache.forget(slug)
        assert not [entry for entry in self.cache.entries() if slug in (None, entry.key.slug)]

    @invariant()
    def the_cache_is_bounded(self) -> None:
        assert len(self.cache.entries()) <= 5

    @invariant()
    def a_cached_record_is_the_last_good_one(self) -> None:
        for entry in self.cache.entries():
            assert entry.faq is None or entry.faq == self.good[entry.key]

    @invariant()
    def states_are_consistent(self) -> None:
        now = self.clock.now()
        for entry in self.cache.entries():
            is_fetching = entry.key in self.fetching
            state = state_of(entry, entry.key, now, is_fetching=is_fetching)
            assert state.is_fetching == (is_fetching and not entry.is_fresh(now))
            assert state.data is not None or state.error is not None or state.is_fetching
            assert state.is_stale == (state.data is not None and not entry.is_fresh(now))
            assert (state.data is not None) == entry.is_usable(now)

    @invariant()
    def nothing_is_fetched_before_its_time(self) -> None:
        now = self.clock.now()
        for entry in self.cache.entries():
            rests = entry.is_fresh(now) or now < entry.retry_at
            assert (need(entry, now) is Need.NOTHING) == rests
            assert (need(entry, now) is Need.REFRESH) == (not rests and entry.is_usable(now))


TestAnyOrder = AnyOrder.TestCase
