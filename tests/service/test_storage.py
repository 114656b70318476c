"""The storage: what it is given it keeps, through restarts, forks, threads and kill -9."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from faqsvc_embed.errors import ConfigurationError, FAQNotFound, InvalidFAQ
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import database
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.database import SCHEMA, StorageUnavailable
from faqsvc_embed.service.slugs import new_slug
from faqsvc_embed.service.sqlite import SQLite
from faqsvc_embed.service.storage import Edition, Storage, open_storage
from faqsvc_embed.service.submission import Submission
from tests.support import samples

PRICING = FAQ.from_dict(samples.pricing())
TEA = Submission("https://www.tea.example", "Tea & Sons", PRICING.items)


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def test_what_was_stored_is_there_after_a_restart(database_url: str) -> None:
    first = open_storage(database_url)
    first.put(PRICING)
    first.close()
    second = open_storage(database_url)

    assert second.edition("pricing") == Edition("en", PRICING.to_json())
    second.close()


def test_three_slashes_are_relative_and_four_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_app("sqlite:///relative.db")
    create_app(f"sqlite:///{tmp_path}/absolute.db")

    assert (tmp_path / "relative.db").is_file()
    assert (tmp_path / "absolute.db").is_file()


def test_the_environment_names_the_database_if_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAQSVC_DATABASE_URL", "sqlite:///named.db")
    create_app()
    monkeypatch.delenv("FAQSVC_DATABASE_URL")
    create_app()

    assert {path.name for path in tmp_path.glob("*.db")} == {"named.db", "faqsvc.db"}


def test_a_storage_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    storage = open_storage("sqlite:///faqsvc.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    storage.put(PRICING)
    storage.close()

    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:faqsvc.db", "faqsvc.db", "mysql://db/faqs"],
)
def test_an_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"sqlite:///FILE, with .* is accepted") as caught:
        open_storage(url)

    assert f"database is {url!r}" in str(caught.value)


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_storage("mysql://me:secret@db/faqs")

    assert "secret" not in str(caught.value)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"missing/faqsvc\.db': unable to open database file"):
        open_storage(url_of(tmp_path / "missing" / "faqsvc.db"))


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and no database at all.\n" * 100)

    with pytest.raises(StorageUnavailable, match=r"notes\.txt': file is not a database"):
        open_storage(url_of(path))


def test_a_database_of_a_later_release_is_left_alone(database_url: str) -> None:
    storage = open_storage(database_url)
    with storage._database.writing() as connection:
        connection.execute("INSERT INTO schema_version VALUES (99)")
    storage.close()

    with pytest.raises(StorageUnavailable, match=f"version 99, and this release .* knows {len(SCHEMA)}"):
        open_storage(database_url)


def test_a_database_of_an_earlier_release_is_brought_forward(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first version knew no titles apart from the records."""
    with monkeypatch.context() as patch:
        patch.setattr(database, "SCHEMA", SCHEMA[:1])
        old = open_storage(database_url)
    faq = FAQ("tea", title="Tea\x00", website_name="Tea & Sons", lang="en")
    with old._database.writing() as connection:
        old._claim(connection, "tea", None, "en")
        connection.execute(
            "INSERT INTO editions (slug, lang, website_url, record, updated_at)"
            " VALUES ('tea', 'en', '', :record, '')",
            {"record": faq.to_json()},
        )
    old.close()
    storage = open_storage(database_url)
    with storage._database.reading() as connection:
        names = connection.execute("SELECT title, website_name FROM editions").fetchall()
        version = connection.execute("SELECT MAX(version) FROM schema_version").fetchone()[0]
    edition = storage.edition("tea")
    storage.close()

    assert [tuple(row) for row in names] == [("Tea\ufffd", "Tea & Sons")]
    assert (edition, version) == (Edition("en", faq.to_json()), len(SCHEMA))


