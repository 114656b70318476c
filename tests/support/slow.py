"""An embed whose FAQs are not held at first: they arrive once the event loop runs on, or never."""

import asyncio
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from faqsvc_embed import FAQ, FAQEmbed, FAQNotFound
from faqsvc_embed.api.reading import CachePolicy, Found, Missing, Outcome, Validators
from faqsvc_embed.cache.entries import Cache, Entry, Key


def slow_embed(faqs: Mapping[str, FAQ], *, hanging: Collection[str] = (), **settings: Any) -> FAQEmbed:
    """Return an embed that knows these FAQs by slug; those in `hanging` never arrive."""
    embed = FAQEmbed(**{"base_url": "https://faq.invalid", **settings})
    embed.serve_from(SlowFetcher(faqs, hanging, embed.cache))
    return embed


@dataclass
class SlowFlight:
    """A fetch under way."""

    landed: Future[Entry] = field(default_factory=Future)


class SlowFetcher:
    """Stands in for the fetcher: what is there arrives at the next turn of the event loop."""

    def __init__(self, faqs: Mapping[str, FAQ], hanging: Collection[str], cache: Cache) -> None:
        self._faqs = faqs
        self._hanging = hanging
        self._cache = cache
        self._flights: dict[Key, SlowFlight] = {}

    def join(self, key: Key) -> SlowFlight:
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = SlowFlight()
            if key.slug not in self._hanging:
                try:
                    asyncio.get_running_loop().call_soon(self._land, key)
                except RuntimeError:  # in a thread: a caller can wait
                    self._land(key)
        return flight

    def _land(self, key: Key) -> None:
        faq = self._faqs.get(key.slug)
        outcome: Outcome = Missing(FAQNotFound(f"no FAQ {key.slug!r} here"))
        if faq is not None:
            outcome = Found(faq, CachePolicy(), Validators())
        self._flights.pop(key).landed.set_result(self._cache.apply(key, outcome))

    def is_flying(self, key: Key | None = None) -> bool:
        return bool(self._flights) if key is None else key in self._flights

    def drive(self, key: Key, seconds: float) -> bool:
        return False

    def forget(self, slug: str | None = None) -> None:
        self._cache.forget(slug)

    def close(self) -> None:
        pass
