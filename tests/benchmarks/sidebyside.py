"""Times contestants side by side, in short turns and rotated order, and tells the ratio of each to the first.

A turn lasts milliseconds, so that whatever else the machine does meets all of them alike; a ratio is taken
within each round, where all ran at the same moment, and the median of the rounds is told. What only computes
is timed in seconds of the processor, which other processes do not spend.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping

from tests.benchmarks.tables import Table

Contestant = Callable[[int], float]
"""Does what is timed so many times, and returns how many seconds that took."""

TURN = 0.002
"""Seconds that a turn should last."""


def calling(call: Callable[[], object], clock: Callable[[], float] = time.process_time) -> Contestant:
    """Return the contestant that calls `call`; what waits, or works elsewhere, takes a clock of the wall."""

    def timed(times: int) -> float:
        began = clock()
        for _ in range(times):
            call()
        return clock() - began

    return timed


def compare(
    title: str,
    contestants: Mapping[str, Contestant],
    *,
    rounds: int = 200,
    turn: float = TURN,
    notes: tuple[str, ...] = (),
) -> Table:
    """Time all contestants in each of `rounds` rounds, a different one first in each."""
    names, seconds = list(contestants), in_rounds(contestants, rounds, turn)
    table = Table(
        title, {"µs": ".2f", "best": ".2f", "ratio": ".3f", "from": ".3f", "to": ".3f"}, notes=notes
    )
    for name in names:
        ratios = [own / first for own, first in zip(seconds[name], seconds[names[0]], strict=True)]
        low, *_, high = statistics.quantiles(ratios, n=10)
        figures = statistics.median(seconds[name]) * 1e6, min(seconds[name]) * 1e6
        table.add(name, *figures, statistics.median(ratios), low, high)
    return table


def in_rounds(
    contestants: Mapping[str, Contestant], rounds: int, turn: float = TURN
) -> dict[str, list[float]]:
    """Return the seconds of each contestant in each round."""
    names = list(contestants)
    times = {name: _calibrated(contestants[name], turn) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for round_ in range(rounds):
        start = round_ % len(names)
        for name in names[start:] + names[:start]:
            seconds[name].append(contestants[name](times[name]) / times[name])
    return seconds


def _calibrated(contestant: Contestant, turn: float) -> int:
    """Return how many calls fill a turn."""
    contestant(3)
    times = 1
    while (took := contestant(times)) < turn / 2:
        times = max(times + 1, min(times * 10, int(times * turn / max(took, 1e-9))))
    return times
