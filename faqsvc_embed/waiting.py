"""How tasks wait for what another thread brings, or another task does: all of an event loop by one future.

A thread wakes a loop through a socket. Were each of a thousand tasks to wait by a future of its own, that
would be a thousand wakings, and between them the loop would find one task to run.
"""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

from faqsvc_embed.steps import SHORT

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable
    from concurrent.futures import Future

T = TypeVar("T")

BETWEEN: Final = 0.005
"""Seconds between two times that a loop stands still for a thread, so that a hundred FAQs do not stop it."""


class Waits:
    """What the tasks of event loops wait for."""

    def __init__(self) -> None:
        self._ends = WeakKeyDictionary["Future[Any]", _End]()
        """What ends with each future, in the loop that asked last."""
        self._gave_way = 0.0

    async def until(self, brought: "Future[Any]", seconds: float) -> None:
        """Wait until something is brought, at most so long; whoever stops waiting cancels nothing."""
        import asyncio  # whoever awaits this has it already

        loop = asyncio.get_running_loop()
        end = self._ends.get(brought)
        if end is None or end.loop is not loop:
            end = self._ends[brought] = _End(loop)
            brought.add_done_callback(end.wake)
        if not end.has_given_way:
            end.has_given_way = self._give_way(brought)
        await asyncio.wait([end.reached], timeout=seconds)

    def _give_way(self, brought: "Future[Any]") -> bool:
        """Stand still for a millisecond, while the thread that brings something gets going; tell whether so.

        A thread that stops for the network, if only to hand a request over, has the interpreter's lock again
        5 ms later where a loop is busy; and to connect and to ask, it stops ten times.
        """
        from concurrent import futures  # whoever has a future has it already

        if time.monotonic() < self._gave_way + BETWEEN:
            return False
        futures.wait([brought], SHORT)
        self._gave_way = time.monotonic()
        return True


class _End:
    """What the tasks of one loop wait for."""

    has_given_way = False

    def __init__(self, loop: "asyncio.AbstractEventLoop") -> None:
        self.loop = loop
        self.reached = loop.create_future()

    def wake(self, _: "Future[Any]") -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self.loop.call_soon_threadsafe(self.reached.set_result, None)


class Turns:
    """Work that one of the tasks of a loop does which want the same at once, while the others wait."""

    def __init__(self) -> None:
        self._under_way: dict[Any, asyncio.Future[bool]] = {}
        """What ends with the work, and tells whether it came to its end."""

    async def another_did(self, what: Any) -> bool:
        """Wait for another task of this loop that does `what`; tell whether one came to an end."""
        import asyncio  # as above

        loop = asyncio.get_running_loop()
        while (other := self._under_way.get(what)) is not None and other.get_loop() is loop:
            await asyncio.wait([other])
            if other.result():
                return True
        return False  # none did, or it was cancelled: whoever is told so first is the next

    async def do(self, what: Any, work: "Awaitable[T]") -> "T":
        """Do `what`, for all who wait for another to do it."""
        import asyncio  # as above

        ended = self._under_way[what] = asyncio.get_running_loop().create_future()
        is_done = True
        try:
            return await work
        except asyncio.CancelledError:
            is_done = False
            raise
        finally:
            if self._under_way.get(what) is ended:
                self._under_way.pop(what, None)  # another loop may have put in its own, and taken it out
            with suppress(RuntimeError):  # this one was closed meanwhile
                ended.set_result(is_done)
