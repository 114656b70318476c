"""The storage over each kind of database."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.database import Database
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.system)])
def database(request: pytest.FixtureRequest) -> str:
    """Each kind of database."""
    return str(request.param)


@pytest.fixture
def database_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database without tables."""
    if database == "sqlite":
        return f"sqlite:///{tmp_path}/faqsvc.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.new_database()


@pytest.fixture(scope="session")
def postgres_database(postgres: Postgres) -> Database:
    """A migrated database, to empty: that is faster than a migration for each test."""
    url = postgres.new_database()
    open_storage(url).close()
    return Database(url)


@pytest.fixture
def migrated_database(database: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with empty tables."""
    if database == "sqlite":
        yield request.getfixturevalue("sqlite_database")
    else:
        migrated = request.getfixturevalue("postgres_database")
        empty(migrated)
        yield migrated
        migrated.close()


@pytest.fixture
def storage(migrated_database: Database, clock: Clock) -> Storage:
    """The storage over an empty database."""
    return Storage(migrated_database, clock.wall)
