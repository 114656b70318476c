"""The schema: created, upgraded from release 0.1, and never touched by what only reads."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Timer

import pytest
from sqlalchemy import text

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import Storage, StorageUnavailable, open_storage, read_storage, upgrade
from faqsvc_embed.service.storage.api_keys import _digest
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.migrations import editions
from tests.service.storage.test_storage import python
from tests.service.storage.writes import title, write

KEYS = {"one": "fs_live_one", "two": "fs_live_two"}
TEA = FAQ("tea", "Tea\x00", "Tee & Söhne", "en", (Item(0, "What?", "Tea."),))

# What release 0.1 created, in its words.
RELEASE_0_1 = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (1), (2);
CREATE TABLE api_keys (id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
  ending TEXT NOT NULL, created_at TEXT NOT NULL, last_used_at TEXT, revoked_at TEXT);
CREATE TABLE faqs (slug TEXT PRIMARY KEY, owner TEXT REFERENCES api_keys (id), lang TEXT NOT NULL,
  created_at TEXT NOT NULL);
CREATE TABLE editions (slug TEXT NOT NULL REFERENCES faqs (slug), lang TEXT NOT NULL,
  website_url TEXT NOT NULL, record TEXT NOT NULL, updated_at TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '', website_name TEXT NOT NULL DEFAULT '', PRIMARY KEY (slug, lang));
CREATE TABLE publications (owner TEXT NOT NULL REFERENCES api_keys (id), idempotency_key TEXT NOT NULL,
  body_digest TEXT NOT NULL, slug TEXT NOT NULL, created_at TEXT NOT NULL,
  PRIMARY KEY (owner, idempotency_key));
CREATE INDEX publications_by_age ON publications (created_at)
"""
# How release 0.1 reads.
READ = (
    "SELECT editions.lang, editions.record, editions.website_url"
    " FROM faqs JOIN editions ON editions.slug = faqs.slug"
    " WHERE faqs.slug = 'tea' AND editions.lang IN (faqs.lang, 'de')"
)


@pytest.fixture
def new_database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def old_database(new_database: Database) -> Database:
    """A database of release 0.1: two keys with an FAQ each, and one of the operator."""
    time = "2026-11-01T08:00:00.000000+00:00"
    with new_database.writing() as connection:
        for statement in RELEASE_0_1.split(";"):
            connection.execute(text(statement))
        for number, (key_id, key) in enumerate(KEYS.items()):
            row = {"id": key_id, "digest": _digest(key), "time": f"2026-11-0{number + 1}{time[10:]}"}
            connection.execute(
                text("INSERT INTO api_keys VALUES (:id, :id, :digest, 'xxxx', :time, NULL, NULL)"), row
            )
        for slug, owner in (("tea", "one"), ("coffee", "two"), ("operator", None)):
            values = {"slug": slug, "owner": owner, "time": time}
            connection.execute(text("INSERT INTO faqs VALUES (:slug, :owner, 'en', :time)"), values)
            for lang in ("en", "de"):
                add_edition(connection, FAQ(slug, TEA.title, TEA.website_name, lang, TEA.items))
    return new_database


def add_edition(connection: object, faq: FAQ) -> None:
    values = {"slug": faq.slug, "lang": faq.lang, "record": faq.to_json(), "url": "https://www.tea.example"}
    connection.execute(  # type: ignore[attr-defined]
        text(
            "INSERT INTO editions (slug, lang, website_url, record, updated_at)"
            " VALUES (:slug, :lang, :url, :record, '2026-11-02T08:00:00.000000+00:00')"
        ),
        values,
    )


def test_the_records_of_release_0_1_become_revision_1_of_a_site_for_each_key(old_database: Database) -> None:
    upgrade.upgrade(old_database)
    storage = Storage(old_database)
    keys = {name: storage.keys.verify(key) for name, key in KEYS.items()}
    one, two = keys["one"], keys["two"]
    assert one is not None
    assert two is not None
    found = storage.publications.get("tea", "de")
    [revision], _ = storage.history.revisions(one, "tea", None, limit=5)

    assert found is not None
    assert (found.lang, found.website_url) == ("de", "https://www.tea.example")
    assert found.record == FAQ("tea", TEA.title, TEA.website_name, "de", TEA.items).to_json()
    assert (revision.number, revision.state, revision.author) == (1, "published", "one")
    assert [[faq.slug for faq in storage.overview.faqs(key.site, limit=5)] for key in (one, two)] == [
        ["tea"],
        ["coffee"],
    ]
    assert sorted((site.name, site.faq_count) for site in storage.sites.list()) == [
        ("one", 1),
        ("operator", 1),
        ("two", 1),
    ]
    assert storage.sites.list()[0].byte_count == sum(
        len(FAQ(faq.slug, TEA.title, TEA.website_name, lang, TEA.items).to_json().encode())
        for faq in storage.overview.faqs(storage.sites.list()[0].id, limit=5)
        for lang in ("en", "de")
    )
    assert write(storage, one, "tea", lang="en", title="New").number == 2
    assert title(storage, "tea") == "New"


