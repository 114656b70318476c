"""The drills of the runbook: backup and restore, an upgrade, a leaked key, deletion required by law."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psycopg
import pytest
from alembic import command
from alembic.config import Config

from faqsvc_embed import FAQ, AuthenticationError, FAQClient, FAQEmbed, FAQNotFound, Publication
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import maintenance, open_storage
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.values import UNCONDITIONAL
from tests.operations.commands import documented, run, run_in_shell, serving
from tests.service.storage.writes import put
from tests.support.postgres import PROGRAMS, Postgres
from tests.support.running import running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system


class Publisher(threading.Thread):
    """Publishes FAQs one after the other, and notes which were acknowledged."""

    def __init__(self, url: str, key: str, name: str = "faq") -> None:
        super().__init__()
        self._slug = name
        self.acknowledged = list[str]()
        self._url, self._key = url, key
        self._ended = threading.Event()

    def run(self) -> None:
        items = [{"question": "Is it there?", "answer": "Yes."}]
        with httpx2.Client(trust_env=False, timeout=30, headers={KEY_HEADER: self._key}) as client:
            for number in range(10_000):
                body = {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items}
                try:
                    response = client.put(f"{self._url}{API_PATH}/{self._slug}-{number}", json=body)
                except httpx2.HTTPError:
                    return
                if response.status_code == 429:
                    return
                assert response.status_code == 201, response.text
                self.acknowledged.append(f"{self._slug}-{number}")
                if self._ended.wait(0.02):  # commands run beside it
                    return

    def wait_for(self, count: int) -> None:
        while len(self.acknowledged) < count and self.is_alive():
            self.join(0.01)
        assert len(self.acknowledged) >= count

    def end(self) -> None:
        self._ended.set()
        self.join(30)


def missing_from(database: Path, slugs: list[str]) -> list[str]:
    """Return the FAQs that a database lacks."""
    storage = open_storage(f"sqlite:///{database}")
    try:
        return [slug for slug in slugs if not storage.publications.languages(slug)]
    finally:
        storage.close()


def test_backup_while_running_and_restore_lose_nothing(tmp_path: Path) -> None:
    live, backup = tmp_path / "live.db", tmp_path / "faqs-monday.db"
    database = f"sqlite:///{live}"
    storage = open_storage(database)
    key = storage.keys.create("website")
    storage.close()
    with serving("--database", database, "--port", "0", ended_by=signal.SIGKILL) as url:
        publisher = Publisher(url, key)
        publisher.start()
        publisher.wait_for(20)
        before = list(publisher.acknowledged)
        run_in_shell(documented("Back up every day", "`db backup`,"), tmp_path, FAQSVC_DATABASE_URL=database)
        publisher.wait_for(len(before) + 5)
    publisher.end()
    assert missing_from(live, publisher.acknowledged) == []  # the service was killed
    run("db", "restore", str(backup), "--database", database)
    assert missing_from(live, before) == []
    with running(create_app(database)) as url:
        restored = httpx2.get(f"{url}{API_PATH}/{before[-1]}", trust_env=False, timeout=60)
        assert restored.status_code == 200
        listed = httpx2.get(f"{url}/api/v1/faqs", headers={KEY_HEADER: key}, trust_env=False, timeout=60)
        assert listed.status_code == 200  # the key is in the backup, too


@dataclass(frozen=True)
class Service:
    """A running service with an SQLite database in a folder, and a key."""

    database: str
    url: str
    key: str

    def client(self, key: str | None = None) -> FAQClient:
        return FAQClient(self.url, key or self.key, timeout=30)

    def publish(self, slug: str, answer: str, key: str | None = None) -> Publication:
        items = [("Who lives there?", answer)]
        return self.client(key).publish_faq(
            website_url="https://tea.example", website_name="Tea", items=items, slug=slug
        )

    def answer(self, slug: str) -> str:
        return self.client().get_faq(slug).items[0].answer


@contextmanager
def service_in(folder: Path) -> Iterator[Service]:
    database = f"sqlite:///{folder}/faqs.db"
    storage = open_storage(database)
    key = storage.keys.create("website")
    storage.close()
    with running(create_app(database)) as url:
        yield Service(database, url, key)


def test_what_is_purged_is_in_no_cache_backup_or_file(tmp_path: Path) -> None:
    live, store = tmp_path / "live", tmp_path / "store"
    live.mkdir()
    secret = "Ms Xqzjwv lives in Elm Street."
    pieces = ("qzj", "zjw", "jwv")  # as they are indexed for searches
    with service_in(live) as service:
        for answer in ("Nobody.", secret):
            service.publish("people", answer)
        with FAQEmbed(service.url, store=f"file:{store}", wait=30, timeout=30) as embed:
            assert secret in embed.render("people")
            wait_until(lambda: embed.reader.fetcher.feed_lag is not None)
            assert secret in run("db", "export", "--database", service.database)
            run_in_shell(
                documented("## Deletion required by law", "2. With SQLite"),
                tmp_path,
                FAQSVC_BASE_URL=service.url,
                FAQSVC_API_KEY=service.key,
            )
            wait_until(lambda: embed.use_faq("people").data is None)
            wait_until(lambda: not holds(store, "Elm Street"))
        with pytest.raises(FAQNotFound):
            service.answer("people")
        assert "Elm Street" not in run("db", "export", "--database", service.database)
        assert any(holds(live, piece) for piece in pieces)
        run_in_shell(documented("2. With SQLite", "3. PostgreSQL"), live)
        run("db", "backup", str(tmp_path / "backup.db"), "--database", service.database)
        assert not any(holds(tmp_path / "backup.db", text) for text in ("Elm Street", *pieces))
    assert not any(holds(live, text) for text in ("Elm Street", *pieces))  # after the restart


def test_purged_text_is_in_no_file_of_postgresql(tmp_path: Path) -> None:
    with Postgres.running() as server:
        server.execute("CREATE DATABASE law")
        database = server.url("law")
        storage = open_storage(database)
        owner = storage.keys.verify(storage.keys.create("website"))
        assert owner is not None
        texts = ("Ms Example lives in Elm Street.", "Elm Street. " * 3000)  # the second is stored apart
        for slug, answer in zip(("people", "houses", "other"), (*texts, "Nobody."), strict=True):
            record = {"slug": slug, "title": answer[:40], "items": [{"question": "Who?", "answer": answer}]}
            put(storage, FAQ.from_dict({**record, "lang": "en"}))
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("ANALYZE")
            connection.execute("CHECKPOINT")
        data = Path(server.host)
        assert holds(data, "Elm Street")
        for slug in ("people", "houses"):
            storage.removal.purge(owner, slug, None, UNCONDITIONAL)
        storage.close()
        commands = documented("3. PostgreSQL", "4. Back up")
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        run_in_shell(commands, tmp_path, FAQSVC_DATABASE_URL=database, PATH=path)
        assert not holds(data, "Elm Street")
        assert not holds(data, "elm street")  # as it is searched
        storage = open_storage(database)
        assert storage.publications.get("other")
        storage.close()


def holds(path: Path, text: str) -> bool:
    """Return whether a file, or one below a folder, contains a text."""
    paths = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return any(text.encode() in one.read_bytes() for one in paths)


def test_all_that_a_leaked_key_did_is_listed_and_undone(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        storage = open_storage(service.database)
        leaked = storage.keys.create("leaked")
        access = storage.keys.verify(leaked)
        assert access is not None
        made = storage.keys.create("made with it", by=access)
        for slug in ("pricing", "legal", "hours"):
            service.publish(slug, "Nobody.")
        service.publish("pricing", "Buy pills.", leaked)
        service.publish("spam", "Buy pills.", leaked)
        with service.client(leaked) as client:
            client.unpublish_faq("hours")
            client.unpublish_faq("legal", purge=True)
            preview = client.preview_faq("pricing").token
        printed = run_in_shell(
            documented("**A compromised key.**"),
            tmp_path,
            LEAKED_ID=access.key_id or "",
            FAQSVC_DATABASE_URL=service.database,
            FAQSVC_BASE_URL=service.url,
            FAQSVC_API_KEY=service.key,
        )
        assert [storage.keys.verify(key) for key in (leaked, made)] == [None, None]
        assert storage.history.preview(preview, "pricing", None) is None
        storage.close()
        with pytest.raises(AuthenticationError):
            service.publish("legal", "Buy pills.", leaked)
        done = [line.split()[2:] for line in printed.splitlines() if f"key {access.key_id}" in line]
        assert [(line[2], line[3]) for line in done] == [
            ("purge", "legal"),
            ("unpublish", "hours"),
            ("publish", "spam"),
            ("publish", "pricing"),
            ("key-create", done[-1][3]),
        ]
        assert [service.answer(slug) for slug in ("pricing", "legal", "hours")] == ["Nobody."] * 3
        with pytest.raises(FAQNotFound):
            service.answer("spam")


NEXT_RELEASE = """
import sqlalchemy
from alembic import op

