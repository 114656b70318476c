"""A service over a database of its own, its key, and two ways to ask it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage, open_storage
from tests.support.clock import Clock
from tests.support.postgres import Postgres


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
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/faqsvc.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.new_database()


@pytest.fixture
def storage(database_url: str, clock: Clock) -> Iterator[Storage]:
    storage = open_storage(database_url, clock.wall)
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
