"""The measurements, which are run by hand, still work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import MEASUREMENTS

ROOT = Path(__file__).parents[1]


@pytest.mark.system
def test_every_measurement_works(tmp_path: Path) -> None:
    """What takes longest of them, the feed of a thousand subscribers and a day of load, is in `processes`."""
    file = tmp_path / "measured.json"
    command = [sys.executable, "-m", "tests.benchmarks", "--short", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    measured = json.loads(file.read_text())["measured"]
    assert measured.keys() == MEASUREMENTS.keys()
    assert all(table["rows"] for tables in measured.values() for table in tables)
