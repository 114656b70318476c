"""The connections to a database, SQLite or PostgreSQL."""

import os
import select
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import URL, Connection, Engine, Table, event, text
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError

from faqsvc_embed.errors import ConfigurationError, FAQError, quoted
from faqsvc_embed.service.storage.sqlite import BUSY_TIMEOUT, begin_writing, prepare_writer

DEFAULT_URL: Final = "sqlite:///faqsvc.db"
PUBLIC_CONNECTIONS: Final = 5
"""Connections of one process to PostgreSQL for reads, besides those of editors."""
EDITOR_CONNECTIONS: Final = 2
"""Connections for the lists and searches of editors, which may be slow: no public read waits for them."""
WRITER_CONNECTIONS: Final = 4
"""Connections for writes. PostgreSQL by default accepts a hundred in total."""
POOL_TIMEOUT: Final = 2.0
"""Seconds to wait for a free connection."""
EDITOR_POOL_TIMEOUT: Final = 8.0
"""Seconds to wait for a free connection of editors: a few searches one after the other."""
NETWORK_TIMEOUT: Final = 5
"""Seconds to connect, and for the server to acknowledge data."""
STATEMENT_TIMEOUT: Final = 5.0
"""Seconds that a statement may take, including its wait for locks."""
MIGRATION_TIMEOUT: Final = 60.0
"""Seconds to wait for another process that migrates the database."""

# "faqsvc" in ASCII: advisory locks are numbers that all programs share.
_MIGRATION_LOCK: Final = 0x666171737663
_CONNINFO: Final[dict[str, Any]] = {
    "connect_timeout": NETWORK_TIMEOUT,
    "tcp_user_timeout": NETWORK_TIMEOUT * 1000,
    "application_name": "faqsvc",
    # Behind a pooler, the name of a prepared statement may be that of another client's statement.
    "prepare_threshold": None,
}
_EXPECTED: Final = (
    "expected sqlite:///FILE, with a fourth slash for an absolute path, or "
    "postgresql://USER:PASSWORD@HOST:PORT/NAME"
)


class StorageUnavailable(FAQError):
    """The database cannot be opened or does not respond; the message names it."""


class Database:
    """A database that threads share. It raises errors as `StorageUnavailable`.

    The first statement opens a connection, so a server can fork before it.
    """

    def __init__(self, url: str) -> None:
        """Raises ConfigurationError if the URL is not valid; the message leaves out passwords."""
        if not isinstance(url, str):
            raise ConfigurationError(f"database is {quoted(url)}: {_EXPECTED}")
        self._write_lock = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        self.is_sqlite: bool = not url.startswith(("postgresql://", "postgres://"))
        if self.is_sqlite:
            self.path: str = str(_path(url).absolute())  # a later chdir must not matter
            self.name: str = f"the database {self.path!r}"
            self._reader = self._browser = _sqlite_engine(self.path)
            self._writer = _sqlite_engine(self.path)
            event.listen(self._writer, "connect", prepare_writer)
            event.listen(self._writer, "begin", begin_writing)
            self._file: int | None = self._inode()
        else:
            self.path = ""
            stated = _conninfo(url)
            self.name = f"PostgreSQL {stated.get('dbname', '')!r} at {stated.get('host', 'localhost')}"
            self._reader, self._browser, self._writer = _postgresql_engines(stated)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for reads; each statement sees what was committed before it started."""
        with self._errors_translated(), _connected(self._reader) as connection:
            yield connection

    @contextmanager
    def browsing(self) -> Iterator[Connection]:
        """Lend a connection as `reading` does, for a list or a search of an editor, which may be slow."""
        with self._errors_translated(), _connected(self._browser) as connection:
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
        """Raise `StorageUnavailable` if the SQLite file does not exist."""
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
        for engine in (self._reader, self._browser, self._writer):
            engine.dispose()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Raise errors of the database as `StorageUnavailable`, in one line that names it."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = getattr(error, "orig", None) or error
            raise StorageUnavailable(f"{self.name}: {' '.join(str(reason).split())}") from error


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


def _path(url: str) -> Path:
    path = url.removeprefix("sqlite:///")
    if path in (url, "", ":memory:"):
        shown = "not valid (not shown here, as it may contain a password)" if "@" in url else quoted(url)
        raise ConfigurationError(f"database is {shown}: {_EXPECTED}")
    return Path(path)


def _conninfo(url: str) -> dict[str, Any]:
    """Return the parameters of a PostgreSQL URL, as libpq reads it."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:  # psycopg or libpq is missing
        raise ConfigurationError(
            "database is a PostgreSQL URL, but psycopg is missing: pip install 'faqsvc-embed[postgresql]'"
        ) from None
    try:
        return dict(conninfo_to_dict(url))
    except psycopg.Error:
        raise ConfigurationError(
            f"database is not valid (not shown here, as it may contain a password): {_EXPECTED}"
        ) from None


def _sqlite_engine(path: str) -> Engine:
    engine = sqlalchemy.create_engine(
        URL.create("sqlite", database=path),
        connect_args={"timeout": BUSY_TIMEOUT},
        pool_size=10,
        max_overflow=-1,
        pool_reset_on_return=None,
    )

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # the driver begins no transactions by itself

    return engine


def _postgresql_engines(stated: dict[str, Any]) -> tuple[Engine, Engine, Engine]:
    """Return two engines for reads, with one round trip for each statement, and one for transactions."""
    options: dict[str, Any] = {
        "connect_args": {**_CONNINFO, **stated, "client_encoding": "utf8"},
        "max_overflow": 0,
        "pool_timeout": POOL_TIMEOUT,
    }
    of_reads = options | {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}
    of_editors = of_reads | {"pool_timeout": EDITOR_POOL_TIMEOUT}
    url = "postgresql+psycopg://"
    reader = sqlalchemy.create_engine(url, pool_size=PUBLIC_CONNECTIONS, **of_reads)
    browser = sqlalchemy.create_engine(url, pool_size=EDITOR_CONNECTIONS, **of_editors)
    writer = sqlalchemy.create_engine(url, pool_size=WRITER_CONNECTIONS, **options)
    for engine in (reader, browser, writer):
        event.listen(engine, "connect", _configure)
        event.listen(engine, "checkout", _check)
    return reader, browser, writer


def _configure(connection: Any, _: Any) -> None:
    """Change two defaults, unless the URL, the user or the database has changed them.

    `plan_cache_mode`: PostgreSQL may use one plan of a prepared statement for all values. Such a plan reads
    all FAQs of the site to list fifty.
    """
    defaults = {
        "statement_timeout": str(round(STATEMENT_TIMEOUT * 1000)),
        "plan_cache_mode": "force_custom_plan",
    }
    with connection.cursor() as cursor:
        for name, value in defaults.items():
            cursor.execute(
                "SELECT set_config(name, %s, false) FROM pg_settings WHERE name = %s AND source = 'default'",
                [value, name],
            )
    connection.commit()


def _check(connection: Any, *_: Any) -> None:
    """Replace an idle connection that the server has closed: it has data to read."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise DisconnectionError


def insert_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row unless its primary key is taken; return whether it was inserted."""
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(row).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key)).first() is not None
