"""How connections that write to an SQLite file are configured."""

import sqlite3
import time
from typing import Any, Final

from sqlalchemy import Connection

BUSY_TIMEOUT: Final = 5.0
"""Seconds to wait for another writer of the same SQLite file."""


def prepare_writer(connection: sqlite3.Connection, _: Any) -> None:
    """Configure a new connection that writes."""
    _enable_write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")  # a commit that returned is on the disk
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # purged text is overwritten


def begin_writing(connection: Connection) -> None:
    """Begin a transaction that writes."""
    # Two transactions that read before they write could deadlock without IMMEDIATE.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _enable_write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the file permanently to write-ahead mode, in which readers never wait for the writer.

    While another process does the same, SQLite ignores its time-out and fails at once, so this tries again.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
        time.sleep(0.01)
