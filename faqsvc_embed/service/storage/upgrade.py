"""Creates the schema of a database from `schema.py`, and upgrades it.

An upgrade runs the migrations in `migrations/`, which change tables, and then creates new tables and indexes.
"""

import secrets
from itertools import chain
from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from faqsvc_embed.service.storage import schema
from faqsvc_embed.service.storage.database import Database, StorageUnavailable
from faqsvc_embed.service.storage.trigrams import index_trigrams

_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_VERSIONS: Final = sorted(file.stem[1:5] for file in (_MIGRATIONS / "versions").glob("v*.py"))
HEAD: Final = _VERSIONS[-1]
"""The newest version. Each release can still use the schema of the next one."""

COPY_SOURCES: Final = """
UPDATE revisions SET translated_from = (
  SELECT translated_from FROM translations WHERE slug = revisions.slug AND lang = revisions.lang)
WHERE (slug, lang, number) IN (
  SELECT slug, translations.lang, newest FROM translations JOIN faqs USING (slug)
  WHERE translations.translated_from IS NOT NULL AND translations.lang <> faqs.lang)
"""
"""Copies the source of each translation to its newest revision, where older schemas and exports lack it.

Only the newest one gets it, because readers wait meanwhile. The others are compared by time.
"""


def version(database: Database) -> str | None:
    """Return the version of the schema; None if there is none.

    Raises:
        StorageUnavailable: no release made the tables, or the schema is more than one version newer.
    """
    with database.reading() as connection:
        tables = inspect(connection).get_table_names()
        if "alembic_version" in tables:
            found = str(connection.scalar(text("SELECT version_num FROM alembic_version")))
        elif schema.faqs.name in tables:
            found = ""
        else:
            return None
    if not found.isdigit() or (found < HEAD and found not in _VERSIONS):
        raise StorageUnavailable(
            f"{database.name} has tables that no release of faqsvc-embed has made: use another database. If a"
            " development version made them, export the FAQs with it (`faqsvc db export`), and import them"
        )
    if int(found) > int(HEAD) + 1:
        raise StorageUnavailable(
            f"{database.name} has schema version {found}, but this release knows versions up to {HEAD}:"
            " upgrade the package"
        )
    return found


def needs_upgrade(database: Database) -> bool:
    """Return whether there is no schema, or one older than this release. Raises what `version` raises."""
    found = version(database)
    return found is None or found < HEAD


def upgrade(database: Database) -> None:
    """Create the schema or upgrade it to the newest version, one process after the other.

    An SQLite database is copied before its upgrade, to a file next to it, such as `faqsvc.db.before-0011`.

    Raises:
        StorageUnavailable: as `version` raises it, or the database is not in UTF-8.
    """
    if not needs_upgrade(database):
        return
    from alembic import command
    from alembic.config import Config

    with database.migrating() as connection:
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        config.attributes["connection"] = connection
        if version(database) is None:
            # Without a check, because a table of another application is an error.
            schema.metadata.create_all(connection, checkfirst=False)
            index_trigrams(connection)
            epoch = secrets.token_hex(4)
            connection.execute(schema.last_event.insert().values(number=0, epoch=epoch))
            command.stamp(config, "head")
        elif needs_upgrade(database):  # no other process has upgraded it meanwhile
            copy = Path(f"{database.path}.before-{HEAD}")
            if database.is_sqlite and not copy.exists():  # otherwise an upgrade has failed before
                copy_sqlite(database, copy)
            command.upgrade(config, "head")
            schema.metadata.create_all(connection)
            for index in chain.from_iterable(table.indexes for table in schema.metadata.tables.values()):
                index.create(connection, checkfirst=True)


def copy_sqlite(database: Database, target: Path) -> None:
    """Copy an SQLite database to a new file, completely or not at all, while others read and write it."""
    partial = target.with_name(f"{target.name}.part")
    try:
        partial.unlink(missing_ok=True)
        with database.reading() as connection:
            connection.execute(text("VACUUM INTO :path"), {"path": str(partial)})
        partial.rename(target)
    except StorageUnavailable as error:
        raise StorageUnavailable(f"{target} cannot be written: {error}") from error
    finally:
        for suffix in ("", "-journal"):  # SQLite leaves a journal on a full disk
            Path(f"{partial}{suffix}").unlink(missing_ok=True)
