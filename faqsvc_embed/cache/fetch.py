"""One fetch of an FAQ, on which callers wait."""

import time
from concurrent.futures import Future
from contextlib import suppress

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.api.responses import Outcome
from faqsvc_embed.cache.entries import Entry, Key
from faqsvc_embed.runtime.threads import is_gevent_patched, sleep_until


class Fetch:
    """A running fetch."""

    def __init__(self, key: Key, change: Change | None = None, *, is_draft: bool = False) -> None:
        self.key = key
        self.change = change
        """The change that the feed announced. The fetch then skips the store, whose record is older."""
        self.is_draft = is_draft
        """Whether this is a draft for one page, which must not be cached."""
        self.outcome: Outcome | None = None
        self.result: Future[Entry] = Future()
        """Done as soon as there is an entry."""
        self.entry: Entry | None = None
        """The entry that callers wait for. It may be set before the fetch ends, with a stale record."""
        self.started: float = time.monotonic()
        self.has_ended = False
        self.is_detached = False
        """Whether the FAQ was forgotten during the fetch. Callers get the result, but it is not cached."""
        self.result.set_running_or_notify_cancel()  # so that no caller can cancel it for the others

    def resolve(self, entry: Entry) -> None:
        """Give the callers their entry; only the first call counts."""
        if not self.result.done():
            self.entry = entry
            self.result.set_result(entry)

    def wait(self, seconds: float) -> Entry | None:
        """Wait for the entry, at most `seconds`; return None if it has not arrived by then."""
        if is_gevent_patched():
            sleep_until(lambda: self.entry is not None, seconds)
        else:
            with suppress(TimeoutError):
                self.result.result(seconds)
        return self.entry
