"""One fetch under way, for any number of callers."""

import time
from concurrent.futures import Future

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.runtime.threads import is_gevent_patched, sleep_until, wait_for


class Fetch:
    """One fetch. The fetcher lists it until it ends or its FAQ is forgotten."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.is_overdue = False
        """Whether it took too long, so that its callers got an error. A late success is still cached."""
        self.change: Change | None = None
        """A change that was announced during the fetch: its response may be older."""
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
