"""Backoff after failures: 1, 2, 4 … 60 seconds."""

from typing import Final

BACKOFF_BASE: Final = 1.0
BACKOFF_CAP: Final = 60.0


def longest_backoff(failures: int) -> float:
    """Return the maximum seconds of the backoff after this number of failures in a row."""
    return min(BACKOFF_BASE * 2.0 ** min(max(failures - 1, 0), 10), BACKOFF_CAP)


class Backoff:
    """The failures in a row of one operation, and the time from which it may be tried again."""

    def __init__(self) -> None:
        self.failures: int = 0
        self.until: float = float("-inf")

    def extend(self, now: float) -> None:
        """Back off, for longer after each failure."""
        self.failures += 1
        self.until = now + longest_backoff(self.failures)
