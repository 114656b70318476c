"""How tasks wait for what another thread brings, or another task does: all of an event loop by one future.

A thread wakes a loop through a socket. Were each of a thousand tasks to wait by a future of its own, that
would be a thousand wakings, and between them the loop would find one task to run.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable
    from concurrent.futures import Future

T = TypeVar("T")


class Waits:
    """What the tasks of event loops wait for."""

    def __init__(self) -> None:
        self._ends = WeakKeyDictionary["Future[Any]", "asyncio.Future[None]"]()
        """What ends with each future, in the loop that asked last."""

    async def until(self, brought: "Future[Any]", seconds: float) -> None:
        """Wait until something is brought, at most so long; whoever stops waiting cancels nothing."""
        import asyncio  # whoever awaits this has it already

        loop = asyncio.get_running_loop()
        end = self._ends.get(brought)
        if end is None or end.get_loop() is not loop:
            end = self._ends[brought] = loop.create_future()
            brought.add_done_callback(_waking(loop, end))
        await asyncio.wait([end], timeout=seconds)


def _waking(loop: "asyncio.AbstractEventLoop", end: "asyncio.Future[None]") -> Any:
    def wake(_: "Future[Any]") -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(end.set_result, None)

    return wake


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
