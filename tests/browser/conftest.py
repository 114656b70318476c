"""The addresses of the site under test, and a Firefox."""

import os
from collections.abc import Iterator

import pytest

from tests.browser.site import make_app
from tests.support.firefox import NAMES, Firefox, installed, running
from tests.support.host import serve


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """The address of a host with inline styles and scripts."""
    yield from serve(make_app(styles="inline"))


@pytest.fixture(scope="module")
def markdown_host() -> Iterator[str]:
    """The address of a host with inline styles whose answers are Markdown."""
    yield from serve(make_app(styles="inline", answer_format="markdown"))


@pytest.fixture(scope="module")
def linked_host() -> Iterator[str]:
    """The address of a host with the stylesheets and the script in files."""
    yield from serve(make_app(styles="linked", variant="disclosure"))  # the setting adds the script


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    """An installed Firefox; skipped where there is none, unless CI is set."""
    path = installed()
    if path is None:
        reason = f"no Firefox on the PATH: one of {', '.join(NAMES)} is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with running(path) as tab:
        yield tab
