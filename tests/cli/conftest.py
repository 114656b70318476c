"""Our service and a faulty one, to which the environment leads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faqsvc_embed.service.storage import open_storage
from tests.cli.support import SECRET
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Our service, for all tests of a file."""
    with service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def ours(running: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Our service."""
    monkeypatch.setenv("FAQSVC_BASE_URL", running.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", running.key)
    return running


@pytest.fixture
def faulty_service(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A faulty server with the FAQ `pricing`."""
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", SECRET)
    faulty.serve(samples.pricing())
    return faulty


@pytest.fixture
def database(tmp_path: Path) -> str:
    """The URL of an empty database."""
    url = f"sqlite:///{tmp_path}/faqsvc.db"
    open_storage(url).close()
    return url
