"""Real servers: an edit reaches every worker, an outage breaks no page, and they end when they are told."""

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
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent
WAIT: Final = 0.5
SLACK: Final = 1.0
"""Seconds that a busy machine may add to a page of another process."""

GUNICORN: Final = "gunicorn -w 2 -b 127.0.0.1:{port} tests.processes.site:wsgi"
GTHREAD: Final = f"{GUNICORN} -k gthread --threads 4"
UVICORN: Final = "uvicorn --workers 4 --port {port} --log-level warning tests.processes.site:asgi"
UWSGI: Final = (
    "uwsgi --master --die-on-term --need-app -p 2 --http-socket 127.0.0.1:{port} "
    "--module tests.processes.site:wsgi"
)
slow = pytest.mark.slow

SERVERS: Final = [
    pytest.param(GUNICORN, False, id="gunicorn sync", marks=slow),
    pytest.param(f"{GUNICORN} --preload", True, id="gunicorn sync, preloaded"),
    pytest.param(GTHREAD, False, id="gunicorn gthread", marks=slow),
    pytest.param(f"{GTHREAD} --preload", True, id="gunicorn gthread, preloaded", marks=slow),
    pytest.param(f"{GUNICORN} -k gevent", False, id="gunicorn gevent"),
    pytest.param(f"{GUNICORN} -k gevent --preload", True, id="gunicorn gevent, preloaded", marks=slow),
    pytest.param(UVICORN, False, id="uvicorn, four workers"),
    pytest.param(UWSGI, False, id="uWSGI without threads", marks=slow),
    pytest.param(UWSGI, True, id="uWSGI without threads, warmed"),
    pytest.param(f"{UWSGI} --enable-threads", True, id="uWSGI with threads, warmed", marks=slow),
]  # fmt: skip


@dataclass
class Server:
    """A server under test."""

    port: int
    process: subprocess.Popen[bytes]

    def get(self, path: str = "/") -> tuple[int, str, float]:
        """Return the status and the text of a page, and the seconds that it took."""
        began = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode(), time.monotonic() - began

    def page(self) -> tuple[str, str, float]:
        """Return who answered, with what, and the seconds that it took."""
        status, text, took = self.get()
        who = re.search(r'id="([0-9]+)"', text)
        assert status == 200
        assert who is not None
        return who[1], text, took

    def wait(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            assert self.process.poll() is None, "the server ended by itself"
            assert time.monotonic() < deadline, "the server does not answer"
            with suppress(OSError):
                if self.get("/loop")[1] == "ran":
                    return
            time.sleep(0.1)


@contextmanager
def running(command: str, log: Path, **environ: str) -> Iterator[Server]:
    """Run a server; it has to end soon after it is told to."""
    name, *arguments = command.split()
    program = Path(sys.executable).with_name(name)
    if not program.exists() or ("gevent" in command and importlib.util.find_spec("gevent") is None):
        reason = f"{name} is not installed" if not program.exists() else "gevent is not installed"
        if os.environ.get("CI") and name != "uwsgi":  # which needs a compiler
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
            process.wait(10)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize(("command", "is_warm"), SERVERS)
def test_every_worker_shows_an_edit_and_survives_an_outage(
    command: str, is_warm: bool, faulty: FaultyServer, tmp_path: Path
) -> None:  # F1, F2, F4, F6, R1
    log = tmp_path / "log"
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=1"})
    settings = {"FAQSVC_BASE_URL": faulty.base_url, "FAQSVC_WAIT": str(WAIT), "FAQSVC_TIMEOUT": "2"}
    with running(command, log, **settings, **({"WARM": "1"} if is_warm else {})) as server:
        workers = seen(server, "What does it cost?", 4 if "uvicorn" in command else 2)
        faulty.serve({**samples.pricing(), "title": "Edited"})
        seen(server, "Edited", len(workers))
        faulty.behave(behaviours.hang)
        time.sleep(1.1)  # until what they hold is stale, in truth: the clocks are those of other processes
        for _ in range(2 * len(workers)):
            _, text, took = server.page()
            assert "Edited" in text
            assert took < WAIT + SLACK
        assert server.get("/loop")[1] == "ran"
    said = log.read_text(errors="replace")
    assert "Traceback" not in said, said
    assert "was never awaited" not in said, said


def seen(server: Server, text: str, count: int) -> set[str]:
    """Ask until so many workers have shown this; each has to within two lifetimes of its copy."""
    workers = set[str]()
    deadline = time.monotonic() + 15
    while len(workers) < count:
        assert time.monotonic() < deadline, f"only {workers} of {count} show {text!r}"
        who, page, _ = server.page()
        if text in page:
            workers.add(who)
        time.sleep(0.02)
    return workers
