"""A running demo, on free ports."""

from collections.abc import Iterator

import pytest

from demo_apps.demo import Demo, running_demo


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """The demo, which takes seconds to start."""
    with running_demo(0) as demo:
        yield demo
