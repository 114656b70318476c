"""Outcomes of fetches, and caches on a clock that moves by hand."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from faqsvc_embed import FAQ, FAQNotFound, FAQState, FAQUnavailable
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl, Failed, Fetched, Gone, NotFound
from faqsvc_embed.cache.entry import Key, Lifetimes, Need, StoredFAQ, need, state_of
from faqsvc_embed.cache.memory import MemoryCache
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import PRICING

KEY: Final = Key("pricing", None)
NEWER: Final = FAQ.from_dict({**samples.pricing(), "title": "Newer"})
MINUTE: Final = CacheControl(60)

DOWN: Final = Failed(FAQUnavailable("down", status=500))
NOT_FOUND: Final = NotFound(FAQNotFound("not found", status=404))
GONE: Final = Gone(FAQNotFound("gone", status=410))


def make_cache(
    clock: Clock,
    *,
    random: Callable[[], float] = lambda: 0.0,
    max_entries: int = 1000,
    **lifetimes: float,
) -> MemoryCache:
    """Return an empty cache; with `random` always 0 there is no jitter, and no back-off after a failure."""
    seconds = {"fresh_for": 77.0, "keep_for": 1000.0, "not_found_for": 60.0, **lifetimes}
    return MemoryCache(
        Lifetimes(**seconds), max_entries, clock=clock.now, wall_clock=clock.wall, random=random
    )


def fetched(faq: FAQ = PRICING, cache_control: CacheControl = MINUTE, etag: str | None = None) -> Fetched:
    return Fetched(faq, cache_control, Validators(etag))


def stored(clock: Clock, age: float, fresh_for: float = 60.0, faq: FAQ = PRICING, **more: Any) -> StoredFAQ:
    """Return a record that another process has stored `age` seconds ago."""
    return StoredFAQ(faq, clock.wall() - timedelta(seconds=age), fresh_for, **more)


def need_of(cache: MemoryCache, key: Key = KEY) -> Need:
    return need(cache.get(key), cache.clock())


def state_in(cache: MemoryCache, key: Key = KEY, *, is_fetching: bool = False) -> FAQState:
    return state_of(cache.get(key), key, cache.clock(), is_fetching=is_fetching)
