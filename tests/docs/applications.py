"""The applications of other people that pages of the documentation show FAQs in."""

import importlib.util
import os
from typing import Final

import pytest

IN_DEV: Final = ("datasette", "mkdocs", "pelican", "wagtail")
"""Those that the extra `dev` installs."""


def needs(name: str) -> None:
    """Skip a test without an application, unless CI should have it."""
    if importlib.util.find_spec(name) is None:
        reason = f"{name} is not installed"
        if os.environ.get("CI") and name in IN_DEV:
            pytest.fail(reason)
        pytest.skip(reason)
