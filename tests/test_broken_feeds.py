"""Every fault of the service, with a change feed that fails in every way: pages are as without one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from faqsvc_embed import FAQEmbed, FAQNotFound
from tests.support.clock import Clock
from tests.support.embeds import LONG, use_clock
from tests.support.faults import EVERY_FAULT, FEEDS
from tests.support.faults.behaviours import healthy
from tests.support.faulty import Fault, FaultyServer
from tests.support.waiting import wait_until


class Follower:
    """An embed whose feed fails in one way, and its service."""

    def __init__(self, feed: Fault, stack: ExitStack) -> None:
        self.feed = feed
        self.service = stack.enter_context(FaultyServer(any_slug=True))
        self.service.feed = feed.behaviour
        self.embed = stack.enter_context(FAQEmbed(self.service.base_url, wait=0.1, timeout=0.3))
        self.clock = Clock()
        use_clock(self.embed, self.clock)

    def check(self, fault: Fault) -> None:
        """Show an FAQ while the service fails, with a cached record and without, and when it works again."""
        self._recover()
        wait_until(lambda: self.service.feed_requests > 0)
        self.service.behave(fault.behaviour)
        self.clock.advance(LONG)
        if fault.means == "gone":
            wait_until(lambda: isinstance(self.embed.use_faq("pricing").error, FAQNotFound))
        else:
            for _ in range(5):
                assert self.embed.use_faq("pricing").data is not None, f"{self.feed} loses what is cached"
        self.embed.forget()
        for _ in range(3):
            assert not self._is_shown(), f"{self.feed} shows what nobody has sent"
        self._recover()
        self.embed.forget()

    def _recover(self) -> None:
        self.service.behave(healthy)

        def is_fresh() -> bool:
            self.embed.use_faq("pricing", wait=1)
            # The fetch that was waited for may have been replaced: only what the next page shows is cached.
            state = self.embed.use_faq("pricing")
            is_fresh = state.data is not None and not state.is_stale
            # While a fetch is running, the clock stands still: otherwise its record would be old at once.
            if not is_fresh and not state.is_fetching:
                self.clock.advance(LONG)
            return is_fresh

        wait_until(is_fresh)

    def _is_shown(self) -> bool:
        return self.embed.use_faq("pricing").data is not None


@pytest.fixture(scope="module")
def followers() -> Iterator[list[Follower]]:
    """One for each way in which a feed fails. The services stop first, as their feeds have no end."""
    with ExitStack() as stack:
        yield [Follower(feed, stack) for feed in FEEDS]


@pytest.mark.matrix
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=str)
def test_a_broken_feed_changes_nothing_under_any_fault(fault: Fault, followers: list[Follower]) -> None:
    with ThreadPoolExecutor(len(followers)) as pool:
        list(pool.map(lambda follower: follower.check(fault), followers))


@pytest.mark.parametrize("feed", FEEDS, ids=str)
def test_closing_the_embed_leaves_a_broken_feed_within_a_second(feed: Fault) -> None:
    with FaultyServer(any_slug=True) as service:
        service.feed = feed.behaviour
        embed = FAQEmbed(service.base_url)
        assert embed.use_faq("pricing", wait=5).data is not None
        wait_until(lambda: service.feed_requests > 0)
        embed.close()
        assert service.wait_for_disconnects()
