"""SQLite in one file: for one machine, with any number of processes on it."""

import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from faqsvc_embed.service.database import Connection, StorageUnavailable

BUSY_TIMEOUT: Final = 5.0
"""Seconds to wait for another process that writes."""


class SQLite:
    """A database in the file `path`, in write-ahead mode: readers never wait for the writer."""

    def __init__(self, path: str) -> None:
        self._path = str(Path(path).absolute())  # a later chdir of the host must not move it
        self._idle = deque[sqlite3.Connection]()
        self._writer = threading.Lock()  # SQLite's own lock is polled, and unfair to whom it makes wait
        weakref.finalize(self, _close, self._idle)
        self._write_ahead()

    def _write_ahead(self) -> None:
        """Go over to write-ahead mode, which stays with the file.

        While another process does the same, SQLite refuses at once, whatever its timeout.
        """
        until = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                with self._reported() as connection:
                    connection.execute("PRAGMA journal_mode = WAL")
                return
            except StorageUnavailable as error:
                if not _is_busy(error.__cause__) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for statements that change nothing."""
        with self._reported() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection in a transaction: on disk when the block ends, undone if it raises."""
        with self._turn(), self._reported() as connection:
            connection.execute("BEGIN IMMEDIATE")  # or two that read before they write could deadlock
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for the other threads that write, no longer than for other processes."""
        if not self._writer.acquire(timeout=BUSY_TIMEOUT):
            raise StorageUnavailable(f"the database {self._path!r}: others wrote for {BUSY_TIMEOUT:g} s")
        try:
            yield
        finally:
            self._writer.release()

    migrating = writing  # which one process does at a time

    def close(self) -> None:
        """Close the connections that nobody holds; the next statement opens new ones."""
        _close(self._idle)

    @contextmanager
    def _reported(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection, and tell what goes wrong with it by the name of the file."""
        try:
            connection = self._borrow()
            try:
                yield connection
            except sqlite3.Error:
                connection.close()  # its state is anybody's guess
                raise
            except BaseException:
                self._idle.append(connection)
                raise
            self._idle.append(connection)
        except sqlite3.Error as error:
            raise StorageUnavailable(f"the database {self._path!r}: {error}") from error

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        # Threads take turns with a connection; no two use one at a time.
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")  # a commit that returned is on the disk
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


def _is_busy(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _close(connections: deque[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
