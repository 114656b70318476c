"""Threads that wait for the database, and who would have to wait for them."""

import threading
from functools import partial
from pathlib import Path

import anyio
import pytest
from starlette.requests import Request

from faqsvc_embed.service import asking, keyed, sqlite
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.sqlite import SQLite
from faqsvc_embed.service.storage import Storage


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


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_key_is_known_although_nobody_can_note_that_it_is_used(
    storage: Storage, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed, "NOTE_PATIENCE", 0.05)
    request = Request({"type": "http", "headers": [(b"x-plugin-key", key.encode())]})

    async def owner_while_all_write() -> str:
        writers = anyio.CapacityLimiter(1)
        writers.acquire_on_behalf_of_nowait("another")
        with anyio.fail_after(2):
            return await keyed.KeyCheck(storage.keys, writers=writers).owner(request)

    assert anyio.run(owner_while_all_write) == storage.keys.list()[0].id
    assert storage.keys.list()[0].last_used_at is None


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
