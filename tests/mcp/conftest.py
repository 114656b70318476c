"""Our service, a faulty one, and the tool server in front of either."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faqsvc_embed import FAQClient
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service

SECRET = "fs_live_" + "s3cretABC_-" * 4


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path) as running:
        yield running


@pytest.fixture
def client(faulty: FaultyServer) -> Iterator[FAQClient]:
    """A client with a key, of a service that has the record `pricing` and fails when it is told to."""
    faulty.serve(samples.pricing())
    with FAQClient(faulty.base_url, SECRET) as client:
        yield client
