"""One fetch under way, for any number of callers."""

import time
from concurrent.futures import Future
from enum import Enum

from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.runtime.threads import is_gevent_patched, sleep_until, wait_for


class FetchState(Enum):
    """The life of a fetch."""

    RUNNING = "its outcome will be cached"
    OVERDUE = "it took too long, and callers have an error; its outcome will be cached if it arrives"
    DETACHED = "its outcome is for its callers only: a draft, or an FAQ that was forgotten or has changed"
    ENDED = "there is nothing more to come"


class Fetch:
    """A fetch under way."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.state = FetchState.RUNNING if key.token is None else FetchState.DETACHED
        self.result: Future[Entry] = Future()
        """Done as soon as there is an entry for the callers, perhaps with a stale record before the end."""
        self.started_at: float = time.monotonic()
        self.entry: Entry | None = None
        """The result, which greenlets can read without a lock."""
        self.result.set_running_or_notify_cancel()  # so that no caller can cancel it for the others

    @property
    def is_draft(self) -> bool:
        """Whether this is a draft for one page."""
        return self.key.token is not None

    @property
    def is_detached(self) -> bool:
        """Whether the outcome is not cached."""
        return self.state is FetchState.DETACHED

    @property
    def is_running(self) -> bool:
        """Whether an outcome will be cached soon."""
        return self.state is FetchState.RUNNING

    def wait(self, seconds: float) -> None:
        """Wait for the entry, at most `seconds`."""
        if is_gevent_patched():
            sleep_until(lambda: self.entry is not None, seconds)
        else:
            wait_for(self.result, seconds)

    def resolve(self, entry: Entry) -> None:
        """Give the callers their entry; only the first call counts."""
        if self.entry is None:
            self.entry = entry
            self.result.set_result(entry)
