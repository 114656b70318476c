"""A directory of files: whole, private, checked; one refresh among the processes of a machine."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.cache.stores import DirectoryStore
from tests.support import samples
from tests.support.clock import EPOCH

BASE = "https://faq.example.com"
KEY = Key("pricing", "ko")
COPY = Copy(FAQ.from_dict(samples.record("pricing", lang="ko")), "ko", EPOCH, 3600.0)
MAX_BYTES = 10_000


def open_store(directory: Path, base_url: str = BASE) -> DirectoryStore:
    return DirectoryStore(directory, base_url, MAX_BYTES)


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*"))


def test_nothing_is_written_before_there_is_something_to_keep(tmp_path: Path) -> None:  # R3
    store = open_store(tmp_path / "new")
    assert store.read(KEY) is None
    assert files(tmp_path) == []


def test_a_copy_is_one_file_that_only_its_owner_reads(tmp_path: Path) -> None:  # K17
    store = open_store(tmp_path / "a" / "new")
    store.write({KEY: COPY})
    assert files(store.directory) == [store.path(KEY).name]
    assert stat.S_IMODE(store.path(KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert open_store(store.directory).read(KEY) == COPY


def test_files_are_named_so_that_people_find_them(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    service = store.path(Key("pricing", None)).name.split(".")[1]
    assert store.path(KEY).name == f"pricing.ko.{service}.json"
    assert store.path(Key("pricing", None)).name == f"pricing.{service}.json"


def test_no_two_copies_share_a_file_even_where_case_does_not_count(tmp_path: Path) -> None:  # L8
    slugs = [
        "pricing",
        "Pricing",
        "price list",
        "price-list",
        "가격",
        "..",
        "a.ko",
        "a",
        "x" * 200,
        "x" * 199,
        "~",
    ]
    names = [
        open_store(tmp_path, base).path(Key(slug, lang)).name.lower()
        for base in (BASE, f"{BASE}/other")
        for slug in slugs
        for lang in (None, "ko", "en")
    ]
    assert len(set(names)) == len(names)
    assert max(len(name.encode()) for name in names) <= 100
    assert all(open_store(tmp_path).path(Key(slug, "ko")).parent == tmp_path for slug in slugs)  # K18


def test_a_writer_that_fails_leaves_the_copy_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # K17
    store = open_store(tmp_path)
    store.write({KEY: COPY})
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.write({KEY: Copy(COPY.faq, "ko", EPOCH, 1.0)})
    assert (store.read(KEY), files(tmp_path)) == (COPY, [store.path(KEY).name])


def test_what_killed_writers_left_is_swept_away(tmp_path: Path) -> None:
    old, new = tmp_path / ".old.tmp", tmp_path / ".new.tmp"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    store = open_store(tmp_path)
    store.write({KEY: COPY})
    assert files(tmp_path) == [".new.tmp", store.path(KEY).name]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"\0" * 100, b" " * 200_000])
def test_a_damaged_file_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:  # K17
    store = open_store(tmp_path)
    store.path(KEY).write_bytes(content)
    with pytest.raises(InvalidFAQ) as refused:
        store.read(KEY)
    assert str(store.path(KEY)) in str(refused.value)


def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    os.mkfifo(store.path(KEY))
    with pytest.raises(InvalidFAQ, match="no regular file"):
        store.read(KEY)


def test_a_language_or_a_whole_slug_or_all_can_be_removed(tmp_path: Path) -> None:
    store, other = open_store(tmp_path), open_store(tmp_path, "https://other.example.com")
    keys = [Key("pricing", None), KEY, Key("legal", "en")]
    for each in (store, other):
        for key in keys:
            each.write({key: Copy(FAQ.from_dict(samples.record(key.slug)), key.lang, EPOCH, 1.0)})

    def held(of: DirectoryStore) -> list[Key]:
        return [key for key in keys if of.read(key) is not None]

    asyncio.run(store.drop(KEY))
    assert held(store) == [Key("pricing", None), Key("legal", "en")]
    asyncio.run(store.forget("pricing"))
    assert held(store) == [Key("legal", "en")]
    asyncio.run(store.forget(None))
    assert (held(store), held(other)) == ([], keys)  # F7


# Leases


async def take(store: DirectoryStore, patience: float = 5.0) -> float:
    began = time.monotonic()
    async with store.lease(KEY, patience):
        return time.monotonic() - began


def test_a_lease_is_waited_for_and_leaves_no_file(tmp_path: Path) -> None:
    first, second, order = open_store(tmp_path), open_store(tmp_path), list[str]()

    async def main() -> None:
        async def later() -> None:
            async with second.lease(KEY, 5):
                order.append("second")

        async with first.lease(KEY, 5):
            waiting = asyncio.create_task(later())
            await asyncio.sleep(0.05)
            order.append("first")
        await waiting

    asyncio.run(main())
    assert order == ["first", "second"]
    assert files(tmp_path) == []


def test_patience_ends_and_another_faq_is_not_waited_for(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    async def main() -> tuple[float, float]:
        async with store.lease(KEY, 5):
            async with store.lease(Key("legal", None), 5):
                pass
            return await take(open_store(tmp_path), 0.1), await take(open_store(tmp_path / "other"), 5)

    waited, free = asyncio.run(main())
    assert 0.1 <= waited < 1
    assert free < 0.1


HOLD = """
import asyncio, sys
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stores import DirectoryStore

async def main():
    async with DirectoryStore(sys.argv[1], sys.argv[2], 1000).lease(Key("pricing", "ko"), 5):
        print("held", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def test_the_lease_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:  # K12
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), BASE], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        killer = threading.Timer(0.2, holder.send_signal, (signal.SIGKILL,))
        killer.start()
        assert 0.1 < asyncio.run(take(open_store(tmp_path))) < 3
        killer.join()


def test_a_forked_child_does_not_prolong_its_parents_lease(tmp_path: Path) -> None:  # F2
    store = open_store(tmp_path)

    async def main() -> float:
        async with store.lease(KEY, 5):
            child = os.fork()
            if child == 0:
                store.forked()
                time.sleep(10)
                os._exit(0)
        try:
            return await take(open_store(tmp_path))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    assert asyncio.run(main()) < 1
