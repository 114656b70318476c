"""Writes to a storage."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Barrier
from typing import Any, Final, cast

from msgspec.structs import replace

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQError, FAQNotFound
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.sites import resolve_site
from faqsvc_embed.service.storage.values import Access, Revision, Write
from faqsvc_embed.text import normalized
from tests.support.clock import Clock

TEA: Final = FAQ(
    slug="tea",
    website_name="Tea & Sons",
    items=(Item(0, "What does it cost?", "Nothing."),),
    website_url="https://www.tea.example",
)


def access(storage: Storage, name: str = "tests") -> Access:
    """Return the access of a new key of a new site."""
    found = storage.keys.verify(storage.keys.create(name, site=storage.sites.create(name)))
    assert found is not None
    return found


def write(storage: Storage, who: Access, slug: str | None = "tea", **options: Any) -> Revision:
    """Write a revision; `title` tells it from others."""
    faq = replace(TEA, items=options.pop("items", TEA.items), title=options.pop("title", ""))
    return storage.writer.write(who, Write(faq=faq, slug=slug, **options))[0]


def put(storage: Storage, faq: FAQ, *, website_url: str = "", site: str | None = None) -> None:
    """Publish a record under its own slug, by the operator. Without `site`, the only site owns it."""
    with storage.database.writing() as connection:
        owner = resolve_site(connection, site, storage.clock())
    slug, lang = normalized("NFC", faq.slug), cast("Lang", faq.lang)
    request = Write(faq=replace(faq, website_url=website_url), slug=slug, lang=lang)
    storage.writer.write(Access(None, owner), request)


def at_once(call: Callable[[], object]) -> list[str]:
    """Call a function in four threads at once; return the types of what it returned and raised."""
    barrier = Barrier(4)

    def run(_: int) -> str:
        barrier.wait(60)
        try:
            return type(call()).__name__
        except FAQError as error:
            return type(error).__name__

    with ThreadPoolExecutor(4) as threads:
        return sorted(threads.map(run, range(4)))


def a_month_later(storage: Storage, clock: Clock) -> int:
    """Let 31 days pass, and the housekeeping run; return how many FAQs it deleted."""
    clock.advance(timedelta(days=29).total_seconds())
    count = 0
    for _ in range(4):
        clock.advance(timedelta(hours=12).total_seconds())
        count += storage.removal.empty_bin()
    return count


def title(storage: Storage, slug: str = "tea", lang: str | None = None) -> str | None:
    """Return the title that readers see."""
    with suppress(FAQNotFound):
        return FAQ.from_json(storage.publications.get(slug, lang).record).title
    return None
