"""Tells whether work grows in proportion to its input, from its processor time at two sizes."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

TIMES = 8
"""How much larger the larger input is: quadratic work takes 64 times as long."""

ATTEMPTS = 20


def grows_linearly(
    work: Callable[[Input], object],
    make: Callable[[int], Input],
    few: int,
    clock: Callable[[], float] = time.thread_time,
) -> bool:
    """Return whether work on eight times as much takes at most 16 times as long.

    With `time.process_time` as `clock`, other threads may do the work.

    Each size counts with its best time, because other programs on the machine only make attempts slower. The
    limit is twice the ideal, because the processor's caches may hold the smaller input only.
    """
    best = {few: float("inf"), TIMES * few: float("inf")}
    for _ in range(ATTEMPTS):
        for count in (few, TIMES * few, few):
            value = make(count)
            gc.disable()  # a collection would also visit the objects of other tests
            try:
                began = clock()
                work(value)
                best[count] = min(best[count], clock() - began)
            finally:
                gc.enable()
        if best[TIMES * few] <= 2 * TIMES * best[few]:
            return True
    return False
