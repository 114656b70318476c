"""Logs outages, such as those of the database: when one begins, once a minute, and when it ends."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Final

QUIET: Final = 2.0
"""Seconds without a failure after which a success ends an outage. A busy database fails now and then."""
PERIOD: Final = 60.0
"""Seconds between two lines about the same outage."""

logger: Final = logging.getLogger("faqsvc_embed.service")


class OutageLog:
    """Logs the outages of one dependency, which is called `name` in the log."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self.failures: int = 0
        """Failures since the process started."""
        self._since: float | None = None
        self._last = self._next_line = 0.0
        self._before = 0

    @property
    def is_down(self) -> bool:
        """Whether the last calls failed."""
        return self._since is not None

    def failed(self, error: Exception) -> None:
        """Record a failure, and log it if it is the first of an outage or a minute has passed."""
        with self._lock:
            now, self.failures = self._clock(), self.failures + 1
            if self._since is None:
                self._since, self._before, self._next_line = now, self.failures - 1, now
            self._last = now
            if now < self._next_line:
                return
            self._next_line = now + PERIOD
            seconds, count = now - self._since, self.failures - self._before
        if count == 1:
            logger.error("%s does not respond: %s", self._name, error)
        else:
            logger.error(
                "%s has not responded for %.0f s, %d calls have failed: %s", self._name, seconds, count, error
            )

    def succeeded(self) -> None:
        """Record a success, which ends an outage."""
        if self._since is None:  # checked without the lock: nearly always, there is no outage
            return
        with self._lock:
            now = self._clock()
            if self._since is None or now - self._last < QUIET:
                return
            seconds, count = now - self._since, self.failures - self._before
            self._since = None
        logger.warning("%s responds again after %.0f s, %d calls had failed", self._name, seconds, count)


database_outages: Final = OutageLog("the database")
"""The outages of the database for reads, as this process sees them."""
write_outages: Final = OutageLog("the database, for writes,")
"""The outages for writes: only writes fail if the disk is full, or while another program has the lock."""
editor_outages: Final = OutageLog("the database, for editors,")
"""The outages for lists and searches of editors: only these fail if they take too long."""
