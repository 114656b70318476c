"""A running demo, on free ports."""

from collections.abc import Iterator

import pytest

from demo_apps.demo import Demo, running_demo


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """The demo."""
    with running_demo(0) as demo:
        yield demo
