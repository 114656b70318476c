"""The documentation has no common misspellings."""

import subprocess
import sys

from tests.docs.pages import PAGES, ROOT

GERMAN = "ist,sie,ue"
"""Words of examples in German that look like misspelled English."""


def test_spelling() -> None:
    pages = [*PAGES, ROOT / "CHANGELOG.md"]
    command = [sys.executable, "-m", "codespell_lib", "-L", GERMAN, *map(str, pages)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
