"""Help for the tests of host projects: an embed with given FAQs, and a page compared with its markup."""

from collections.abc import Mapping
from typing import Any, Unpack

from faqsvc_embed.api.responses import Fetched, NotFound
from faqsvc_embed.cache.entry import Key, state_of
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.source import BaseSource
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError, FAQNotFound
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.runtime.extras import needs_extra
from faqsvc_embed.settings import SettingOptions
from faqsvc_embed.text import normalized

__all__ = ["fake_embed", "fake_faqs", "faq_parity"]

Records = Mapping[str, FAQ | Mapping[str, Any]]


def fake_embed(faqs: Records, **settings: Unpack[SettingOptions]) -> FAQEmbed:
    """Return an embed with exactly these FAQs, by slug. Every requested language gets the same record.

    A record is an `FAQ`, or a mapping with the field names of the REST API, in which `slug` may be missing.
    Any other slug is not found. The settings are those of `FAQEmbed`.

    Raises:
        InvalidFAQ: a mapping is not an FAQ record.
        ConfigurationError: a setting is invalid, or `faqs` is not a mapping of records.
    """
    settings.setdefault("base_url", "https://faq.invalid")  # RFC 2606: no such host exists
    embed = FAQEmbed(**settings)
    fake_faqs(embed, faqs)
    return embed


def fake_faqs(embed: FAQEmbed, faqs: Records) -> None:
    """Give the embed of an application exactly these FAQs, as `fake_embed` does.

    Use it for an application that is created when its module is imported. Its settings and templates stay.

    Raises:
        InvalidFAQ: a mapping is not an FAQ record.
        ConfigurationError: `faqs` is not a mapping of records.
    """
    if not isinstance(faqs, Mapping) or not all(isinstance(faq, FAQ | Mapping) for faq in faqs.values()):
        raise ConfigurationError('faqs are FAQ records by slug, such as {"pricing": {"items": […]}}')
    records = {
        slug: faq if isinstance(faq, FAQ) else FAQ.from_dict({**faq, "slug": slug})
        for slug, faq in faqs.items()
    }
    embed.reader.use_source(_FakeSource(records, embed.reader.cache))


def faq_parity(html: str | bytes, url: str | None = None) -> list[str]:
    """Return each difference between the FAQPage markup of a page and the words on the page, a line each.

    Any program may have made the markup: JSON-LD or, if that has no FAQPage, microdata or RDFa. Differences
    are: a question or answer that only one of the two has; other words; an answer below another question;
    several FAQPages without one `@id`; JSON-LD that no parser reads; no FAQPage at all. Case, white space and
    punctuation are not compared. Closed panels are on the page; templates and comments are not. With the
    `url` of the page, an `@id` may be written in full in one place and as `#faqpage` in another.

    Raises:
        ModuleNotFoundError: the extra `generation` is not installed.
    """
    with needs_extra("generation"):
        from faqsvc_embed.testing.parity import differences
    return differences(html, url)


class _FakeSource(BaseSource):
    """Has its records in a mapping, and puts them into the cache."""

    name = "fake"
    is_local = True

    def __init__(self, records: Mapping[str, FAQ], cache: MemoryCache) -> None:
        self._cache = cache
        self._records = {normalized("NFC", slug): faq for slug, faq in records.items()}

    def look_up(self, key: Key) -> FAQState:
        faq = self._records.get(key.slug)
        missing = NotFound(FAQNotFound(f"there is no FAQ {key.slug!r} in this fake"))
        outcome = missing if faq is None else Fetched(faq)
        return state_of(self._cache.apply(key, outcome), key, self._cache.clock())
