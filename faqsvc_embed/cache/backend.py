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

CALL_TIMEOUT: Final = 0.5
"""Seconds for one call: a store has to be faster than the service."""
CONSEQUENCES: Final[dict[Operation, str]] = {
    "read": "FAQs are shown from memory",
    "written": "FAQs are shown from memory",
    "watched": "what another process forgets is shown here until it expires",
}
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
        """Yield an empty message, and then every message that is published from now on."""


class ResilientBackend:
    """A backend whose calls neither raise nor take long. It is opened again for each event loop.

    A backend that cannot be written is still read. One that cannot be read is not used at all. After a
    failure, one call at a time tries again behind its caller, with increasing backoff.
    """

    def __init__(
        self, open_backend: Callable[[], Backend], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open = open_backend
        self._clock = clock
        self._backoffs: dict[Operation, Backoff] = {
            "read": Backoff(),
            "written": Backoff(),
            "watched": Backoff(),
        }
        self._attempts = set[asyncio.Task[object]]()
        self._opened: tuple[asyncio.AbstractEventLoop, Backend] | None = None
        self._turns = asyncio.Semaphore(MAX_CALLS)

    async def call(
        self, operation: Operation, work: Callable[[Backend], Awaitable[T]], *, now: bool = False
    ) -> T | None:
        """Return the result of `work`; None if it fails, or is not tried. `now` tries even during backoff."""
        backoff = self._backoffs[operation]
        if not now and (backoff.failures or self._backoffs["read"].failures):
            if backoff.failures and self._clock() >= backoff.until:
                backoff.until = float("inf")  # one call at a time
                attempt = asyncio.create_task(self._attempt(operation, work))
                self._attempts.add(attempt)  # so that it is not collected
                attempt.add_done_callback(self._attempts.discard)
            return None
        return await self._attempt(operation, work, now=now)

    async def messages(self, channel: str, *, is_first: bool) -> AsyncIterator[bytes]:
        """Yield the messages of a channel without end, and an empty one when some may have been missed.

        Nothing is missed before the first connection, if `is_first` is true.
        """
        is_first_connection = is_first
        while True:
            try:
                async for message in self._backend().messages(channel):
                    if not message:
                        self._succeeded("watched")
                    if message or not is_first_connection:
                        yield message
                    is_first_connection = False
            except Exception as error:
                self._failed("watched", error)
                is_first_connection = False
            await asyncio.sleep(max(0.0, self._backoffs["watched"].until - self._clock()))

    async def _attempt(
        self, operation: Operation, work: Callable[[Backend], Awaitable[T]], *, now: bool = False
    ) -> T | None:
        failures = self._backoffs[operation].failures
        try:
            backend = self._backend()
            async with self._turns:
                if self._backoffs[operation].failures > failures and not now:
                    return None  # others failed while this call waited for its turn
                async with asyncio.timeout(CALL_TIMEOUT):
                    result = await work(backend)
        except Exception as error:
            if self._backoffs[operation].failures == failures:  # calls that fail together count once
                self._failed(operation, error)
            return None
        except BaseException:  # the loop is being closed
            self._backoffs[operation].until = self._clock()
            raise
        self._succeeded(operation)
        return result

    def _backend(self) -> Backend:
        loop = asyncio.get_running_loop()
        if self._opened is None or self._opened[0] is not loop:
            self._opened, self._turns = (loop, self._open()), asyncio.Semaphore(MAX_CALLS)
        return self._opened[1]

    def _failed(self, operation: Operation, error: Exception) -> None:
        if not self._is_failing():
            reason = masked(f"{type(error).__name__}: {str(error)!r}")[:200]
            logger.warning("the store cannot be %s; %s: %s", operation, CONSEQUENCES[operation], reason)
        self._backoffs[operation].extend(self._clock())

    def _succeeded(self, operation: Operation) -> None:
        if self._backoffs[operation].failures:
            self._backoffs[operation] = Backoff()
            if not self._is_failing():
                logger.info("the store works again")

    def _is_failing(self) -> bool:
        return any(backoff.failures for backoff in self._backoffs.values())

    def after_fork(self) -> None:
        """In a forked child, forget the calls of the parent; its connections live as long as its loop."""
        self._opened, self._attempts = None, set()
        self._backoffs = {operation: Backoff() for operation in self._backoffs}
