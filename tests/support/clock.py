"""Time that passes only when a test says so."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


class Clock:
    """A monotonic clock and a wall clock that move together, by hand.

    `clock.now` is what code under test takes as its monotonic clock, `clock.wall` as its wall clock.
    """

    def __init__(self, start: float = 1_000.0, wall: datetime = EPOCH) -> None:
        self._now = start
        self._wall = wall

    def now(self) -> float:
        """Return the seconds of a clock that never goes back."""
        return self._now

    def wall(self) -> datetime:
        """Return the time of day in UTC, which somebody may set."""
        return self._wall

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass on both clocks."""
        if seconds < 0:
            raise ValueError("time does not pass backwards; set_wall() sets the wall clock back")
        self._now += seconds
        self._wall += timedelta(seconds=seconds)

    def set_wall(self, wall: datetime) -> None:
        """Set the wall clock alone, as an operator or a time server does."""
        self._wall = wall
