"""The interface of a store's backend, and what happens while a backend fails or hangs."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Literal, Protocol, TypeVar

from faqsvc_embed.errors import masked
from faqsvc_embed.runtime.backoff import Backoff
from faqsvc_embed.runtime.bounded_log import logger

T = TypeVar("T")
Operation = Literal["read", "written", "watched"]
"""What may be impossible, in the words of the log: "the store cannot be read"."""

CALL_TIMEOUT: Final = 0.5
"""Seconds for one call: a store has to be faster than the service."""
CONSEQUENCES: Final[dict[Operation, str]] = {
    "read": "FAQs are shown from memory",
    "written": "FAQs are shown from memory",
    "watched": "what one process forgets, the others show until it expires",
}
"""What the failure of an operation means for pages."""
MAX_CALLS: Final = 10
"""Maximum number of calls at once. Others wait for their turn."""


class Backend(Protocol):
    """Keeps values under names, for several processes, on one event loop. Any call may raise."""

    async def get(self, *names: str) -> list[bytes | None]:
        """Return the values at one moment; None for a name that has none."""

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        """Replace a value, as a whole or not at all; it is removed after `seconds`."""

    async def delete(self, *names: str) -> None:
        """Remove values."""

    async def clear(self, prefix: str) -> None:
        """Remove all values whose names begin with `prefix`."""

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to every process that receives the messages of `channel`."""

    def messages(self, channel: str) -> AsyncIterator[bytes]:
        """Yield an empty message, then each message from now on; nothing, and end, if none can arrive."""


class ResilientBackend:
    """A backend whose calls neither raise nor take long. It is opened again for each event loop.

    Without a backend, calls do nothing. A backend that cannot be written is still read. One that cannot be
    read is not used at all. After a failure, one call at a time tries again, with increasing backoff.
    """

    def __init__(
        self, open_backend: Callable[[], Backend] | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open = open_backend
        self._clock = clock
        self.after_fork()

    def after_fork(self) -> None:
        """In a forked child, forget the backend of the parent; its connections live as long as its loop."""
        self._opened: tuple[asyncio.AbstractEventLoop, Backend, asyncio.Semaphore] | None = None
        self._backoffs: dict[Operation, Backoff] = {operation: Backoff() for operation in CONSEQUENCES}

    async def call(
        self, operation: Operation, work: Callable[[Backend], Awaitable[T]], *, now: bool = False
    ) -> T | None:
        """Return the result of `work`; None if it fails, or is not tried. `now` tries even during backoff."""
        backoff = self._backoffs[operation]
        if self._open is None or not (now or self._may_try(operation)):
            return None
        failures = backoff.failures
        try:
            backend, limit = self._of_this_loop(self._open)
            async with limit:
                if backoff.failures > failures and not now:
                    return None  # others failed while this call waited for its turn
                async with asyncio.timeout(CALL_TIMEOUT):
                    result = await work(backend)
        except Exception as error:
            if backoff.failures == failures:  # calls that fail together count once
                self._failed(operation, error)
            return None
        except BaseException:  # the loop is being closed
            backoff.until = self._clock()
            raise
        self._succeeded(operation)
        return result

    async def messages(self, channel: str, *, is_first: bool) -> AsyncIterator[bytes]:
        """Yield the messages of a channel, and an empty one when some may have been missed.

        Nothing is missed before the first connection, if `is_first` is true.
        """
        while self._open is not None:
            try:
                async for message in self._of_this_loop(self._open)[0].messages(channel):
                    if not message:
                        self._succeeded("watched")
                    if message or not is_first:
                        yield message
                    is_first = False
                return
            except Exception as error:
                self._failed("watched", error)
                is_first = False
            await asyncio.sleep(max(0.0, self._backoffs["watched"].until - self._clock()))

    def _may_try(self, operation: Operation) -> bool:
        """Return whether to try a call, and claim the next attempt if the last one failed."""
        backoff = self._backoffs[operation]
        if not backoff.failures:
            return not self._backoffs["read"].failures
        if self._clock() < backoff.until:
            return False
        backoff.until = float("inf")  # until this attempt has ended
        return True

    def _of_this_loop(self, open_backend: Callable[[], Backend]) -> tuple[Backend, asyncio.Semaphore]:
        """Return the backend of the running loop, and the limit of its calls."""
        loop = asyncio.get_running_loop()
        if self._opened is None or self._opened[0] is not loop:
            self._opened = loop, open_backend(), asyncio.Semaphore(MAX_CALLS)
        return self._opened[1:]

    def _failed(self, operation: Operation, error: Exception) -> None:
        # A store that cannot be watched can still be used, so this failure does not hide others.
        if self._failing_operations() <= {"watched"} - {operation}:
            reason = masked(f"{type(error).__name__}: {str(error)!r}")[:200]
            logger.warning("the store cannot be %s; %s: %s", operation, CONSEQUENCES[operation], reason)
        self._backoffs[operation].extend(self._clock())

    def _succeeded(self, operation: Operation) -> None:
        if self._backoffs[operation].failures:
            self._backoffs[operation] = Backoff()
            if not self._failing_operations():
                logger.info("the store works again")

    def _failing_operations(self) -> set[Operation]:
        return {operation for operation, backoff in self._backoffs.items() if backoff.failures}
