"""Threads that wait for the database, and who would have to wait for them."""

import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from faqsvc_embed.service import asking, sqlite
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.sqlite import SQLite


def test_who_finds_no_thread_is_told_and_what_has_begun_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.1)
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        may_end.wait(10)
        return "done"

    async def main() -> tuple[list[str], bool]:
        limiter = anyio.CapacityLimiter(1)
        answers: list[str] = []

        async def first() -> None:
            answers.append(await ask(slow, limiter))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            while not begun.is_set():
                await anyio.sleep(0.001)
            was_told = False
            try:
                await ask(partial(answers.append, "never"), limiter)
            except StorageUnavailable:
                was_told = True
            may_end.set()
        return answers, was_told

    assert anyio.run(main) == (["done"], True)


def test_a_thread_does_not_wait_for_ever_for_others_that_write_to_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.1)
    database = SQLite(str(tmp_path / "faqsvc.db"))
    refused: list[StorageUnavailable] = []

    def write() -> None:
        try:
            with database.writing():
                pass
        except StorageUnavailable as error:
            refused.append(error)

    with database.writing():
        other = threading.Thread(target=write)
        other.start()
        other.join(5)
    write()
    database.close()

    assert [str(error) for error in refused] == [
        f"the database '{tmp_path}/faqsvc.db': others wrote for 0.1 s"
    ]
