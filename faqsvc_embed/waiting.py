"""How tasks wait for what another thread brings: all of an event loop by one future.

A thread wakes a loop through a socket. Were each of a thousand tasks to wait by a future of its own, that
would be a thousand wakings, and between them the loop would find one task to run.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


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
