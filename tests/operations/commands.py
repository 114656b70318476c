"""Commands of `faqsvc` in processes of their own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FAQSVC = [sys.executable, "-m", "faqsvc_embed"]


def run(*arguments: str) -> str:
    """Run a command of `faqsvc`, and return what it prints."""
    return subprocess.run([*FAQSVC, *arguments], capture_output=True, text=True, check=True).stdout


@contextmanager
def serving(*arguments: str, ended_by: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """Run the service and yield what it listens on."""
    process = subprocess.Popen(
        [*FAQSVC, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().rpartition(" ")[2]
    finally:
        process.send_signal(ended_by)
        process.communicate(timeout=15)
