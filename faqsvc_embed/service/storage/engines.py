"""The connections of each kind of database, SQLite and PostgreSQL: how many there are, and their settings."""

import selectors
import sqlite3
import time
from pathlib import Path
from typing import Any, Final

import sqlalchemy
from sqlalchemy import URL, Engine, ExceptionContext, event
from sqlalchemy.exc import DisconnectionError

from faqsvc_embed.errors import ConfigurationError, quoted

MIN_SQLITE: Final = (3, 35)
"""The first version with RETURNING. The Python of Red Hat Enterprise Linux 9 has an older one."""
BUSY_TIMEOUT: Final = 5.0
"""Seconds to wait for another writer of the same SQLite file."""
READER_CONNECTIONS: Final = 6
"""Connections of one process to PostgreSQL for reads. Those of editors use at most three."""
WRITER_CONNECTIONS: Final = 4
"""Connections for writes. PostgreSQL by default accepts a hundred in total."""
POOL_TIMEOUT: Final = 2.0
"""Seconds to wait for a free connection."""
NETWORK_TIMEOUT: Final = 5
"""Seconds to connect, and for the server to acknowledge data."""
KEEPALIVE: Final = 60
"""Seconds after which the system tests an idle connection, because firewalls forget those that are silent."""
STATEMENT_TIMEOUT: Final = 5.0
"""Seconds that a statement may take, including its wait for locks."""
READ_ONLY: Final = "25006"
"""The SQLSTATE of a write in a transaction that only reads."""
_CONNINFO: Final[dict[str, Any]] = {
    "connect_timeout": NETWORK_TIMEOUT,
    "tcp_user_timeout": NETWORK_TIMEOUT * 1000,
    "keepalives_idle": KEEPALIVE,
    "application_name": "faqsvc",
    # Behind a pooler, the name of a prepared statement may be that of another client's statement.
    "prepare_threshold": None,
}
EXPECTED: Final = (
    "expected sqlite:///FILE, with a fourth slash for an absolute path, or "
    "postgresql://USER:PASSWORD@HOST:PORT/NAME"
)


def path_of(url: str) -> Path:
    path = url.removeprefix("sqlite:///")
    if path in (url, "", ":memory:"):
        shown = "not valid (not shown here, as it may contain a password)" if "@" in path else quoted(url)
        raise ConfigurationError(f"database is {shown}: {EXPECTED}")
    return Path(path)


def conninfo(url: str) -> dict[str, Any]:
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
            f"database is not valid (not shown here, as it may contain a password): {EXPECTED}"
        ) from None


def sqlite_engines(path: str) -> tuple[Engine, Engine]:
    """Return an engine for reads and one for transactions. Raises ConfigurationError if SQLite is too old."""
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        raise ConfigurationError(
            f"this Python has SQLite {sqlite3.sqlite_version}, and the service needs "
            f"{MIN_SQLITE[0]}.{MIN_SQLITE[1]}: use another Python, or PostgreSQL"
        )
    reader, writer = (
        sqlalchemy.create_engine(
            URL.create("sqlite", database=path),
            connect_args={"timeout": BUSY_TIMEOUT},
            pool_size=10,
            max_overflow=-1,
            pool_reset_on_return=None,
        )
        for _ in range(2)
    )
    for engine in (reader, writer):
        event.listen(engine, "connect", _begin_nothing)
    event.listen(writer, "connect", _prepare_writer)
    # Two transactions that read before they write could deadlock without IMMEDIATE.
    event.listen(writer, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return reader, writer


def _begin_nothing(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions by itself


def _prepare_writer(connection: sqlite3.Connection, _: Any) -> None:
    _enable_write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")  # a commit that returned is on the disk
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # purged text is overwritten


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


def postgresql_engines(stated: dict[str, Any]) -> tuple[Engine, Engine]:
    """Return an engine for reads, with one round trip for each statement, and one for transactions."""
    options: dict[str, Any] = {
        "connect_args": {**_CONNINFO, **stated, "client_encoding": "utf8"},
        "max_overflow": 0,
        "pool_timeout": POOL_TIMEOUT,
    }
    of_reads = options | {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}
    url = "postgresql+psycopg://"
    reader = sqlalchemy.create_engine(url, pool_size=READER_CONNECTIONS, **of_reads)
    # With a stricter isolation level, concurrent writes would fail instead of waiting for each other.
    of_writes = options | {"isolation_level": "READ COMMITTED"}
    writer = sqlalchemy.create_engine(url, pool_size=WRITER_CONNECTIONS, **of_writes)
    for engine in (reader, writer):
        event.listen(engine, "connect", _configure)
        event.listen(engine, "checkout", _check)
    event.listen(writer, "handle_error", _leave_standby)
    return reader, writer


def _configure(connection: Any, _: Any) -> None:
    """Set the time-out of statements, unless the URL, the user or the database has set one."""
    connection.execute(
        "SELECT set_config(name, %s, false) FROM pg_settings"
        " WHERE name = 'statement_timeout' AND source = 'default'",
        [str(round(STATEMENT_TIMEOUT * 1000))],
    )
    connection.commit()


def _check(connection: Any, *_: Any) -> None:
    """Replace an idle connection that the server has closed: it has data to read."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        if selector.select(0):
            raise DisconnectionError


def _leave_standby(context: ExceptionContext) -> None:
    """Close the connections to a server that refuses writes, such as the old primary after a fail-over.

    New connections may reach the new primary.
    """
    if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True
