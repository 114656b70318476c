"""Work on a whole database: its schema and upgrades, backups of an SQLite file, and exports as lines of JSON.

An upgrade runs the migrations in `migrations/`, which change tables, and then creates new tables and indexes.

Each line of an export is an object: first `FORMAT`, then `{"table": …, "row": {…}}` for each row. A
release reads the exports of the release before. API keys are exported as digests, so they stay valid.
"""

import json
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, inspect, select, text

from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.service.storage import schema
from faqsvc_embed.service.storage.database import Database, StorageUnavailable
from faqsvc_embed.service.storage.trigrams import index_trigrams
from faqsvc_embed.service.storage.values import HIDDEN

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

FORMAT: Final[dict[str, str | int]] = {"format": "faqsvc", "version": 1}
BATCH: Final = 500

_TABLES: Final[tuple[Table, ...]] = (
    schema.sites,
    schema.api_keys,
    schema.people,
    schema.faqs,
    schema.translations,
    schema.revisions,
    schema.audit_log,
    schema.events,
    schema.last_event,
)
"""Each table comes after those that it refers to."""


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


class TransferFailed(FAQError):
    """A backup cannot be made, or an export cannot be imported."""


def backup(database: Database, target: Path) -> None:
    """Copy an SQLite database to a new file, while others read and write it.

    Raises:
        TransferFailed: the file exists, or the database is PostgreSQL.
    """
    if not database.is_sqlite:
        raise TransferFailed("the database is PostgreSQL: use pg_dump, or `faqsvc db export`")
    if target.exists():
        raise TransferFailed(f"{target} already exists: choose the name of a new file")
    copy_sqlite(database, target)


def restore(database: Database, file: Path) -> None:
    """Replace the content of an SQLite database with a backup, completely or not at all.

    Readers of the change feed may know changes that the backup does not have. The restored log has another
    epoch, so that these readers read everything again.

    Raises:
        TransferFailed: the file is not a backup, or the database is PostgreSQL.
        StorageUnavailable: the file is damaged or from a later release, or the database cannot be written.
    """
    if not database.is_sqlite:
        raise TransferFailed("the database is PostgreSQL: use pg_restore, or `faqsvc db import`")
    source, prepared = Database(f"sqlite:///{file}"), Database(f"sqlite:///{database.path}.part")
    prepared.delete()
    try:
        if version(source) is None:  # may raise an error that names the backup
            raise TransferFailed(f"{file} is not a backup of a service")
        backup(source, Path(prepared.path))
        upgrade(prepared)
        with prepared.writing() as connection:
            _begin_epoch(connection)
        prepared.close()
        database.replace_with(Path(prepared.path))
    finally:
        source.close()
        prepared.delete()


def export_lines(database: Database) -> Iterator[str]:
    """Yield a database as lines of JSON, as it is at this moment."""
    yield json.dumps(FORMAT)
    with database.snapshot() as connection:
        for source in _TABLES:
            columns = [column for column in source.columns if column is not schema.last_event.c.epoch]
            query = select(*columns).order_by(*source.primary_key)
            rows = connection.execute(query, execution_options={"yield_per": BATCH})
            for row in rows.mappings():
                yield json.dumps({"table": source.name, "row": dict(row)}, default=_text)


def import_lines(database: Database, lines: Iterable[str | bytes]) -> int:
    """Write an export to an empty database, completely or not at all; return the number of FAQs.

    Blank lines and a byte order mark, which editors add, are ignored.

    Raises:
        TransferFailed: the database is not empty, a line is not a line of an export, or the end is missing.
    """
    count, is_complete, lacks_sources = 0, False, False
    with database.writing() as connection:
        if connection.execute(select(schema.sites.c.id).limit(1)).first() is not None:
            raise TransferFailed(f"{database.name} is not empty; import into a new database")
        connection.execute(schema.last_event.delete())
        # Rows of one table are inserted together if they have the same columns.
        for (target, _), same in groupby(_rows(lines), lambda one: (one[0], one[1].keys())):
            while rows := [row for _, row in islice(same, BATCH)]:
                connection.execute(insert(target), rows)
                count += sum(row["state"] not in HIDDEN for row in rows) if target is schema.faqs else 0
                lacks_sources |= target is schema.revisions and "translated_from" not in rows[0]
                is_complete = target is schema.last_event and len(rows) == 1  # the last line of every export
        if not is_complete:
            raise TransferFailed("the export is incomplete: its last lines are missing; export it again")
        if lacks_sources:
            connection.exec_driver_sql(COPY_SOURCES)
        _begin_epoch(connection)
        if not database.is_sqlite:  # the next number comes from a sequence
            sequence = func.pg_get_serial_sequence("audit_log", "number")
            connection.execute(
                select(func.setval(sequence, select(func.max(schema.audit_log.c.number)).scalar_subquery()))
            )
    return count


def _begin_epoch(connection: Connection) -> None:
    """Give the change log a new epoch, because its numbers may repeat those of an earlier log."""
    connection.execute(schema.last_event.update().values(epoch=secrets.token_hex(4)))


def _text(value: datetime) -> str:
    return value.isoformat(timespec="microseconds")


def _rows(lines: Iterable[str | bytes]) -> Iterator[tuple[Table, dict[str, Any]]]:
    """Yield the rows of an export with their tables. Raises TransferFailed."""
    tables = {known.name: known for known in _TABLES}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            if number == 1:
                if entry != FORMAT:
                    raise ValueError
                continue
            target = tables[entry["table"]]
            row = _row(target, entry["row"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise TransferFailed(f"line {number} is not a line of an export: {quoted(line)}") from None
        yield target, row


def _row(target: Table, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a row without columns of a later release. Missing columns get their defaults.

    Raises ValueError for a value that no database can store. Other invalid values raise other errors.
    """
    row = {name: value for name, value in values.items() if name in target.columns}
    for name, value in row.items():
        if isinstance(value, str):
            value.encode()  # half of a surrogate pair has no encoding
        if isinstance(value, int) and value.bit_length() > 63:
            raise ValueError
        if value is not None and isinstance(target.c[name].type, schema.Timestamp):
            row[name] = datetime.fromisoformat(value)
    return row
