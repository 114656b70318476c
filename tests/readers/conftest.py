"""The folder with the readers that `install.sh` has installed."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def readers() -> Path:
    """The folder that READERS names; skipped without one, unless CI is set."""
    if folder := os.environ.get("READERS"):
        return Path(folder)
    reason = "READERS does not name a folder made by tests/readers/install.sh"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
