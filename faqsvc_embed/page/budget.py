"""The time that a page may spend waiting for FAQs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class WaitBudget:
    """The time that a page has spent waiting; waits that overlap count once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spent = 0.0
        self._waiting = 0
        self._since = 0.0

    def left(self, limit: float) -> float:
        """Return the rest of a budget of `limit` seconds."""
        running = self._clock() - self._since if self._waiting else 0.0
        return max(0.0, limit - self._spent - running)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of a wait."""
        if not self._waiting:
            self._since = self._clock()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._spent += self._clock() - self._since
