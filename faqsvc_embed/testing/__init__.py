"""For the tests of host projects: an embed whose FAQs are at hand, without network, threads or waiting."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from faqsvc_embed.api.reading import CachePolicy, Found, Missing, Validators
from faqsvc_embed.cache.entries import Cache, Entry, Key
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.models import FAQ


def fake_embed(faqs: Mapping[str, FAQ | Mapping[str, Any]], **settings: Any) -> FAQEmbed:
    """Return an embed that knows exactly these FAQs by slug, in whatever language is asked for.

    A record may be an FAQ or a mapping in the wire's form, whose `slug` may be left out. Every other slug
    is not found. Settings are as for `FAQEmbed`.

    Raises:
        InvalidFAQ: a mapping is no FAQ record.
        ConfigurationError: a setting cannot be.
    """
    embed = FAQEmbed(**{"base_url": "https://faq.invalid", **settings})  # RFC 2606: no such host
    fake_faqs(embed, faqs)
    return embed


def fake_faqs(embed: FAQEmbed, faqs: Mapping[str, FAQ | Mapping[str, Any]]) -> None:
    """Let the embed of an application know exactly these FAQs from here on, as `fake_embed` does.

    For an application that is made when its module is imported; its settings and templates stay.

    Raises:
        InvalidFAQ: a mapping is no FAQ record.
    """
    records = {
        slug: faq if isinstance(faq, FAQ) else FAQ.from_dict({**faq, "slug": slug})
        for slug, faq in faqs.items()
    }
    embed.serve_from(_Shelf(records, embed.cache))


class _Flight:
    """A fetch that has landed before anybody waits."""

    def __init__(self, entry: Entry) -> None:
        self.landed: Future[Entry] = Future()
        self.landed.set_result(entry)


class _Shelf:
    """Stands in for the fetcher: what is there is found at once, the rest is missing."""

    def __init__(self, records: Mapping[str, FAQ], cache: Cache) -> None:
        self._records = records
        self._cache = cache

    def join(self, key: Key) -> _Flight:
        faq = self._records.get(key.slug)
        if faq is None:
            return _Flight(self._cache.apply(key, Missing(FAQNotFound(f"no FAQ {key.slug!r} in this fake"))))
        return _Flight(self._cache.apply(key, Found(faq, CachePolicy(), Validators())))

    def is_flying(self, key: Key | None = None) -> bool:
        return False

    def drive(self, key: Key, seconds: float) -> bool:
        return False

    def forget(self, slug: str | None = None) -> None:
        self._cache.forget(slug)

    def close(self) -> None:
        pass
