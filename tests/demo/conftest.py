"""A running demo, on free ports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_apps.demo import Demo, running_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo, started in a directory without the stylesheets of other frameworks."""
    with pytest.MonkeyPatch.context() as patch, running_demo(0) as demo:
        patch.chdir(tmp_path_factory.mktemp("demo"))
        yield demo


@pytest.fixture
def node_modules(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `node_modules` in the directory of the demo."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "node_modules"
    path.mkdir()
    return path
