"""Long work in short steps: a generator that pauses often, so that an event loop is never held up by it."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work that pauses at each `yield`; the steps between are far below a millisecond."""

SHORT: Final = 0.001
"""Seconds that work of ours may hold an event loop up."""
MANY: Final = 100
"""Things of one kind, such as questions, that a step may handle; to pause takes time, too."""
MUCH: Final = 16_384
"""Characters that a step may handle."""


def portions(things: Sequence[T], length: Callable[[T], int]) -> Iterable[Sequence[T]]:
    """Cut things into what a step may handle: many that together have not much text, by `length`, or one."""
    if 0 < len(things) <= MANY and sum(map(length, things)) <= MUCH:
        return (things,)  # nearly always
    return _cut(things, length)


def _cut(things: Sequence[T], length: Callable[[T], int]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), MANY):
        yield from _halved(things[start : start + MANY], length)


def _halved(things: Sequence[T], length: Callable[[T], int]) -> Iterator[Sequence[T]]:
    if len(things) == 1 or sum(map(length, things)) <= MUCH:
        yield things
    else:
        half = len(things) // 2
        yield from _halved(things[:half], length)
        yield from _halved(things[half:], length)


def finished(steps: Steps[T]) -> T:
    """Run all steps at once and return what they lead to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


async def in_short_steps(steps: Steps[T], pause: float = 0.0) -> T:
    """Run steps and return what they lead to, letting others run every millisecond, for `pause` seconds."""
    import asyncio  # whoever awaits this has it already

    until = time.perf_counter() + SHORT
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
        if time.perf_counter() > until:
            await asyncio.sleep(pause)
            until = time.perf_counter() + SHORT
