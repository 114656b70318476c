"""A circuit breaker: pages do not wait for a source that does not respond."""

import time
from collections.abc import Callable
from typing import Final

from faqsvc_embed.api.responses import Failed, Outcome
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.runtime.backoff import BACKOFF_BASE, Backoff
from faqsvc_embed.runtime.bounded_log import logger

TIMEOUTS_TO_OPEN: Final = 3


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
