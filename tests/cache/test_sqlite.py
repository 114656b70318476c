"""A store in a directory: private, whole after any accident, and used by many processes at once."""

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed.cache.sqlite import SQLiteBackend
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from tests.support.embeds import warnings_of
from tests.support.waiting import wait_until


def put(directory: Path, name: str, value: bytes, seconds: float = 60.0) -> None:
    asyncio.run(SQLiteBackend(str(directory)).put(name, value, seconds))


def get(directory: Path, *names: str) -> list[bytes | None]:
    return asyncio.run(SQLiteBackend(str(directory)).get(*names))


def file_in(directory: Path) -> Path:
    (file,) = directory.iterdir()
    return file


def test_nothing_is_written_before_a_value_is(tmp_path: Path) -> None:
    backend = SQLiteBackend(str(tmp_path / "new"))
    assert asyncio.run(backend.get("a", "b")) == [None, None]
    asyncio.run(backend.delete("a"))
    asyncio.run(backend.clear("a"))
    assert list(tmp_path.iterdir()) == []


def test_a_value_is_kept_for_its_time_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    place = tmp_path / "a" / "new"
    put(place, "a", b"1", float("inf"))
    put(place, "b", b"2", 0.0)
    put(place, "a", b"3")
    assert get(place, "a", "b", "c") == [b"3", None, None]
    assert stat.S_IMODE(file_in(place).stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_names_are_removed_one_by_one_or_by_their_prefix(tmp_path: Path) -> None:
    names = ("a:1", "a:2", "a", "b:%", "가:1")
    for name in names:
        put(tmp_path, name, name.encode())
    asyncio.run(SQLiteBackend(str(tmp_path)).delete("a:1", "unknown"))
    asyncio.run(SQLiteBackend(str(tmp_path)).clear("가:"))
    asyncio.run(SQLiteBackend(str(tmp_path)).clear("b:"))
    assert get(tmp_path, *names) == [None, b"a:2", b"a", None, None]


def test_nothing_of_a_removed_value_is_left_on_the_disk(tmp_path: Path) -> None:
    put(tmp_path, "a", b"private " * 2000)
    put(tmp_path, "b", b"private")
    asyncio.run(SQLiteBackend(str(tmp_path)).delete("a"))
    put(tmp_path, "b", b"public")
    assert b"private" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"no database", b"\0" * 100_000, b"SQLite format 3\0" + b"x" * 5000, None]
)
def test_a_damaged_file_is_emptied_and_used_again(
    tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(40):
        put(tmp_path, str(number), b"x" * 5000)
    file = file_in(tmp_path)
    file.write_bytes(file.read_bytes()[: 20 * 4096 + 100] if content is None else content)
    assert get(tmp_path, "39") == [None]
    assert len(warnings_of(caplog)) == 1
    put(tmp_path, "a", b"1")
    assert get(tmp_path, "a") == [b"1"]


def test_files_of_another_version_or_program_are_left_alone(tmp_path: Path) -> None:
    for name in ("pricing.ko.5d41402abc4b.json", "faqs-0.sqlite3"):
        (tmp_path / name).write_text("{}")
    assert get(tmp_path, "a") == [None]
    put(tmp_path, "a", b"1")
    assert get(tmp_path, "a") == [b"1"]
    assert (tmp_path / "faqs-0.sqlite3").read_text() == "{}"


def test_many_threads_use_one_file(tmp_path: Path) -> None:
    def use(number: int) -> list[bytes | None]:
        put(tmp_path, str(number), b"x")
        return get(tmp_path, str(number))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(24))) == [[b"x"]] * 24


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A folder on a disk of 100 kB."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder], check=False)
        if mounted.returncode:
            pytest.skip("no disk can be mounted here")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def fill(place: Path) -> None:
    for number in range(100):
        put(place, str(number), b"x" * 20_000)


@pytest.mark.system
def test_on_a_full_disk_values_are_kept_until_they_are_forgotten(small_disk: Path) -> None:
    place, backend = small_disk / "store", SQLiteBackend(str(small_disk / "store"))
    put(place, "a", b"1")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        fill(place)
    assert get(place, "a", "0") == [b"1", b"x" * 20_000]
    asyncio.run(backend.delete("a"))
    assert get(place, "a") == [None]
    asyncio.run(backend.clear("0"))
    put(place, "b", b"2")
    assert get(place, "0", "b") == [None, b"2"]


# Processes

WRITE: Final = """
import asyncio, sys
from faqsvc_embed.cache.sqlite import SQLiteBackend

async def main():
    backend = SQLiteBackend(sys.argv[1])
    number = 0
    while number < int(sys.argv[3]):
        number += 1
        await backend.put(sys.argv[2], b"%d" % number + b"x" * 50_000, 60.0)
        print(number, flush=True)

asyncio.run(main())
"""


def writer(directory: Path, name: str, times: int = 10**9) -> "subprocess.Popen[str]":
    code = [sys.executable, "-c", WRITE, str(directory), name, str(times)]
    return subprocess.Popen(code, stdout=subprocess.PIPE, text=True)


@pytest.mark.system
def test_a_value_is_whole_after_its_writer_was_killed(tmp_path: Path) -> None:
    for _ in range(3):
        with writer(tmp_path, "a") as process:
            assert process.stdout is not None
            for _ in range(10):
                written = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
        (value,) = get(tmp_path, "a")
        assert value is not None
        assert value.endswith(b"x" * 50_000)
        assert int(value.rstrip(b"x")) >= written
    put(tmp_path, "b", b"1")


@pytest.mark.system
def test_four_processes_write_at_once(tmp_path: Path) -> None:
    processes = [writer(tmp_path, str(number), 20) for number in range(4)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    assert [(value or b"").rstrip(b"x") for value in get(tmp_path, *map(str, range(4)))] == [b"20"] * 4


@pytest.mark.system
def test_a_process_that_forks_while_it_writes_leaves_children_that_read_and_write(tmp_path: Path) -> None:
    loop, stop = BackgroundLoop(), threading.Event()
    backend = SQLiteBackend(str(tmp_path))

    async def write() -> None:
        while not stop.is_set():
            await backend.put("a", b"x" * 50_000, 60.0)

    writing = loop.submit(write())
    try:
        wait_until(lambda: get(tmp_path, "a") != [None])
        children = [fork_and(partial(use_in_child, tmp_path, number)) for number in range(5)]
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 5
    finally:
        stop.set()
        writing.result(30)
        loop.close()
    assert get(tmp_path, *map(str, range(5))) == [b"1"] * 5


def fork_and(work: Callable[[], None]) -> int:
    """Fork, and do some work in the child; return its process."""
    time.sleep(0.003)
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def use_in_child(directory: Path, number: int) -> None:
    put(directory, str(number), b"1")
    assert get(directory, str(number), "missing") == [b"1", None]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_that_root_creates_belongs_to_the_owner_of_its_directory(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)
    put(tmp_path, "a", b"1")
    assert file_in(tmp_path).stat().st_uid == 12345


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    put(tmp_path, "a", b"1")
    file_in(tmp_path).chmod(0o400)
    assert get(tmp_path, "a") == [b"1"]
    with pytest.raises(sqlite3.OperationalError):
        put(tmp_path, "a", b"2")