def test_a_schema_that_fails_half_way_is_as_it_was(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(database, "SCHEMA", (*SCHEMA, ("CREATE TABLE more (a TEXT)", "NO SQL")))
        with pytest.raises(StorageUnavailable):
            open_storage(database_url)
    open_storage(database_url).close()  # which could not be if the tables were there already


OPENER = """
import sys
from faqsvc_embed.service.storage import open_storage

print("ready", flush=True)
sys.stdin.readline()
open_storage(sys.argv[1]).close()
"""


def test_many_processes_may_open_a_new_database_at_once(database_url: str) -> None:
    command = [sys.executable, "-W", "error", "-c", OPENER, database_url]
    with ExitStack() as stack:
        openers = [stack.enter_context(python(command, stdin=subprocess.PIPE)) for _ in range(3)]
        for opener in openers:
            assert opener.stdout is not None
            assert opener.stdout.readline() == "ready\n"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.close()

        assert [opener.wait(30) for opener in openers] == [0] * 3


def test_a_database_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "faqsvc.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as it does while it goes over to another mode
    ending = threading.Timer(0.1, other.close)
    ending.start()
    SQLite(str(path)).close()
    ending.join()


def python(command: list[str], *, stdin: int | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True, env=environment)


def test_an_application_that_was_made_before_a_fork_shares_no_connection(database_url: str) -> None:
    storage = open_storage(database_url)
    held = vars(storage._database)

    assert not held.get("_idle")
    assert not held.get("_pool")


def test_the_first_language_that_is_stored_is_the_faqs_own(storage: Storage) -> None:
    faqs = samples.multilingual()
    for lang in ("ko", "en", "de"):
        storage.put(FAQ.from_dict(faqs[lang]))

    langs = {lang: edition.lang for lang in (None, *faqs) if (edition := storage.edition("pricing", lang))}
    assert langs == {
        None: "ko", "en": "en", "ko": "ko", "ja": "ko", "zh": "ko", "es": "ko", "fr": "ko", "de": "de",
    }  # fmt: skip


def test_what_cannot_be_served_is_not_seeded(storage: Storage) -> None:
    with pytest.raises(FAQNotFound, match="is no slug"):
        storage.put(FAQ("a/b", lang="en"))
    with pytest.raises(InvalidFAQ, match="lang is 'it': one of en, ko"):
        storage.put(FAQ("a", lang="it"))
    with pytest.raises(InvalidFAQ, match="lang is None"):
        storage.put(FAQ("a"))


def test_a_slug_that_is_taken_is_not_given_again(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.keys.create()
    [key] = storage.keys.list()
    letters = iter("aaaaaaaaaaaabbbbbb")
    monkeypatch.setattr("secrets.choice", lambda _: next(letters))

    assert storage.publish(TEA, owner=key.id) == "tea-sons-aaaaaa"
    assert storage.publish(TEA, owner=key.id) == "tea-sons-bbbbbb"


@pytest.mark.parametrize(
    ("words", "readable"),
    [
        ("Tea & Sons", "tea-sons"),
        ("Café Zürich", "cafe-zurich"),
        ("ＦＡＱ №5", "faq-no5"),
        ("서울 상점", "www-tea-example"),
        ("../../etc/passwd", "etc-passwd"),
        ("An uncommonly long name of a website, with a subtitle", "an-uncommonly-long-name-of-a-website"),
        ("x" * 100, "x" * 40),
    ],
)
def test_a_slug_can_be_read(words: str, readable: str) -> None:
    assert new_slug(words, "https://www.tea.example/").rpartition("-")[0] == readable


def test_a_slug_needs_no_latin_letters_at_all() -> None:
    assert new_slug("서울", "https://서울.한국/").startswith("faq-")


def test_what_fails_in_a_transaction_is_undone(storage: Storage) -> None:
    def fail() -> None:
        with storage._database.writing() as connection:
            storage._claim(connection, "half", None, "en")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    storage.put(FAQ("half", lang="de"))

    assert storage.edition("half", "en") == Edition("de", FAQ("half", lang="de").to_json())


def test_a_reader_does_not_wait_for_a_writer(storage: Storage) -> None:
    storage.put(PRICING)
    with storage._database.writing() as connection, ThreadPoolExecutor(1) as thread:
        connection.execute("DELETE FROM editions")

        assert thread.submit(storage.edition, "pricing").result(timeout=5) is not None


def test_threads_may_read_and_write_at_once(storage: Storage) -> None:
    barrier = threading.Barrier(8)

    def work(number: int) -> int:
        barrier.wait(10)
        for round_ in range(10):
            storage.put(FAQ(f"faq-{number}", lang="en", title=str(round_)))
            assert storage.edition(f"faq-{number}") is not None
        return number

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == list(range(8))


WRITER = """
import sys
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import open_storage

storage = open_storage(sys.argv[1])
for number in range(100_000):
    storage.put(FAQ(f"faq-{number}", lang="en"))
    print(number, flush=True)
"""


def test_nothing_acknowledged_is_lost_by_kill_9(database_url: str) -> None:
    with python([sys.executable, "-c", WRITER, database_url]) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 50:
                writer.send_signal(signal.SIGKILL)
                break
        acknowledged = 50 + sum(1 for _ in writer.stdout)
    storage = open_storage(database_url)

    missing = [number for number in range(acknowledged + 1) if storage.edition(f"faq-{number}") is None]
    storage.close()
    assert missing == []
