"""One fetch under way, for any number of callers, and the circuit breaker for the fetches of one source."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from faqsvc_embed.api.responses import Failed, FAQChange, Outcome
from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.runtime.backoff import BACKOFF_BASE, Backoff
from faqsvc_embed.runtime.bounded_log import logger
from faqsvc_embed.runtime.threads import is_gevent_patched, sleep_until, wait_for

TIMEOUTS_TO_OPEN: Final = 3


class Fetch:
    """One fetch. The fetcher lists it until it ends or its FAQ is forgotten."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.is_overdue = False
        """Whether it took too long, so that its callers got an error. A late success is still cached."""
        self.change: FAQChange | None = None
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


class CircuitBreaker:
    """Opens after 3 timeouts in a row, counted over all FAQs. Closes when a request does not time out.

    While it is open, pages do not wait for uncached FAQs. One probe at a time checks in the background
    whether the source responds again.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`name` is the name of the source, for the log."""
        self._name = name
        self._clock = clock
        self._timeouts = 0
        self._probes = Backoff()

    @property
    def is_open(self) -> bool:
        """Whether the last requests all timed out."""
        return self._timeouts >= TIMEOUTS_TO_OPEN

    def may_probe(self) -> bool:
        """Return whether a probe is due, and claim it. The interval grows up to a minute."""
        now = self._clock()
        if now < self._probes.until:
            return False
        self._probes.extend(now)
        return True

    def record(self, outcome: Outcome) -> None:
        """Count a timeout. Anything else, even a refused connection, came quickly: pages can wait again."""
        if not (isinstance(outcome, Failed) and isinstance(outcome.error, FAQTimeout)):
            if self.is_open:
                logger.info("pages wait for uncached FAQs again: %s did not time out", self._name)
            self._timeouts = 0
            return
        self._timeouts += 1
        if self._timeouts == TIMEOUTS_TO_OPEN:
            self._probes = Backoff()
            self._probes.until = self._clock() + BACKOFF_BASE
            logger.warning("%s does not respond: pages no longer wait for uncached FAQs", self._name)
