"""A service over a database of its own, its key, and two ways to ask it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.postgresql import PostgreSQL
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.sqlite import SQLite
from faqsvc_embed.service.storage import Storage, open_storage
from tests.support.clock import Clock
from tests.support.postgres import Postgres, empty


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, one for all tests; skipped where there is none, unless CI is set."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(Postgres.running())
        except ImportError as error:
            if os.environ.get("CI"):
                pytest.fail(f"no PostgreSQL: {error}")
            pytest.skip(f"no PostgreSQL: {error}")
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Each kind of database."""
    return str(request.param)


@pytest.fixture
def database_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database, without tables."""
    if database == "sqlite":
        return f"sqlite:///{tmp_path}/faqsvc.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.new_database()


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables, to copy: that is quicker than making them for every test."""
    path = tmp_path_factory.mktemp("sqlite") / "faqsvc.db"
    open_storage(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def postgres_url(postgres: Postgres) -> str:
    """A database with all tables, to empty: that is quicker than making them for every test."""
    url = postgres.new_database()
    open_storage(url).close()
    return url


@pytest.fixture
def storage(database: str, request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Storage]:
    """The storage over a database in which nothing is."""
    if database == "sqlite":
        file = shutil.copy(request.getfixturevalue("sqlite_file"), tmp_path / "faqsvc.db")
        storage = Storage(SQLite(str(file)), clock.wall)
    else:
        url = request.getfixturevalue("postgres_url")
        empty(url)
        storage = Storage(PostgreSQL(url), clock.wall)
    yield storage
    storage.close()


@pytest.fixture
def key(storage: Storage) -> str:
    """An API key of this service."""
    return storage.keys.create("tests")


@pytest.fixture
def client(storage: Storage) -> Iterator[TestClient]:
    """The service without a socket, which answers as http://testserver."""
    with TestClient(create_app(storage), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def server(storage: Storage) -> Iterator[httpx2.Client]:
    """A client of the service on a real socket."""
    with running(create_app(storage)) as address, httpx2.Client(base_url=address, trust_env=False) as client:
        yield client
