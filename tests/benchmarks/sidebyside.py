"""Times callables side by side, in rotated order, and tells the ratio of their medians."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """One contestant: the median of its rounds in microseconds a call, and their spread."""

    name: str
    median: float
    lowest: float
    highest: float


def compare(
    contestants: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 60,
    calls: int = 200,
    per_call: int = 1,
) -> list[Timing]:
    """Time each contestant `rounds` times `calls` calls, a different one first in each round.

    A call may do what is timed `per_call` times.
    """
    names = list(contestants)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for call in contestants.values():
        call()
    gc.collect()
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            call = contestants[name]
            began = time.perf_counter()
            for _ in range(calls):
                call()
            seconds[name].append((time.perf_counter() - began) / (calls * per_call))
    return [
        Timing(name, statistics.median(s) * 1e6, min(s) * 1e6, max(s) * 1e6) for name, s in seconds.items()
    ]


def table(title: str, timings: list[Timing]) -> str:
    """Return the timings as text, each as a ratio to the first."""
    base = timings[0].median
    lines = [title]
    lines += [
        f"  {t.name:<44} {t.median:9.2f} µs  {t.median / base:6.3f}   ({t.lowest:.2f} to {t.highest:.2f})"
        for t in timings
    ]
    return "\n".join(lines)
