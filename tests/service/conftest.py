"""A service over a SQLite database of its own, with an API key."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import threads
from faqsvc_embed.service.http.threads import database_outages, editor_outages, write_outages
from faqsvc_embed.service.storage import Storage, database, engines, open_storage
from faqsvc_embed.service.storage.database import Database
from tests.support.clock import Clock


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database file, to copy: that is faster than a migration for each test."""
    path = tmp_path_factory.mktemp("sqlite") / "faqsvc.db"
    open_storage(f"sqlite:///{path}").close()
    return path


@pytest.fixture(autouse=True)
def _long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give calls of the database long time-outs, because the machines that run tests are busy."""
    monkeypatch.setattr(threads, "CALL_TIMEOUT", 60.0)
    monkeypatch.setattr(engines, "POOL_TIMEOUT", 60.0)
    monkeypatch.setattr(engines, "STATEMENT_TIMEOUT", 60.0)
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 60.0)


@pytest.fixture(autouse=True)
def _no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the outages of this process: another test may have stopped its database."""
    for outages in (database_outages, write_outages, editor_outages):
        monkeypatch.setattr(outages, "_since", None)


@pytest.fixture(scope="session")
def _sqlite_database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """One for all tests, with another file in each: it keeps the statements that it has compiled."""
    return Database(f"sqlite:///{tmp_path_factory.mktemp('shared')}/faqsvc.db")


@pytest.fixture
def sqlite_database(sqlite_file: Path, _sqlite_database: Database) -> Iterator[Database]:
    """A database with empty tables."""
    shutil.copy(sqlite_file, _sqlite_database.path)
    yield _sqlite_database
    _sqlite_database.delete()


@pytest.fixture
def storage(sqlite_database: Database, clock: Clock) -> Storage:
    """The storage over an empty database."""
    return Storage(sqlite_database, clock.wall)


@pytest.fixture
def key(storage: Storage) -> str:
    """An API key of this service."""
    return storage.keys.create("tests")


@pytest.fixture
def client(storage: Storage) -> Iterator[TestClient]:
    """A client of the service, at http://testserver, without a socket."""
    with TestClient(create_app(storage), raise_server_exceptions=False) as client:
        yield client
