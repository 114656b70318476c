"""An embed whose FAQs are not cached at first: they arrive once the event loop runs on, or never."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from faqsvc_embed import FAQ, FAQEmbed, FAQNotFound
from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl, Fetched, NotFound
from faqsvc_embed.cache.entry import Key, Need, need
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.memory import MemoryCache


def slow_embed(faqs: Mapping[str, FAQ], *, hanging: Collection[str] = (), **settings: Any) -> FAQEmbed:
    """Return an embed that has these FAQs by slug; those in `hanging` never arrive."""
    embed = FAQEmbed(**{"base_url": "https://faq.invalid", **settings})
    reader: Any = embed.reader
    reader.fetcher = SlowFetcher(faqs, hanging, reader.cache)  # no thread, so that each turn is the same
    return embed


class SlowFetcher:
    """Fetches records from a mapping; each arrives at the next turn of the event loop."""

    is_waiting = True
    feed_lag = None

    def __init__(self, faqs: Mapping[str, FAQ], hanging: Collection[str], cache: MemoryCache) -> None:
        self._faqs = faqs
        self._hanging = hanging
        self._cache = cache
        self._fetches: dict[Key, Fetch] = {}

    def get_or_start(self, key: Key) -> Fetch | None:
        if key.token is not None:
            fetch = Fetch(key)
            error = FAQNotFound("there are no drafts", status=403)
            fetch.resolve(self._cache.entry_after(key, NotFound(error)))
            return fetch
        if need(self._cache.get(key), self._cache.clock()) is Need.NOTHING:
            return None
        found = self._fetches.get(key)
        if found is None:
            found = self._fetches[key] = Fetch(key)
            if key.slug not in self._hanging:
                try:
                    asyncio.get_running_loop().call_soon(self._finish, key)
                except RuntimeError:  # in a thread: a caller can wait
                    self._finish(key)
        return found

    def _finish(self, key: Key) -> None:
        faq = self._faqs.get(key.slug)
        outcome: Fetched | NotFound = NotFound(FAQNotFound(f"there is no FAQ {key.slug!r} here"))
        if faq is not None:
            outcome = Fetched(faq, CacheControl(), Validators())
        fetch = self._fetches.pop(key)
        fetch.resolve(self._cache.apply(key, outcome))

    def is_fetching(self, key: Key | None = None) -> bool:
        return bool(self._fetches) if key is None else key in self._fetches

    def is_running(self, fetch: Fetch) -> bool:
        return self._fetches.get(fetch.key) is fetch

    def forget(self, slug: str | None = None) -> None:
        self._cache.forget(slug)

    def close(self) -> None:
        pass
