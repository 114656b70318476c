"""Runs commands, in this process or in another."""

import errno
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner, Result

from faqsvc_embed.cli import main

ROOT: Final = Path(__file__).parents[2]
SECRET: Final = "fs_live_" + "s3cretABC_-" * 4
BODY: Final[dict[str, Any]] = {
    "websiteUrl": "https://tea.example",
    "websiteName": "Tea & Sons",
    "items": [{"question": "What does it cost?", "answer": "Nothing."}],
}


def faqsvc(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, arguments)


def failure(result: Result) -> str:
    """Return the message of a command that failed as commands do: in one line, with exit status 1."""
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    return result.stderr.removeprefix("Error: ").rstrip("\n")


def write(directory: Path, name: str, **changes: Any) -> str:
    """Write the body of a publication to a file and return its path."""
    file = directory / name
    file.write_text(json.dumps({**BODY, **changes}), encoding="utf-8")
    return str(file)


def command(*arguments: str) -> list[str]:
    """Return the command line of a process of its own."""
    return [sys.executable, "-W", "error", "-m", "faqsvc_embed", *arguments]


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a process of its own."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def output(*arguments: str, **changes: str) -> bytes:
    """Return what a command prints in a process of its own."""
    return subprocess.run(
        command(*arguments), stdout=subprocess.PIPE, env=environment(**changes), check=True
    ).stdout


def on_terminal(*arguments: str, encoding: str = "utf-8", stream: str = "stdout") -> str:
    """Return what a command prints in a process whose standard output or error is a terminal."""
    ours, theirs = pty.openpty()
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, stream: theirs}
    changed = environment(PYTHONIOENCODING=encoding)
    printed = b""
    # A terminal holds 4 kB: it is read while the process prints.
    with subprocess.Popen(command(*arguments), env=changed, **streams) as process:
        os.close(theirs)
        try:
            while chunk := os.read(ours, 4096):
                printed += chunk
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the other side is closed
                raise
        finally:
            os.close(ours)
    assert process.returncode == 0
    return printed.decode(encoding)


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `faqsvc serve` on a free port; yields the process and the address that it prints."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command("serve", "--port", "0", *arguments), stdout=pipe, stderr=pipe, text=True, env=environment()
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()
