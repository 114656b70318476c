"""What one process forgets, every process forgets that shares its store."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.cache.entry import Key, StoredFAQ
from faqsvc_embed.cache.memory import Mark
from faqsvc_embed.cache.shared import open_store
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.settings import Settings
from tests.support import samples
from tests.support.clock import EPOCH
from tests.support.feed_service import FeedService, feed_service


@pytest.fixture
def service() -> Iterator[FeedService]:
    with feed_service() as service:
        service.answers["pricing"] = "Old."
        yield service


def answer(embed: FAQEmbed) -> str | None:
    state = embed.use_faq("pricing", wait=1)
    return state.data.items[0].answer if state.data is not None else None


@pytest.mark.parametrize("slug", ["pricing", None])
def test_what_a_slow_process_saves_after_it_was_forgotten_is_not_read(store: str, slug: str | None) -> None:
    settings = Settings(base_url=f"https://{uuid4()}.example.com", store=store)
    key, faq = Key("pricing", None), FAQ.from_dict(samples.pricing())
    before, after = (StoredFAQ(faq, EPOCH + timedelta(seconds=at), 3600.0) for at in (0, 2))

    async def saved(record: StoredFAQ) -> StoredFAQ | None:
        slow = open_store(settings)
        assert slow is not None
        await slow.save(key, record)
        return await slow.load(key)

    async def forget() -> None:
        other = open_store(settings)
        assert other is not None
        other.mark_invalid(slug, Mark(EPOCH + timedelta(seconds=1)))
        assert await other.invalidate()

    async def run() -> list[StoredFAQ | None]:
        found = [await saved(before)]
        await forget()
        return [*found, await saved(before), await saved(after)]

    loop = BackgroundLoop()
    try:
        assert loop.submit(run()).result() == [before, None, after]
    finally:
        loop.close()