revision = "{next}"
down_revision = "{head}"


def upgrade():
    op.add_column("faqs", sqlalchemy.Column("colour", sqlalchemy.Text))
    op.create_table("colours", sqlalchemy.Column("name", sqlalchemy.Text, primary_key=True))
"""


def upgrade_to_next_release(database: str, folder: Path) -> None:
    """Migrate a database as the release after this one may."""
    following = f"{int(maintenance.HEAD) + 1:04}"
    migration = NEXT_RELEASE.format(next=following, head=maintenance.HEAD)
    (folder / f"v{following}_colours.py").write_text(migration)
    scripts = Path(maintenance.__file__).parent / "migrations"
    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", f"{scripts / 'versions'}{os.pathsep}{folder}")
    migrated = Database(database)
    with migrated.migrating() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    migrated.close()


def test_an_upgrade_while_running_and_a_roll_back_lose_nothing(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        publisher = Publisher(service.url, service.key)
        publisher.start()
        publisher.wait_for(10)
        upgrade_to_next_release(service.database, tmp_path)
        publisher.wait_for(len(publisher.acknowledged) + 10)  # this release goes on with the new schema
        assert httpx2.get(f"{service.url}/readyz", trust_env=False, timeout=60).status_code == 200
        publisher.end()
    run("db", "upgrade", "--create", "--database", service.database)  # as the unit does
    with running(create_app(service.database)) as url:  # rolled back: this release starts on the new schema
        after = Publisher(url, service.key, "after")
        after.start()
        after.wait_for(3)
        after.end()
    assert missing_from(tmp_path / "faqs.db", publisher.acknowledged + after.acknowledged) == []
