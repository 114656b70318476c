"""A service over a database of its own, its key, and two ways to ask it."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.database import migrate
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.sqlite import SQLite
from faqsvc_embed.service.storage import Storage
from tests.support.clock import Clock


@pytest.fixture
def database_file(tmp_path: Path) -> Path:
    return tmp_path / "faqsvc.db"


@pytest.fixture
def storage(database_file: Path, clock: Clock) -> Iterator[Storage]:
    database = SQLite(str(database_file))
    migrate(database)
    storage = Storage(database, clock.wall)
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
