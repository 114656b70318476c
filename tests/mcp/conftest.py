"""Our service, and a client of a faulty one."""

from collections.abc import Iterator

import pytest

from faqsvc_embed import FAQClient
from tests.mcp.support import SECRET
from tests.readers.conftest import readers as readers
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Our service."""
    with service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def client(faulty: FaultyServer) -> Iterator[FAQClient]:
    """A client with a key, of a service that has the FAQ `pricing` and can be made to fail."""
    faulty.serve(samples.pricing())
    with FAQClient(faulty.base_url, SECRET) as client:
        yield client
