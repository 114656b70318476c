"""The version of a database's schema, and its upgrade by the migrations in `migrations/`."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

from faqsvc_embed.service.storage.database import Database, StorageUnavailable

HEAD: Final = "0007"
"""The newest version. Each release can still use the schema of the next one."""


def version(database: Database) -> str | None:
    """Return the version of the schema; None if there is no schema, or one of a release before 0.2."""
    with database.reading() as connection:
        return _version(connection)


def needs_upgrade(database: Database) -> bool:
    """Return whether the schema is older than this release.

    Raises:
        StorageUnavailable: it is newer than the schema of the next release.
    """
    found = version(database)
    if found is not None and int(found) > int(HEAD) + 1:
        raise StorageUnavailable(
            f"{database.name} has schema version {found}, but this release knows versions up to {HEAD}:"
            " upgrade the package"
        )
    return found is None or int(found) < int(HEAD)


def upgrade(database: Database) -> None:
    """Upgrade the schema to the newest version, one process after the other.

    An SQLite database is copied first, to a file next to it, such as `faqsvc.db.before-0007`.

    Raises:
        StorageUnavailable: it is newer than the schema of the next release, or the database is not in UTF-8.
    """
    if not needs_upgrade(database):
        return
    with database.migrating() as connection:
        if database.is_sqlite and needs_upgrade(database) and inspect(connection).get_table_names():
            copy = Path(f"{database.path}.before-{HEAD}")
            if not copy.exists():  # otherwise an upgrade has failed before
                copy_sqlite(database, copy)
        _run(connection)


def copy_sqlite(database: Database, target: Path) -> None:
    """Copy an SQLite database to a new file, completely or not at all, while others read and write it."""
    partial = target.with_name(f"{target.name}.part")
    try:
        partial.unlink(missing_ok=True)
        with database.reading() as connection:
            connection.execute(text("VACUUM INTO :path"), {"path": str(partial)})
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _run(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)
