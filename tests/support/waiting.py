"""Waits for something that happens in another thread or process."""

import time
from collections.abc import Callable

from faqsvc_embed import FAQEmbed


def wait_until(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    """Wait until `condition()` is true; fail the test after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def settle(embed: FAQEmbed) -> None:
    """Wait until the embed is not fetching."""
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
