"""The documented unit of systemd and container recipe, as their own tools see them."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import httpx2
import pytest

from tests.operations.commands import run, serving

EXAMPLES: Final = Path(__file__).parents[2] / "docs/examples"
UNIT: Final = EXAMPLES / "operations/faqsvc.service"

pytestmark = pytest.mark.system


def checked_by(program: str, *arguments: str) -> str:
    """Return what a program prints about a file that it accepts."""
    path = shutil.which(program, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"no {program} on this machine")
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_systemd_accepts_the_unit_and_finds_it_well_protected(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    program = shutil.which("true")
    unit.write_text(UNIT.read_text().replace("/opt/faqsvc/bin/faqsvc", str(program)))
    assert checked_by("systemd-analyze", "verify", str(unit)) == ""
    found = checked_by("systemd-analyze", "security", "--offline=yes", "--threshold=25", str(unit))
    assert "SystemCallFilter" in found


def test_the_commands_of_the_systemd_unit_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_DATABASE_URL", f"sqlite:///{tmp_path}/faqs.db")
    unit = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if line.startswith("Exec"))
    prepare, serve = (shlex.split(unit[name])[1:] for name in ("ExecStartPre", "ExecStart"))
    run(*prepare)
    socket_path = f"/tmp/faqsvc-unit-{os.getpid()}.sock"
    serve[serve.index("--uds") + 1] = socket_path
    with serving(*serve[1:]) as place:
        assert place == socket_path
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=socket_path), timeout=30) as client:
            assert client.get("http://localhost/readyz").status_code == 200


def test_hadolint_finds_nothing_in_the_container_recipe() -> None:
    checked_by("hadolint", str(EXAMPLES / "container/Dockerfile"))
