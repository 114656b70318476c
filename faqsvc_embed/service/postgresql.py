"""PostgreSQL: for many processes, on many machines, over one database."""

import re
import select
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.database import Connection, Rows, StorageUnavailable

MOST_CONNECTIONS: Final = 10
"""A process; a server that was not told otherwise takes a hundred in all."""
TIMEOUT: Final = 5
"""Seconds to wait for a server that does not answer."""
WAIT: Final = 2.0
"""Seconds that a request waits for a connection: to a server that is gone, or while all are in use."""
STATEMENT_TIMEOUT: Final = 5.0
"""Seconds that a statement may take, most of all in waiting for a lock, as with SQLite."""
GRACE: Final = 1.0
"""Seconds in which the server is to say that a statement took too long, before it is taken for gone."""

_OURS: Final[dict[str, str | int]] = {
    "connect_timeout": TIMEOUT,
    "tcp_user_timeout": TIMEOUT * 1000,  # a server that fell off the network is given up, not waited for
    "application_name": "faqsvc",
}
_SCHEMA_LOCK: Final = 0x666171737663  # "faqsvc": whoever else locks by numbers has another one
_PARAMETER = re.compile(r":(\w+)")

T = TypeVar("T")


class PostgreSQL:
    """The database of an address `postgresql://USER:PASSWORD@HOST:PORT/NAME`, as libpq reads it."""

    def __init__(self, url: str) -> None:
        """Take the address; nothing is connected until there is something to ask.

        Raises:
            ConfigurationError: libpq cannot read it. It is not quoted, for it may hold a password.
        """
        try:
            stated = conninfo_to_dict(url)
        except psycopg.Error:
            raise ConfigurationError(
                "database is not shown, for it may hold a password, but it is none that PostgreSQL can read: "
                "postgresql://USER:PASSWORD@HOST:PORT/NAME is accepted"
            ) from None
        self._conninfo = make_conninfo("", **(_OURS | stated | {"client_encoding": "utf8"}))
        self._name = f"PostgreSQL {stated.get('dbname', '')!r} at {stated.get('host', 'localhost')}"
        self._pool: ConnectionPool[_Impatient] | None = None
        self._opening = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for statements that change nothing."""
        with self._reported(), self._opened().connection() as connection:
            yield _Connection(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection in a transaction: on disk when the block ends, undone if it raises."""
        with self._reported(), self._opened().connection() as connection, connection.transaction():
            yield _Connection(connection)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Lend a new connection in a transaction that no other process has at the same time."""
        with self._reported(), psycopg.connect(self._conninfo) as connection, connection.transaction():
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StorageUnavailable(f"{self._name} has the encoding {encoding}, and UTF8 is needed")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_SCHEMA_LOCK])
            # A table may take its time to alter, but is not waited for: others would queue up behind.
            connection.execute(
                "SELECT set_config(name, %s, true) FROM pg_settings"
                " WHERE name = 'lock_timeout' AND source = 'default'",
                [str(round(STATEMENT_TIMEOUT * 1000))],
            )
            yield _Connection(connection)

    def close(self) -> None:
        """Close the connections; the next statement opens new ones."""
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _opened(self) -> "ConnectionPool[_Impatient]":
        """Return the pool, opened by whoever needs it first: its threads would not survive a fork."""
        with self._opening:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._conninfo,
                    connection_class=_Impatient,
                    configure=_Impatient.agree,
                    kwargs={"autocommit": True},  # a read is one statement and one round trip
                    min_size=1,
                    max_size=MOST_CONNECTIONS,
                    timeout=WAIT,
                    check=_check,
                    open=True,
                )
            return self._pool

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Tell what goes wrong by the name of the database, in one line."""
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, _Silent):
                self._opened().drain()  # idle connections lead to the same silence
            raise StorageUnavailable(f"{self._name}: {' '.join(str(error).split())}") from error


class _Silent(psycopg.OperationalError):
    """The server did not even say that a statement takes too long."""


class _Impatient(psycopg.Connection[Any]):
    """A connection that no statement holds for ever, whether the server is busy or silent."""

    _longest: float | None = STATEMENT_TIMEOUT + GRACE

    def agree(self) -> None:
        """Limit the time of a statement on the server, unless somebody has said there what it is to be."""
        asked = "SELECT setting::integer, source FROM pg_settings WHERE name = 'statement_timeout'"
        milliseconds, source = self.execute(asked).fetchone() or (0, "default")
        if source == "default":
            milliseconds = round(STATEMENT_TIMEOUT * 1000)
            self.execute(f"SET statement_timeout = {milliseconds}".encode())
        self._longest = milliseconds / 1000 + GRACE if milliseconds else None

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Wait for the server as psycopg does at every step, but not for ever."""
        bounded = gen if self._longest is None else self._bounded(gen, time.monotonic() + self._longest)
        return super().wait(bounded, *args, **kwargs)

    def _bounded(self, gen: PQGen[T], until: float) -> Generator[Any, Any, T]:
        """Pass on what `gen` waits for, which comes up several times a second even if nothing does."""
        ready = None
        while True:
            try:
                wanted = gen.send(ready)  # type: ignore[arg-type]  # None starts it
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if time.monotonic() > until:
                self.close()  # what it would say later belongs to nobody
                raise _Silent(f"no answer in {self._longest:g} s")
            ready = yield wanted


class _Connection:
    """A connection that takes parameters as the SQL of the service writes them."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Rows:
        return self._connection.execute(_in_their_syntax(sql), parameters)


@cache
def _in_their_syntax(sql: str) -> bytes:
    return _PARAMETER.sub(r"%(\1)s", sql).encode()


def _check(connection: "psycopg.Connection[Any]") -> None:
    """Look whether an idle connection still is one, without asking the server each time.

    A server that ends a connection says so, and so there is something to read although nobody asked. Only
    then it is worth a round trip.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)
