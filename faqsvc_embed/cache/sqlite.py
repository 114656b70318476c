"""A SQLite file in a directory, for the processes of one machine.

Each call opens the file, and closes it again: the embed makes few calls, and no connection lives in a forked
child, or in another thread than the one that made it.
"""

import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final, TypeVar

from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import logger
from faqsvc_embed.runtime.threads import new_lock

T = TypeVar("T")

BUSY_TIMEOUT: Final = 0.3
"""Seconds for which a call waits until another thread or process has finished with the file."""
DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
VERSION: Final = 1
"""Part of the name of the file, so that no version reads the file of another."""


class _Turn:
    """Lets one thread of the process use SQLite at a time, and none during a fork.

    In a child, SQLite would believe that it has the locks of the parent's open files.
    """

    def __init__(self) -> None:
        self._forks = list[bool]()
        """Whether the lock was taken for each fork that has begun; a fork waits only for `BUSY_TIMEOUT`."""
        self.after_fork()
        fork.register(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork, after_in_parent=self._after_fork_in_parent)

    def take(self, work: Callable[[], T]) -> T:
        lock = self._lock
        if not lock.acquire(timeout=BUSY_TIMEOUT):
            raise TimeoutError("an earlier call has not ended")
        try:
            return work()
        finally:
            lock.release()

    def after_fork(self) -> None:
        self._lock = new_lock()
        self._forks.clear()

    def _before_fork(self) -> None:
        self._forks.append(self._lock.acquire(timeout=BUSY_TIMEOUT))

    def _after_fork_in_parent(self) -> None:
        if self._forks and self._forks.pop():
            self._lock.release()


_turn: Final = _Turn()


class SQLiteBackend:
    """Keeps values in one table of one file, which only its owner can read."""

    def __init__(self, directory: str) -> None:
        self._path = Path(directory).expanduser().absolute() / f"faqs-{VERSION}.sqlite3"

    async def get(self, *names: str) -> list[bytes | None]:
        def read(connection: sqlite3.Connection) -> list[bytes | None]:
            query, now = "SELECT value FROM entries WHERE name = ? AND expires > ?", time.time()
            rows = [connection.execute(query, (name, now)).fetchone() for name in names]
            return [None if row is None else row[0] for row in rows]

        return await self._do(read, [None] * len(names), begin="BEGIN")

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            connection.execute(
                "CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, expires REAL, value BLOB)"
            )
            connection.execute("DELETE FROM entries WHERE expires <= ?", (now,))
            connection.execute("REPLACE INTO entries VALUES (?, ?, ?)", (name, now + seconds, value))

        await self._do(write, None, creates=True)

    async def delete(self, *names: str) -> None:
        def remove(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM entries WHERE name = ?", [(name,) for name in names])

        await self._do(remove, None)

    async def clear(self, prefix: str) -> None:
        def remove(connection: sqlite3.Connection) -> None:
            after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
            connection.execute("DELETE FROM entries WHERE name >= ? AND name < ?", (prefix, after))

        await self._do(remove, None)

    async def publish(self, channel: str, message: bytes) -> None:
        """Send nothing: other processes keep a forgotten record until they refresh it."""

    async def messages(self, channel: str) -> AsyncIterator[bytes]:
        """Yield nothing, because no message is sent."""
        nothing: tuple[bytes, ...] = ()
        for message in nothing:
            yield message

    async def _do(
        self,
        work: Callable[[sqlite3.Connection], T],
        otherwise: T,
        *,
        begin: str = "BEGIN IMMEDIATE",
        creates: bool = False,
    ) -> T:
        """Do work in a transaction, in a thread, because a file system may hang.

        Return `otherwise` if there is no file, unless this `creates` one.
        """

        def do() -> T:
            if creates and not self._path.exists():
                self._create()
            if not creates and not (self._path.is_file() and self._path.stat().st_size > 0):
                return otherwise
            try:
                return self._transact(work, begin)
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code == sqlite3.SQLITE_FULL and not creates:
                    # What is forgotten must go, although there is no room for a journal.
                    return self._transact(work, f"PRAGMA journal_mode = MEMORY; {begin}")
                if code not in DAMAGED:
                    raise
            logger.warning("the store %r is damaged, and is emptied", str(self._path))
            os.truncate(self._path, 0)  # a new file could get the journal of the old one
            return self._transact(work, begin) if creates else otherwise

        return await asyncio.to_thread(_turn.take, do)

    def _create(self) -> None:
        """Create an empty file that belongs to the owner of its directory, also if root creates it."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        owner = self._path.parent.stat()
        with contextlib.suppress(OSError, AttributeError):  # another user may not; Windows cannot
            os.chown(self._path, owner.st_uid, owner.st_gid)

    def _transact(self, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        address = f"{self._path.as_uri()}?mode=rw"
        with contextlib.closing(
            sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
        ) as connection:
            # Without waiting for the disk: after a power failure, the file may be damaged, and is emptied.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
            connection.executescript(begin)
            result = work(connection)
            connection.execute("COMMIT")
        return result
