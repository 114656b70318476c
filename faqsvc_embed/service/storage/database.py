"""The connections to a database, SQLite or PostgreSQL, and the pages of its lists.

A page has a cursor, after which the next one begins, whatever was written meanwhile. A text that cannot be a
cursor raises `InvalidCursor`.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from sqlalchemy import Column, Connection, Engine, ScalarSelect, Select, Table, select, text
from sqlalchemy.exc import SQLAlchemyError

from faqsvc_embed.errors import FAQError
from faqsvc_embed.service.storage.engines import (
    BUSY_TIMEOUT,
    STATEMENT_TIMEOUT,
    conninfo,
    path_of,
    postgresql_engines,
    sqlite_engines,
)
from faqsvc_embed.service.storage.errors import InvalidCursor
from faqsvc_embed.service.storage.values import storable

T = TypeVar("T")

DEFAULT_URL: Final = "sqlite:///faqsvc.db"
MIGRATION_TIMEOUT: Final = 60.0
"""Seconds to wait for another process that migrates the database."""

# "faqsvc" in ASCII: advisory locks are numbers that all programs share.
_MIGRATION_LOCK: Final = 0x666171737663


class StorageUnavailable(FAQError):
    """The database cannot be opened or does not respond; the message names it."""


class Database:
    """A database that threads share. It raises errors as `StorageUnavailable`.

    The first statement opens a connection, so a server can fork before it.
    """

    def __init__(self, url: str) -> None:
        """Raises ConfigurationError if the URL is not valid; the message leaves out passwords."""
        self._write_lock = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        url = str(url).strip()  # a secret that is mounted as a variable may end in a line break
        self.is_sqlite: bool = not url.startswith(("postgresql://", "postgres://"))
        if self.is_sqlite:
            self.path: str = str(path_of(url).absolute())  # a later chdir must not matter
            self.name: str = f"the database {self.path!r}"
            self._reader, self._writer = sqlite_engines(self.path)
            self._file: int | None = self._inode()
        else:
            self.path = ""
            stated = conninfo(url)
            self.name = f"PostgreSQL {stated.get('dbname', '')!r} at {stated.get('host', 'localhost')}"
            self._reader, self._writer = postgresql_engines(stated)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for reads; each statement sees what was committed before it started."""
        with self._errors_translated(), _connected(self._reader) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection in a transaction: on disk when the block ends, rolled back if it raises."""
        self.check_file()
        with (
            self._locked(),
            self._errors_translated(),
            _connected(self._writer) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Wait for other threads that write to SQLite, because SQLite polls its own lock, which is unfair."""
        if not self.is_sqlite:
            yield
            return
        if not self._write_lock.acquire(timeout=BUSY_TIMEOUT):
            raise StorageUnavailable(f"{self.name} was locked for {BUSY_TIMEOUT:g} s")
        try:
            yield
        finally:
            self._write_lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Lend a connection for reads that all see the same state of the database."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.reading() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
            finally:
                connection.exec_driver_sql("ROLLBACK")

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Lend a connection for a migration, to one process at a time; on SQLite, in one transaction."""
        if self.is_sqlite:
            with self._locked(), self._errors_translated(), self._writer.connect() as connection:
                # Through the driver, because SQLAlchemy would begin a transaction first.
                driver = connection.connection.driver_connection
                driver.execute(f"PRAGMA busy_timeout = {round(MIGRATION_TIMEOUT * 1000)}")  # type: ignore[union-attr]
                try:
                    with connection.begin():
                        yield connection
                finally:
                    connection.invalidate()
            return
        with self._errors_translated(), self._writer.connect() as connection:
            if (encoding := connection.scalar(text("SHOW server_encoding"))) != "UTF8":
                raise StorageUnavailable(f"{self.name} has the encoding {encoding}; UTF8 is required")
            # Nothing outlives the transaction: the connection may be that of a pooler such as PgBouncer.
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text(f"SET LOCAL lock_timeout = {round(MIGRATION_TIMEOUT * 1000)}"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            # A migration may take long, but must not wait long for a table: readers queue behind it.
            connection.execute(text(f"SET LOCAL lock_timeout = {round(STATEMENT_TIMEOUT * 1000)}"))
            yield connection
            connection.commit()

    def replace_with(self, file: Path) -> None:
        """Replace the content of the SQLite database with another file, completely or not at all."""
        source = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        with (
            closing(source),
            self._locked(),
            self._errors_translated(),
            _connected(self._writer) as connection,
        ):
            source.backup(connection.connection.driver_connection)  # type: ignore[arg-type]

    def delete(self) -> None:
        """Close the SQLite database and delete its files."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def exists(self) -> bool:
        """Return whether the SQLite file exists and is not empty; always True for PostgreSQL."""
        path = Path(self.path)
        return not self.is_sqlite or (path.exists() and (not path.is_file() or path.stat().st_size > 0))

    def check_file(self) -> None:
        """Raise `StorageUnavailable` if the SQLite file that is open was deleted or replaced by another."""
        if not self.is_sqlite:
            return
        file = self._inode()
        if self._file is None:
            self._file = file
        elif self._file != file:
            what = "deleted" if file is None else "replaced"
            raise StorageUnavailable(f"{self.name} was {what} while it was open: restart the service")

    def _inode(self) -> int | None:
        try:
            return os.stat(self.path).st_ino
        except OSError:
            return None

    def must_exist(self) -> None:
        """Raise `StorageUnavailable` if the SQLite file does not exist, or is empty."""
        if not self.exists():
            raise StorageUnavailable(
                f"there is no database {self.path!r}, or its file is empty: name the database of the service"
                " with --database or FAQSVC_DATABASE_URL"
            )

    def data_version(self) -> int | None:
        """Return a number that changes with every write to the SQLite file; None if it cannot be read.

        It takes microseconds and waits for nothing. Call it from one thread only.
        """
        try:
            if self._watcher is None:
                self._watcher = sqlite3.connect(
                    f"file:{quote(self.path)}?mode=ro", uri=True, timeout=0, check_same_thread=False
                )
            [version] = self._watcher.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            if self._watcher is not None:
                self._watcher.close()
            self._watcher = None
            return None
        return int(version)

    def close(self) -> None:
        """Close idle connections now, and the others after use; the next statement opens new ones."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        self._file = None
        for engine in (self._reader, self._writer):
            engine.dispose()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Raise errors of the database as `StorageUnavailable`, in one line that names it."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            if reason == "unable to open database file":  # SQLite also says so if its folder is read-only
                reason += ": SQLite must be able to write to it and to its folder, even for reads"
            raise StorageUnavailable(f"{self.name}: {reason}") from error


@contextmanager
def _connected(engine: Engine) -> Iterator[Connection]:
    """Lend a connection. Close it afterwards if its pool was disposed of, which closes only idle ones."""
    pool = engine.pool
    with engine.connect() as connection:
        try:
            yield connection
        finally:
            if engine.pool is not pool:
                connection.invalidate()


class StoragePart:
    """A part of the storage, for one kind of data."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def _rows(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Sequence[Any]:
        with self._database.reading() as connection:
            return connection.execute(query, values).all()

    def _first(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Any:
        with self._database.reading() as connection:
            return connection.execute(query, values).first()


def insert_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row unless its primary key is taken; return whether it was inserted."""
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(row).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key)).first() is not None


def number_after(cursor: str | None) -> int | None:
    """Return the number in the cursor of a list that is ordered by numbers. Raises InvalidCursor."""
    if cursor is not None and re.fullmatch("[0-9]{1,16}", cursor) is None:
        raise InvalidCursor
    return None if cursor is None else int(cursor)


def place_of(cursor: str, *order: Column[Any]) -> ScalarSelect[Any]:
    """Return the values of some columns in the row with an id, which is the cursor; NULL if there is none."""
    row = order[0].table.alias()
    columns = (row.c[column.name] for column in order)
    return select(*columns).where(row.c.id == storable(cursor)).scalar_subquery()


def paged(found: Sequence[T], limit: int, cursor: Callable[[T], object]) -> tuple[list[T], str | None]:
    """Return the first `limit` rows, and the cursor after them; None if there are no others."""
    page = list(found[:limit])
    return page, str(cursor(page[-1])) if len(found) > len(page) else None
