"""The schema: created, upgraded by the next release, and left alone by commands that only read."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Final

import pytest
from sqlalchemy import inspect, text

import faqsvc_embed
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import Storage, StorageUnavailable, maintenance, open_storage, read_storage
from faqsvc_embed.service.storage.database import Database
from tests.service.storage.writes import put, title
from tests.support.waiting import wait_until

TEA: Final = FAQ("tea", "Tea\ufffd", "Tee & Söhne", "en", (Item(0, "What?", "Tea."),))
NEXT: Final = f"{int(maintenance.HEAD) + 1:04}"
MIGRATION: Final = f'''
import time
from pathlib import Path

from alembic import op
from sqlalchemy import Column, Text

revision, down_revision = "{NEXT}", "{maintenance.HEAD}"


def upgrade() -> None:
    op.add_column("faqs", Column("note", Text))
    op.execute("UPDATE faqs SET note = 'upgraded'")
    signals = Path(__file__).parent
    (signals / "started").touch()
    while (signals / "wait").exists():
        time.sleep(0.01)
    if (signals / "fail").exists():
        raise SystemExit("failed")
'''
"""The migration of the next release. Files beside it make it wait or fail."""

Command = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def new_database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def storage(database_url: str) -> Iterator[Storage]:
    """A database of this release with an FAQ."""
    storage = open_storage(database_url)
    put(storage, TEA)
    yield storage
    storage.close()


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """The migrations of the next release: a copy of this package, with its bytecode, that has one more."""
    package = Path(faqsvc_embed.__file__).parent
    copy = tmp_path / "next" / "faqsvc_embed"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("static"))
    versions = copy / "service/storage/migrations/versions"
    (versions / f"v{NEXT}_note.py").write_text(MIGRATION)
    return versions


@pytest.fixture
def next_release(versions: Path, database_url: str) -> Command:
    """Start `faqsvc db` of the next release."""

    def start(*arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "faqsvc_embed", "db", *arguments, "--database", database_url]
        environment = {**os.environ, "PYTHONPATH": str(versions.parents[4])}
        return subprocess.Popen(
            command,
            env=environment,
            cwd=versions,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


def run(process: "subprocess.Popen[str]") -> tuple[int, str]:
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def notes(database: Database) -> list[str]:
    with database.reading() as connection:
        return list(connection.scalars(text("SELECT note FROM faqs")))


@pytest.mark.system
def test_this_release_reads_during_and_after_the_upgrade_by_the_next(
    storage: Storage, versions: Path, next_release: Command
) -> None:
    (versions / "wait").touch()
    upgrading = next_release("upgrade")
    if storage.database.is_sqlite:  # on PostgreSQL, readers wait for the lock on the table, a moment
        wait_until((versions / "started").exists)
        assert title(storage, "tea") == TEA.title
    (versions / "wait").unlink()
    assert run(upgrading)[0] == 0
    put(storage, FAQ("tea", "New", lang="de"))

    assert (title(storage, "tea"), title(storage, "tea", "de")) == (TEA.title, "New")
    assert (notes(storage.database), maintenance.version(storage.database)) == (["upgraded"], NEXT)
    assert not maintenance.needs_upgrade(storage.database)


def test_an_upgrade_waits_longer_for_another_process_than_a_write_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.service.storage.engines.BUSY_TIMEOUT", 0.05)
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        Timer(0.5, other.rollback).start()
        open_storage(f"sqlite:///{tmp_path}/db").close()


@pytest.mark.system
def test_processes_upgrade_one_after_the_other(storage: Storage, next_release: Command) -> None:
    upgrades = [next_release("upgrade") for _ in range(2)]

    assert [run(process)[0] for process in upgrades] == [0, 0]
    assert notes(storage.database) == ["upgraded"]


@pytest.mark.system
def test_a_failed_upgrade_changes_nothing_and_can_be_repeated(
    storage: Storage, versions: Path, next_release: Command
) -> None:
    (versions / "fail").touch()
    assert run(next_release("upgrade"))[0] != 0
    assert maintenance.version(storage.database) == maintenance.HEAD
    assert title(storage, "tea") == TEA.title
    (versions / "fail").unlink()

    assert run(next_release("upgrade"))[0] == 0
    assert notes(storage.database) == ["upgraded"]


@pytest.mark.system
def test_sqlite_keeps_a_copy_of_the_database_before_its_upgrade(
    storage: Storage, next_release: Command
) -> None:
    if not storage.database.is_sqlite:
        pytest.skip("PostgreSQL has pg_dump")
    for _ in range(2):
        assert run(next_release("upgrade"))[0] == 0
    [copy] = Path(storage.database.path).parent.glob("*.before-*")
    before = read_storage(f"sqlite:///{copy}")

    assert (maintenance.version(before.database), title(before, "tea")) == (maintenance.HEAD, TEA.title)
    before.close()


@pytest.mark.system
def test_commands_of_the_next_release_that_only_read_change_nothing(
    storage: Storage, next_release: Command
) -> None:
    status, export = run(next_release("status")), run(next_release("export"))

    assert (status[0], export[0]) == (1, 1)
    assert "faqsvc db upgrade" in export[1]
    assert maintenance.version(storage.database) == maintenance.HEAD


OLDEST: Final = {
    "audit_log_by_site",
    "faqs_by_site",
    "faqs_by_state",
    "ix_idempotency_keys_created_at",
    "ix_previews_expires_at",
    "ix_sessions_expires_at",
    "ix_sign_in_links_expires_at",
}
"""The indexes of the oldest schema that the newest one has, too."""


def structure(database: Database) -> dict[str, tuple[list[str], list[str]]]:
    """Return the columns and the indexes of each table."""
    with database.reading() as connection:
        found = inspect(connection)
        return {
            table: (
                sorted(column["name"] for column in found.get_columns(table)),
                sorted(
                    str(index["name"])
                    for index in found.get_indexes(table)
                    if "duplicates_constraint" not in index
                ),
            )
            for table in found.get_table_names()
        }


def test_the_oldest_schema_is_upgraded_to_the_newest(database_url: str, new_database: Database) -> None:
    storage = open_storage(database_url)
    for faq in (
        TEA,
        FAQ("tea", "Tee", lang="de"),
        FAQ("tea", "Green tea", lang="en"),
        FAQ("tea", "Thé", lang="fr"),
    ):
        put(storage, faq)
    newest = structure(new_database)
    storage.close()
    with new_database.writing() as connection:
        names = [name for _, indexes in newest.values() for name in indexes if name not in OLDEST]
        tables = ["wall_clock", "generations"]
        if new_database.is_sqlite:
            for trigger in ("search_insert", "search_update", "search_delete"):
                connection.execute(text(f"DROP TRIGGER {trigger}"))
            tables += ["search_rows", "translations_by_trigram"]
        for kind, gone in (("INDEX", names), ("TABLE", tables)):
            for name in gone:
                connection.execute(text(f"DROP {kind} IF EXISTS {name}"))
        connection.execute(text("ALTER TABLE sites DROP COLUMN write_arrival"))
        connection.execute(text("ALTER TABLE revisions DROP COLUMN translated_from"))
        connection.execute(text("UPDATE translations SET translated_from = 2 WHERE lang = 'de'"))
        connection.execute(text("CREATE INDEX ix_translations_binned_at ON translations (binned_at)"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0007'"))
    storage = open_storage(database_url)
    [upgraded] = storage.overview.page(storage.sites.list()[0].id, limit=1)[0]
    made_from = [(one.lang, one.translated_from) for one in upgraded.translations]
    assert made_from == [("en", None), ("fr", None), ("de", 2)]
    put(storage, TEA)

    assert title(storage, "tea") == TEA.title
    assert structure(storage.database) == newest
    storage.close()


def test_a_schema_of_the_next_release_is_used_and_a_later_one_refused(
    database_url: str, new_database: Database
) -> None:
    maintenance.upgrade(new_database)
    for version, is_used in ((NEXT, True), (f"{int(NEXT) + 1:04}", False)):
        with new_database.writing() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
        if is_used:
            open_storage(database_url).close()
        else:
            with pytest.raises(StorageUnavailable, match=version):
                open_storage(database_url)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE faqs (id INTEGER)"],
        ["CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('0009')"],
        ["CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('a3f81c')"],
    ],
    ids=["faqs of another application", "a development version", "migrations of another application"],
)
def test_tables_that_no_release_has_made_are_refused_and_left_alone(
    database_url: str, new_database: Database, statements: list[str]
) -> None:
    with new_database.writing() as connection:
        for statement in statements:
            connection.execute(text(statement))
    for open_it in (open_storage, read_storage):
        with pytest.raises(StorageUnavailable, match="import"):
            open_it(database_url)
    with pytest.raises(StorageUnavailable, match="sites"), new_database.reading() as connection:
        connection.execute(text("SELECT * FROM sites"))


def test_a_table_of_another_application_is_not_used(database_url: str, new_database: Database) -> None:
    with new_database.writing() as connection:
        connection.execute(text("CREATE TABLE people (id INTEGER)"))
    with pytest.raises(StorageUnavailable, match="people"):
        open_storage(database_url)
    assert maintenance.version(new_database) is None
