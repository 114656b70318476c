"""A source of each kind, with the same FAQs."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cache.conftest import _patient, valkey
from tests.sources.backends import ALL, REMOTE, Backend, Remote

__all__ = ["_patient", "backend", "remote", "valkey"]


@pytest.fixture(params=ALL, ids=lambda kind: kind.__name__)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Each source of the package."""
    with closing(request.param(tmp_path)) as made:
        yield made


@pytest.fixture(params=REMOTE, ids=lambda kind: kind.__name__)
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Remote]:
    """Each source that changes and fails."""
    with closing(request.param(tmp_path)) as made:
        yield made
