"""Loggers that write a bounded number of lines, however often a problem occurs."""

import logging
import time
from collections.abc import Callable
from typing import Final

from faqsvc_embed.runtime.threads import Lock

logger: Final = logging.getLogger("faqsvc_embed")

MAX_REMEMBERED: Final = 1000
BURST: Final = 20
"""Problems that are logged at once; then one a minute, because a visitor may cause many."""


class LogOnce:
    """Logs each problem once, not once for every page."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._warnings = LogThrottle(burst=BURST)

    def warning(self, key: str, message: str, *args: object) -> None:
        """Log a warning, unless one with the same `key` was logged before."""
        if self.is_first(key):
            self._warnings.warning(message, *args)

    def error(self, key: str, message: str, *args: object, error: BaseException) -> None:
        """Log an error with its traceback, unless one with the same `key` was logged before."""
        if self.is_first(key):
            logger.error(message, *args, exc_info=error)

    def is_first(self, key: str) -> bool:
        """Return whether `key` is new, and remember it; the newest 1000 keys are remembered."""
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > MAX_REMEMBERED:
            self._seen.pop(next(iter(self._seen), key), None)
        return True


class LogThrottle:
    """Logs at most one line in `period` seconds, with the number of lines that were left out.

    After a quiet time, the first `burst` lines are all logged.
    """

    def __init__(
        self, period: float = 60.0, clock: Callable[[], float] = time.monotonic, *, burst: int = 1
    ) -> None:
        self._period = period
        self._clock = clock
        self._ahead = period * (burst - 1)
        """For how many seconds lines may be logged in advance."""
        self._next = float("-inf")
        self._left_out = 0
        self._lock = Lock()

    def warning(self, message: str, *args: object) -> None:
        """Log a warning, or count it for the next one that is logged."""
        with self._lock.own():
            now = self._clock()
            if now < self._next - self._ahead:
                self._left_out += 1
                return
            self._next = max(self._next, now) + self._period
            left_out, self._left_out = self._left_out, 0
        if left_out:
            message += " (and %d more like this since the last line)"
            args = (*args, left_out)
        logger.warning(message, *args)


def origin_of(error: BaseException) -> str:
    """Return the type and the traceback of an exception, by which the same bug can be recognised."""
    traceback, frames = error.__traceback__, dict[str, None]()
    while traceback is not None:
        # Each frame once, because an exception that is raised again adds the same frames again.
        file, place = traceback.tb_frame.f_code.co_filename, (traceback.tb_lineno, traceback.tb_lasti)
        frames[f"{file}:{place}"] = None
        traceback = traceback.tb_next
    return " ".join([type(error).__name__, *frames])
