"""Real servers: an edit reaches every worker, an outage breaks no page, and they end when terminated."""

import time
from pathlib import Path
from typing import Final

import pytest

from tests.processes.servers import Server, running
from tests.support import samples
from tests.support.embeds import SLACK
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer

WAIT: Final = 0.5

GUNICORN: Final = "gunicorn -w 2 -b 127.0.0.1:{port} tests.processes.site:wsgi"
GTHREAD: Final = f"{GUNICORN} -k gthread --threads 4"
UVICORN: Final = "uvicorn --workers 4 --port {port} --log-level warning tests.processes.site:asgi"
pytestmark = pytest.mark.system

SERVERS: Final = [
    pytest.param(f"{GUNICORN} --preload", True, id="gunicorn sync, preloaded"),
    pytest.param(GTHREAD, False, id="gunicorn gthread"),
    pytest.param(f"{GUNICORN} -k gevent", False, id="gunicorn gevent"),
    pytest.param(f"{GUNICORN} -k gevent --preload", True, id="gunicorn gevent, preloaded"),
    pytest.param(UVICORN, False, id="uvicorn, four workers"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "is_warm"), SERVERS)
def test_every_worker_shows_an_edit_and_survives_an_outage(
    command: str, is_warm: bool, faulty: FaultyServer, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=1"})
    settings = {"FAQSVC_BASE_URL": faulty.base_url, "FAQSVC_WAIT": str(WAIT), "FAQSVC_TIMEOUT": "60"}
    with running(command, log, **settings, **({"WARM": "1"} if is_warm else {})) as server:
        workers = seen(server, "What does it cost?", 4 if "uvicorn" in command else 2)
        faulty.serve({**samples.pricing(), "title": "Edited"})
        seen(server, "Edited", len(workers))
        faulty.behave(behaviours.hang)
        time.sleep(1.1)  # until their records are stale: the clocks are those of other processes
        for _ in range(2 * len(workers)):
            _, text, took = server.page()
            assert "Edited" in text
            assert took < WAIT + SLACK
        assert server.get("/loop")[1] == "ran"
    output = log.read_text(errors="replace")
    assert "Traceback" not in output, output
    assert "was never awaited" not in output, output


def seen(server: Server, text: str, count: int) -> set[str]:
    """Request pages until `count` workers have shown `text`, and return their names."""
    workers = set[str]()
    deadline = time.monotonic() + 60
    while len(workers) < count:
        assert time.monotonic() < deadline, f"only {workers} of {count} show {text!r}"
        worker, page, _ = server.page()
        if text in page:
            workers.add(worker)
        time.sleep(0.02)
    return workers
