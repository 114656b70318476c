"""SQLite: database URLs, files, and waiting for other writers."""

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import StorageUnavailable, database, open_storage, schema
from faqsvc_embed.service.storage.database import Database
from tests.service.bodies import publication, publish
from tests.service.storage.writes import put

pytestmark = pytest.mark.system


def test_an_argument_or_the_environment_names_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_app("sqlite:///relative.db")
    create_app(f"sqlite:///{tmp_path}/absolute.db")
    monkeypatch.setenv("FAQSVC_DATABASE_URL", "sqlite:///named.db")
    create_app()
    monkeypatch.delenv("FAQSVC_DATABASE_URL")
    create_app()
    storage = open_storage("sqlite:///faqsvc.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    put(storage, FAQ("a", lang="en"))
    storage.close()

    assert {path.stem for path in tmp_path.glob("*.db")} == {"relative", "absolute", "named", "faqsvc"}
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///", "sqlite:///:memory:", "faqsvc.db", "mysql://db/faqs", "sqlite://host/a"],
)
def test_an_invalid_url_is_a_configuration_error_that_names_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_storage(url)

    assert repr(url) in str(caught.value)
    with pytest.raises(ConfigurationError) as caught:
        open_storage(f"mysql://me:secret@{url}")
    assert "secret" not in str(caught.value)


def test_a_path_is_no_url(tmp_path: Path) -> None:
    path: Any = tmp_path / "faqsvc.db"
    with pytest.raises(ConfigurationError, match="sqlite:///FILE"):
        create_app(path)


def test_a_line_break_after_the_url_is_no_part_of_the_name_of_the_file(tmp_path: Path) -> None:
    open_storage(f"sqlite:///{tmp_path}/faqsvc.db\n").close()

    assert (tmp_path / "faqsvc.db").exists()


def test_an_old_sqlite_is_refused_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red Hat Enterprise Linux 9 has such a version."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ConfigurationError, match=r"SQLite .* needs 3\.35: use another Python, or PostgreSQL"):
        open_storage(f"sqlite:///{tmp_path}/faqsvc.db")

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"missing/faqsvc\.db.*write to it and to its folder"):
        open_storage(f"sqlite:///{tmp_path}/missing/faqsvc.db")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
def test_a_file_that_is_not_a_database_is_named_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes and not a database.\n" * 100)
    with pytest.raises(StorageUnavailable, match=r"notes\.txt") as caught:
        open_storage(f"sqlite:///{path}")

    assert caught.tb  # its frames refer to the connection, which would be open still
    assert path not in open_files()


def open_files() -> set[Path]:
    """Return the files that this process has open."""
    descriptors = Path("/proc/self/fd").iterdir()
    return {descriptor.readlink() for descriptor in descriptors if descriptor.is_symlink()}


def test_another_process_that_creates_the_database_is_awaited(tmp_path: Path) -> None:
    path = tmp_path / "faqsvc.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as it does while it switches to write-ahead mode
    timer = threading.Timer(0.1, other.close)
    timer.start()
    open_storage(f"sqlite:///{path}").close()
    timer.join()


def test_a_writer_does_not_wait_forever_for_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.05)
    opened = Database(f"sqlite:///{tmp_path}/faqsvc.db")
    failures: list[StorageUnavailable] = []

    def write() -> None:
        try:
            with opened.writing():
                pass
        except StorageUnavailable as error:
            failures.append(error)

    with opened.writing():
        other = threading.Thread(target=write)
        other.start()
        other.join(60)
    write()
    opened.close()

    assert len(failures) == 1


@pytest.mark.parametrize("is_listed", [False, True], ids=["none", "a small one"])
def test_the_faqs_of_sites_that_are_not_listed_are_not_read(tmp_path: Path, is_listed: bool) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/faqsvc.db")
    small, huge = storage.sites.create("small", listed=is_listed), storage.sites.create("huge")
    put(storage, FAQ("z", lang="en"), site=small)
    steps = list[int]()
    with storage.database.reading() as connection:
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(lambda: steps.append(1), 100)  # each 100 instructions

    def steps_of_lists() -> int:
        steps.clear()
        storage.publications.listed(50)
        storage.publications.starts(50)
        return len(steps)

    before = steps_of_lists()
    with storage.database.writing() as connection:
        for table in (schema.faqs, schema.translations, schema.revisions):
            row = connection.execute(select(table)).mappings().one()
            rows = [{**row, "slug": f"a-{number}"} for number in range(1_000)]
            own = {"site": huge} if table is schema.faqs else {}
            connection.execute(insert(table), [{**row, **own} for row in rows])
    after = steps_of_lists()
    storage.close()

    assert after - before < 10


@pytest.mark.parametrize("is_replaced", [False, True], ids=["deleted", "replaced"])
def test_nothing_is_written_to_a_file_that_lost_its_name(tmp_path: Path, is_replaced: bool) -> None:
    path, other = tmp_path / "faqsvc.db", tmp_path / "other.db"
    open_storage(f"sqlite:///{other}").close()
    with TestClient(create_app(storage := open_storage(f"sqlite:///{path}"))) as client:
        key = storage.keys.create("tests", site=storage.sites.create("tests"))
        storage.close()
        assert client.get("/readyz").status_code == 200
        if is_replaced:
            other.replace(path)
        else:
            path.unlink()
        responses = [publish(client, key, publication()), client.get("/readyz")]
    assert [response.status_code for response in responses] == [503, 503]
    storage.close()
