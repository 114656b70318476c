"""Copies of a whole database: backups of an SQLite file, and exports as lines of JSON.

Each line of an export is an object: first `FORMAT`, then `{"table": …, "row": {…}}` for each row. A
release reads the exports of the release before. API keys are exported as digests, so they stay valid.
"""

import json
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select

from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.service.storage import schema, upgrade
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.values import HIDDEN

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
    upgrade.copy_sqlite(database, target)


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
        if upgrade.version(source) is None:  # may raise an error that names the backup
            raise TransferFailed(f"{file} is not a backup of a service")
        backup(source, Path(prepared.path))
        upgrade.upgrade(prepared)
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
            connection.exec_driver_sql(upgrade.COPY_SOURCES)
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
