"""Real servers of a site, as processes of their own."""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import faqsvc_embed

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent


@dataclass
class Server:
    """A server under test."""

    port: int
    process: subprocess.Popen[bytes]

    def get(self, path: str = "/") -> tuple[int, str, float]:
        """Return the status and the text of a page, and the seconds that it took."""
        start = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            return response.status, response.read().decode(), time.monotonic() - start

    def page(self) -> tuple[str, str, float]:
        """Return the worker, its page, and the seconds that it took."""
        status, text, took = self.get()
        worker = re.search(r'id="([0-9]+)"', text)
        assert status == 200
        assert worker is not None
        return worker[1], text, took

    def seconds_to_all(self, workers: set[str], expected: str | None) -> float:
        """Return after how many seconds every worker shows `expected`; None stands for no FAQ at all."""
        start, late = time.monotonic(), set(workers)
        while late:
            worker, text, _ = self.page()
            if ("faqsvc" not in text) if expected is None else (expected in text):
                late.discard(worker)
            assert time.monotonic() - start < 180, f"{late} still show another FAQ than {expected!r}"
        return time.monotonic() - start

    def wait(self) -> None:
        deadline = time.monotonic() + 180
        while True:
            assert self.process.poll() is None, "the server ended by itself"
            assert time.monotonic() < deadline, "the server does not respond"
            with suppress(OSError):
                if self.get("/loop")[1] == "ran":
                    return
            time.sleep(0.1)


@contextmanager
def running(command: str, log: Path, **environ: str) -> Iterator[Server]:
    """Run a server; it has to end soon after it is terminated."""
    name, *arguments = command.split()
    program = Path(sys.executable).with_name(name)
    if not program.exists() or ("gevent" in command and importlib.util.find_spec("gevent") is None):
        reason = f"{name} is not installed" if not program.exists() else "gevent is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(program), *(argument.format(port=port) for argument in arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            server = Server(port, process)
            server.wait()
            yield server
            process.terminate()
            process.wait(180)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
