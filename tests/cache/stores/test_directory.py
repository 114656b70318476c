"""A directory of files: whole, private, verified."""

import asyncio
import errno
import os
import stat
from pathlib import Path

import pytest

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.cache.stores import DirectoryStore
from tests.support import samples
from tests.support.clock import EPOCH

BASE = "https://faq.example.com"
KEY = Key("pricing", "ko")
STORED = StoredFAQ(FAQ.from_dict(samples.record("pricing", lang="ko")), "ko", EPOCH, 3600.0)


def open_store(directory: Path, base_url: str = BASE) -> DirectoryStore:
    return DirectoryStore(directory, base_url, 10_000)


def save(store: DirectoryStore, key: Key = KEY) -> None:
    faq = FAQ.from_dict(samples.record(key.slug))
    asyncio.run(store.save(key, STORED if key == KEY else StoredFAQ(faq, key.lang, EPOCH, 1.0)))


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*"))


def test_nothing_is_written_before_a_record_is_saved(tmp_path: Path) -> None:
    assert open_store(tmp_path / "new").read(KEY) is None
    assert files(tmp_path) == []


def test_a_record_is_one_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a" / "new")
    save(store)
    assert files(store.directory) == [store.path(KEY).name]
    assert stat.S_IMODE(store.path(KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert asyncio.run(open_store(store.directory).load(KEY)) == STORED


def test_no_two_records_share_a_file_even_where_case_does_not_count(tmp_path: Path) -> None:
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
    ]
    paths = [
        open_store(tmp_path, base).path(Key(slug, lang))
        for base in (BASE, f"{BASE}/other")
        for slug in slugs
        for lang in (None, "ko", "en")
    ]
    assert len({path.name.lower() for path in paths}) == len(paths)
    assert max(len(path.name.encode()) for path in paths) <= 100
    assert {path.parent for path in paths} == {tmp_path}


def test_a_failed_write_keeps_the_earlier_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    save(store)

    def fail(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(store)
    assert (store.read(KEY), files(tmp_path)) == (STORED, [store.path(KEY).name])


def test_only_abandoned_files_of_this_package_are_removed(tmp_path: Path) -> None:
    for name in (".faqsvc-old", ".faqsvc-new", ".notes.tmp"):
        (tmp_path / name).touch()
    for name in (".faqsvc-old", ".notes.tmp"):
        os.utime(tmp_path / name, (0, 0))
    store = open_store(tmp_path)
    save(store)
    assert files(tmp_path) == [".faqsvc-new", ".notes.tmp", store.path(KEY).name]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"\0" * 100, b" " * 200_000])
def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    store = open_store(tmp_path)
    store.path(KEY).write_bytes(content)
    with pytest.raises(InvalidFAQ, match=r"pricing\.ko"):
        store.read(KEY)


def test_a_pipe_in_the_place_of_a_file_delays_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    os.mkfifo(store.path(KEY))
    with pytest.raises(InvalidFAQ):
        store.read(KEY)


def test_a_language_a_slug_or_all_records_of_a_service_can_be_removed(tmp_path: Path) -> None:
    store, other = open_store(tmp_path), open_store(tmp_path, "https://other.example.com")
    keys = [Key("pricing", None), KEY, Key("legal", "en")]
    for each in (store, other):
        for key in keys:
            save(each, key)

    def present(store: DirectoryStore) -> list[Key]:
        return [key for key in keys if store.read(key) is not None]

    asyncio.run(store.delete(KEY))
    assert present(store) == [Key("pricing", None), Key("legal", "en")]
    asyncio.run(store.invalidate("pricing", EPOCH))
    assert present(store) == [Key("legal", "en")]
    asyncio.run(store.invalidate(None, EPOCH))
    assert (present(store), present(other)) == ([], keys)


def test_a_record_from_before_its_faq_was_forgotten_is_not_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    asyncio.run(store.invalidate("pricing", EPOCH))
    save(store)
    assert not store.path(KEY).exists()


@pytest.mark.parametrize("slug", ["pricing", None])
def test_another_user_can_read_what_was_forgotten(tmp_path: Path, slug: str | None) -> None:
    asyncio.run(open_store(tmp_path).invalidate(slug, EPOCH))
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o644}


def test_a_record_is_not_shown_when_it_is_unknown_when_its_faq_was_forgotten(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    asyncio.run(store.invalidate("pricing", EPOCH))
    (mark,) = tmp_path.glob("pricing.*")
    mark.unlink()
    os.mkfifo(mark)
    save(store)
    assert store.read(KEY) is None
