"""What the storage asks of a database, and the schema that it brings forward.

The SQL of the service is written once, in what SQLite and PostgreSQL have in common, with `:name` for
every value. Columns are text: times as ISO 8601 in UTC, so that they sort, and digests in hex.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final, Protocol

from faqsvc_embed.errors import FAQError


class StorageUnavailable(FAQError):
    """The database cannot be opened, or does not answer; the message names it."""


class Rows(Protocol):
    """What a statement came to."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """One connection, held by one thread at a time."""

    def execute(self, sql: str, parameters: Mapping[str, Any] = ..., /) -> Rows: ...


class Database(Protocol):
    """A database that threads share. What goes wrong in it is raised as `StorageUnavailable`."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Lend a connection for statements that change nothing."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Lend a connection in a transaction: on disk when the block ends, undone if it raises."""
        ...

    def migrating(self) -> AbstractContextManager[Connection]:
        """Lend a connection in a transaction that no other process has at the same time."""
        ...

    def close(self) -> None:
        """Close the connections that nobody holds; the next statement opens new ones."""
        ...


Step = str | Callable[[Connection], None]
"""A part of a version of the schema: a statement, or what no statement says in both dialects."""


def _copy_names(connection: Connection) -> None:
    rows = connection.execute("SELECT slug, lang, record FROM editions").fetchall()
    for slug, lang, text in rows:
        record = json.loads(text)
        connection.execute(
            "UPDATE editions SET title = :title, website_name = :name WHERE slug = :slug AND lang = :lang",
            {
                "title": storable(record["title"]),
                "name": storable(record["websiteName"]),
                "slug": slug,
                "lang": lang,
            },
        )


SCHEMA: Final[tuple[tuple[Step, ...], ...]] = (
    # One entry a version of the schema. Entries are never edited, only added: a database that exists has
    # gone through them.
    (
        """CREATE TABLE api_keys (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            ending TEXT NOT NULL,
            created_at TEXT NOT NULL,
            last_used_at TEXT,
            revoked_at TEXT
        )""",
        """CREATE TABLE faqs (
            slug TEXT PRIMARY KEY,
            owner TEXT REFERENCES api_keys (id),
            lang TEXT NOT NULL,
            created_at TEXT NOT NULL
        )""",
        """CREATE TABLE editions (
            slug TEXT NOT NULL REFERENCES faqs (slug),
            lang TEXT NOT NULL,
            website_url TEXT NOT NULL,
            record TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            PRIMARY KEY (slug, lang)
        )""",
        """CREATE TABLE publications (
            owner TEXT NOT NULL REFERENCES api_keys (id),
            idempotency_key TEXT NOT NULL,
            body_digest TEXT NOT NULL,
            slug TEXT NOT NULL,
            created_at TEXT NOT NULL,
            PRIMARY KEY (owner, idempotency_key)
        )""",
        "CREATE INDEX publications_by_age ON publications (created_at)",
    ),
    # What a list of all FAQs says of each, so that it need not read their contents.
    (
        "ALTER TABLE editions ADD COLUMN title TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE editions ADD COLUMN website_name TEXT NOT NULL DEFAULT ''",
        _copy_names,
    ),
)


def storable(text: str) -> str:
    """Return a text without what PostgreSQL has no room for; within JSON it stands escaped."""
    return text.replace("\0", "\ufffd")


def timestamp(moment: datetime) -> str:
    """Return a time in UTC as the columns hold it: as text that sorts by time."""
    return moment.isoformat(timespec="microseconds")


def migrate(database: Database) -> None:
    """Bring the schema to the newest version, in one transaction.

    Raises:
        StorageUnavailable: it is of a version that only a later release of this package knows.
    """
    with database.migrating() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        row = connection.execute("SELECT MAX(version) FROM schema_version").fetchone()
        version = row[0] or 0
        if version > len(SCHEMA):
            raise StorageUnavailable(
                f"the database has schema version {version}, and this release of faqsvc-embed knows"
                f" {len(SCHEMA)}: upgrade the package"
            )
        for number, steps in enumerate(SCHEMA[version:], version + 1):
            for step in steps:
                if isinstance(step, str):
                    connection.execute(step)
                else:
                    step(connection)
            connection.execute("INSERT INTO schema_version VALUES (:version)", {"version": number})