def test_an_upgrade_makes_an_admin_of_each_name_of_a_key_that_could_publish(old_database: Database) -> None:
    upgrade.upgrade(old_database)
    storage = Storage(old_database)
    admins = [(person.name, person.role, person.email) for person in storage.people.list()]
    assert admins == [("one", "admin", None), ("two", "admin", None)]
    [site] = {person.site for person in storage.people.list() if person.name == "one"}
    assert storage.people.admin("one", site=site).site == site


def test_sqlite_keeps_a_copy_of_the_database_before_its_upgrade(old_database: Database) -> None:
    if not old_database.is_sqlite:
        pytest.skip("PostgreSQL has pg_dump")
    upgrade.upgrade(old_database)
    upgrade.upgrade(old_database)
    (copy,) = Path(old_database.path).parent.glob("*.before-*")
    before = Database(f"sqlite:///{copy}")
    assert upgrade.version(before) is None
    with before.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM faqs")) == 3
    before.close()


def test_release_0_1_reads_during_and_after_the_upgrade(
    old_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editions, "BATCH", 2)
    read: list[int] = []

    def copy(connection: object, row: object) -> None:
        with old_database.reading() as other:
            read.append(len(other.execute(text(READ)).all()))
        return original(connection, row)  # type: ignore[arg-type]

    original = editions._copy
    monkeypatch.setattr(editions, "_copy", copy)
    upgrade.upgrade(old_database)
    storage = Storage(old_database)
    one = storage.keys.verify(KEYS["one"])
    assert one is not None
    write(storage, one, "tea", lang="en", title="New")
    with old_database.reading() as connection:
        after = {row.lang: FAQ.from_json(row.record).title for row in connection.execute(text(READ))}

    assert read == [2] * 6
    assert after == {"en": "New", "de": TEA.title}


def test_release_0_1_reads_a_database_that_this_release_has_made(
    database_url: str, new_database: Database
) -> None:
    storage = open_storage(database_url)
    storage.put(TEA)
    storage.close()
    with new_database.reading() as connection:
        version = connection.scalar(text("SELECT MAX(version) FROM schema_version"))
        [row] = connection.execute(text(READ))

    assert (version, row.record) == (2, TEA.to_json())


def test_what_release_0_1_writes_during_the_upgrade_is_kept(
    old_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with old_database.writing() as connection:
        connection.execute(text("DELETE FROM editions WHERE slug = 'tea' AND lang = 'de'"))
    # What runs between the copy and the replacement of the table.
    original, calls = editions.copy_editions, list[int]()

    def copy_editions(connection: object) -> None:
        if calls:
            add_edition(connection, FAQ("tea", "Late", lang="de"))
        calls.append(1)
        original(connection)  # type: ignore[arg-type]

    monkeypatch.setattr(editions, "copy_editions", copy_editions)
    upgrade.upgrade(old_database)

    assert title(Storage(old_database), "tea", "de") == "Late"


def test_a_schema_of_the_next_release_is_used_and_a_later_one_refused(
    database_url: str, new_database: Database
) -> None:
    upgrade.upgrade(new_database)
    next_ = int(upgrade.HEAD) + 1
    for version, is_used in ((f"{next_:04}", True), (f"{next_ + 1:04}", False)):
        with new_database.writing() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
        if is_used:
            open_storage(database_url).close()
        else:
            with pytest.raises(StorageUnavailable, match=version):
                open_storage(database_url)


def test_what_only_reads_creates_and_changes_nothing(tmp_path: Path, old_database: Database) -> None:
    with pytest.raises(StorageUnavailable, match="typo"):
        read_storage(f"sqlite:///{tmp_path}/typo.db")
    if old_database.is_sqlite:
        with pytest.raises(StorageUnavailable, match="upgrade"):
            read_storage(f"sqlite:///{old_database.path}")
    with old_database.reading() as connection:
        assert len(connection.execute(text(READ)).all()) == 2

    assert not (tmp_path / "typo.db").exists()
    assert upgrade.version(old_database) is None


def test_a_failed_upgrade_can_be_repeated(old_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(editions, "_create_sites", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            upgrade.upgrade(old_database)
    upgrade.upgrade(old_database)

    assert title(Storage(old_database), "tea") == TEA.title


def test_an_upgrade_waits_longer_for_another_process_than_a_write_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.service.storage.database.BUSY_TIMEOUT", 0.05)
    other = sqlite3.connect(tmp_path / "faqsvc.db", isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    Timer(0.5, other.rollback).start()
    with closing(other):
        storage = open_storage(f"sqlite:///{tmp_path}/faqsvc.db")
        storage.put(TEA)
        storage.close()


OPENER = """
import sys
from faqsvc_embed.service.storage import open_storage

print("ready", flush=True)
sys.stdin.readline()
open_storage(sys.argv[1]).close()
"""


@pytest.mark.system
def test_processes_open_a_new_database_concurrently(database_url: str) -> None:
    with ExitStack() as stack:
        openers = [stack.enter_context(python(OPENER, database_url)) for _ in range(3)]
        assert [opener.wait(60) for opener in openers] == [0] * 3
