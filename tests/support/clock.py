"""A clock for tests, which moves only by `advance()`."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


class Clock:
    """A monotonic clock and a wall clock that move together, by hand.

    Give `clock.now` to the code under test as its monotonic clock, and `clock.wall` as its wall clock.
    """

    def __init__(self, start: float = 1_000.0, wall: datetime = EPOCH) -> None:
        self._now = start
        self._wall = wall

    def now(self) -> float:
        """Return the monotonic time in seconds."""
        return self._now

    def wall(self) -> datetime:
        """Return the wall time in UTC."""
        return self._wall

    def advance(self, seconds: float) -> None:
        """Move both clocks forward."""
        if seconds < 0:
            raise ValueError("a monotonic clock does not move backwards; set_wall() sets the wall clock")
        self._now += seconds
        self._wall += timedelta(seconds=seconds)

    def set_wall(self, wall: datetime) -> None:
        """Set the wall clock alone, as NTP or an operator does."""
        self._wall = wall
