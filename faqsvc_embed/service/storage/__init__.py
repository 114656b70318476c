"""FAQs, sites and API keys in a database: SQLite for one machine, PostgreSQL for several.

Start with `open_storage()` and `Storage`. `schema.py` has the tables; `maintenance.py` upgrades and copies
databases. `reading.py` reads FAQs, and `overview.py` lists those of a site. The life cycle of an FAQ is in
three files: `writer.py` writes and publishes, `removal.py` unpublishes, deletes and restores, and both do so
by the steps of a transaction in `edit.py`.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from sqlalchemy import text

    from faqsvc_embed.service.storage import maintenance
    from faqsvc_embed.service.storage.api_keys import APIKeyInfo, APIKeys, UnknownAPIKey
    from faqsvc_embed.service.storage.database import DEFAULT_URL, Database, StorageUnavailable
    from faqsvc_embed.service.storage.logs import AuditLog, ChangeLog
    from faqsvc_embed.service.storage.overview import Overview
    from faqsvc_embed.service.storage.people import People, SignIns
    from faqsvc_embed.service.storage.reading import History, Publications
    from faqsvc_embed.service.storage.removal import Removal
    from faqsvc_embed.service.storage.sites import Site, Sites, UnknownSite
    from faqsvc_embed.service.storage.writer import Writer

__all__ = [
    "DEFAULT_URL",
    "APIKeyInfo",
    "APIKeys",
    "Site",
    "Storage",
    "StorageUnavailable",
    "UnknownAPIKey",
    "UnknownSite",
    "open_storage",
    "read_storage",
]


def open_storage(url: str = DEFAULT_URL) -> "Storage":
    """Open a database, and create its schema or upgrade it to the schema of this release.

    `sqlite:///faqsvc.db` is a file: three slashes for a path relative to the working directory, four for an
    absolute one. `postgresql://…` is a URL as libpq reads it.

    Raises:
        ConfigurationError: the URL is not valid.
        StorageUnavailable: the database cannot be opened, or its schema is too new.
    """
    # Without open connections, a server can fork next; the storage opens them when it needs them.
    with closing(Database(url)) as database:
        maintenance.upgrade(database)
    return Storage(database)


def read_storage(url: str = DEFAULT_URL) -> "Storage":
    """Open a database with the schema of this release; nothing is created or changed.

    Raises:
        ConfigurationError: the URL is not valid.
        StorageUnavailable: there is no such database, or its schema needs an upgrade.
    """
    with closing(Database(url)) as database:
        database.must_exist()
        if maintenance.needs_upgrade(database):
            raise StorageUnavailable(f"{database.name} has an old schema, or none: run `faqsvc db upgrade`")
    return Storage(database)


class Storage:
    """The storage in one database, in several parts. All methods block and are thread-safe.

    Every method raises StorageUnavailable if the database does not respond.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.database = database
        self.clock = clock
        self.sites: Sites = Sites(database, clock)
        self.keys: APIKeys = APIKeys(database, clock)
        self.people: People = People(database, clock)
        self.sign_ins: SignIns = SignIns(database, clock)
        self.publications: Publications = Publications(database, clock)
        self.history: History = History(database, clock)
        self.changes: ChangeLog = ChangeLog(database, clock)
        self.overview: Overview = Overview(database, clock)
        self.writer: Writer = Writer(database, clock)
        self.removal: Removal = Removal(self.writer)
        self.audit: AuditLog = AuditLog(database, clock)

    def close(self) -> None:
        """Close idle connections; the storage can still be used."""
        self.database.close()

    def ping(self) -> None:
        """Check that the database responds."""
        self.database.check_file()
        with self.database.reading() as connection:
            connection.execute(text("SELECT 1"))
