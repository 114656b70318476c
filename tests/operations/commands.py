"""Commands of `faqsvc` in processes of their own, and those that the runbook documents."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

RUNBOOK: Final = Path(__file__).parents[2] / "docs/how-to/operations.md"
FAQSVC: Final = [sys.executable, "-m", "faqsvc_embed"]


def run(*arguments: str) -> str:
    """Run a command of `faqsvc`, and return what it prints."""
    return subprocess.run([*FAQSVC, *arguments], capture_output=True, text=True, check=True).stdout


def documented(beginning: str, end: str = "\n## ") -> str:
    """Return the commands of the runbook between two texts, by default to the next section."""
    _, _, text = RUNBOOK.read_text(encoding="utf-8").partition(beginning)
    commands = "".join(re.findall(r"(?m)^```console\n([^`]+)^```$", text.partition(end)[0]))
    assert commands
    return commands


def run_in_shell(commands: str, place: Path, **variables: str) -> str:
    """Run commands in a folder, and return what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", commands],
        cwd=place,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(
    *arguments: str, ended_by: signal.Signals = signal.SIGTERM, log: IO[str] | int = subprocess.DEVNULL
) -> Iterator[str]:
    """Run the service and yield what it listens on."""
    process = subprocess.Popen([*FAQSVC, "serve", *arguments], stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert "listens" in line
        yield line.strip().rpartition(" ")[2]
    finally:
        process.send_signal(ended_by)
        process.communicate(timeout=60)
