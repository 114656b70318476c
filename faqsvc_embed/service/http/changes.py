"""Reads the change log of the database, once for everything in this process that follows it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.change_log import MAX_EVENTS, LoggedChange, Position

LOOK: Final = 0.001
"""Seconds between two looks at a SQLite file."""

Listener = Callable[[Sequence[LoggedChange] | None], None]
"""Gets the changes in their order; None if everything may have changed, as after a restore."""


class Changes:
    """The changes of the published FAQs, whichever process makes them. It belongs to one event loop."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._listeners: list[Listener] = []
        self._file: int | None = None
        self._looked_at = 0.0
        self.listed: str | None = None
        """The listed sites. That they changed is no change of an FAQ."""
        self._position: Position | None = None
        self._running: asyncio.Future[None] | None = None
        self._waiting: asyncio.Future[None] | None = None

    @property
    def position(self) -> Position:
        """The end of the log when it was read last."""
        return self._position or Position(0)

    def listen(self, listener: Listener) -> None:
        """Call a function with all changes from now on."""
        self._listeners.append(listener)

    def is_unchanged(self) -> bool:
        """Return whether the file of SQLite shows, in microseconds, that there is nothing new.

        It is looked at once in a millisecond, because each look lets other threads run.
        """
        if self._file is None:
            return False
        now = time.monotonic()
        if now - self._looked_at >= LOOK:
            if self._storage.database.data_version() != self._file:
                return False
            self._looked_at = now
        return True

    def expect(self) -> None:
        """Look at the file again, because this process has written to it."""
        self._looked_at = 0.0

    async def refresh(self) -> None:
        """Tell the listeners everything that was committed before this call.

        One query serves all that wait for it.

        Raises:
            StorageUnavailable: the database does not respond.
        """
        if self.is_unchanged():
            return
        if self._waiting is None:
            self._waiting = asyncio.ensure_future(self._read(self._running))
            self._waiting.add_done_callback(_ignore_outage)
        await asyncio.shield(self._waiting)

    async def _read(self, previous: "asyncio.Future[None] | None") -> None:
        if previous is not None and not previous.done():
            await asyncio.wait([previous])
        self._running, self._waiting = self._waiting, None  # later calls need a later response
        log, database = self._storage.changes, self._storage.database
        self._file, file = None, database.data_version() if database.is_sqlite else None
        number, epoch, listed = await run_blocking(log.version)
        before, now = self._position, Position(number, epoch)
        changes: Sequence[LoggedChange] | None = None
        if before is None or before == now:
            changes = ()
        elif before.epoch == epoch and 0 < number - before.number < MAX_EVENTS:
            found = await run_blocking(log.after, before.number)
            if found and found[0].number == before.number + 1:  # numbers have no gaps
                changes, now = found, Position(found[-1].number, epoch)
        self._position, self.listed, self._file = now, listed, file
        if changes is None or changes:
            for listener in self._listeners:
                listener(changes)


def _ignore_outage(reading: "asyncio.Future[None]") -> None:
    """Retrieve the exception of a query without waiting requests; `run_blocking` has reported it."""
    if not reading.cancelled():
        reading.exception()
