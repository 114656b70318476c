"""Embeds of the faulty service, on a clock that moves by hand."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

import pytest

from faqsvc_embed import FAQ, FAQEmbed, FAQError, FAQState
from tests.support import samples
from tests.support.clock import Clock
from tests.support.waiting import settle, wait_until

MakeEmbed = Callable[..., FAQEmbed]
"""Makes an embed of the faulty service with these settings."""

PRICING: Final = FAQ.from_dict(samples.pricing())
SLACK: Final = 10.0
"""Seconds that a busy machine may add to any wait; what a test rules out takes longer."""
LONG: Final = 4000.0
"""Seconds: longer than any lifetime and back-off of the faulty service."""


def use_clock(embed: FAQEmbed, clock: Clock) -> None:
    """Let an embed live on `clock`: lifetimes are 5 % shorter than stated, and back-offs have full length."""
    embed.reader.cache.clock, embed.reader.cache.wall_clock = clock.now, clock.wall
    embed.reader.cache.random = lambda: 1.0


def read(embed: FAQEmbed, clock: Clock, slug: str = "pricing", lang: str | None = None) -> None:
    """Cache an FAQ in spite of a short time-out, again if a busy machine needs longer."""

    def is_cached() -> bool:
        clock.advance(LONG)
        return refreshed(embed, slug, lang).data is not None

    wait_until(is_cached)


def refreshed(embed: FAQEmbed, slug: str = "pricing", lang: str | None = None) -> FAQState:
    """Use an FAQ, and return its state once the fetch that this starts has ended."""
    embed.use_faq(slug, lang=lang, wait=60)
    settle(embed)
    return embed.use_faq(slug, lang=lang, wait=0)


def title(state: FAQState) -> str | None:
    """Return the title of what is shown."""
    return state.data.title if state.data is not None else None


def failure(embed: FAQEmbed, slug: str = "pricing") -> FAQError:
    """Return the error that `get_faq` raises."""
    with pytest.raises(FAQError) as caught:
        embed.get_faq(slug)
    return caught.value


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes by the clock on the wall."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


_of_other_tests = WeakSet[threading.Thread]()


def ignore_running_threads() -> None:
    """Leave the threads that run now out of `own_threads`: embeds of earlier tests may have left them."""
    _of_other_tests.update(threading.enumerate())


def own_threads() -> list[str]:
    """Return the names of the package's threads that run since the test began."""
    threads = set(threading.enumerate()) - set(_of_other_tests)
    return [thread.name for thread in threads if thread.name.startswith("faqsvc-embed")]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings and errors that the package has logged, and empty the log."""
    messages = [r.getMessage() for r in caplog.records if r.name == "faqsvc_embed" and r.levelno >= 30]
    caplog.clear()
    return messages


class Form:
    """One of the two forms of the methods that wait."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def call(self, embed: FAQEmbed, method: str, *args: Any, **options: Any) -> Any:
        if self.is_async:
            return asyncio.run(getattr(embed, f"a{method}")(*args, **options))
        return getattr(embed, method)(*args, **options)

    def get_faq(self, embed: FAQEmbed, slug: str = "pricing", **options: Any) -> FAQ:
        faq: FAQ = self.call(embed, "get_faq", slug, **options)
        return faq

    def use_faq(self, embed: FAQEmbed, slug: Any = "pricing", **options: Any) -> FAQState:
        state: FAQState = self.call(embed, "use_faq", slug, **options)
        return state
