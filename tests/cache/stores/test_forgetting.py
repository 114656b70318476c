"""What one process forgets, every process forgets that shares its store."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.cache.stores import open_store
from faqsvc_embed.cache.stores.directory import DirectoryStore
from faqsvc_embed.cache.stores.journal import MAX_SIZE, Journal
from faqsvc_embed.cli import main
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.settings import Settings
from tests.support import samples
from tests.support.clock import EPOCH
from tests.support.feed_service import FeedService, feed_service
from tests.support.waiting import wait_until


@pytest.fixture
def service() -> Iterator[FeedService]:
    with feed_service() as service:
        service.answers["pricing"] = "Old."
        yield service


def answer(embed: FAQEmbed) -> str | None:
    state = embed.use_faq("pricing", wait=1)
    return state.data.items[0].answer if state.data is not None else None


@pytest.mark.system
def test_processes_with_one_directory_forget_together(service: FeedService, tmp_path: Path) -> None:
    store = f"file:{tmp_path}"
    with (
        FAQEmbed(service.url, store=store, push=False) as one,
        FAQEmbed(service.url, store=store, push=False) as other,
    ):
        assert answer(one) == answer(other) == "Old."
        service.answers["pricing"] = "New."
        one.forget("pricing")
        wait_until(lambda: answer(other) == "New.")


def test_an_faq_that_is_gone_and_not_cached_is_not_forgotten_by_the_other_processes(
    service: FeedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # each of them would fetch it, and make the others forget it again
    calls = list[str]()

    async def delete(store: DirectoryStore, key: Key) -> None:
        calls.append("delete")

    async def invalidate(store: DirectoryStore, slug: str | None, at: datetime) -> None:
        calls.append("invalidate")

    monkeypatch.setattr(DirectoryStore, "delete", delete)
    monkeypatch.setattr(DirectoryStore, "invalidate", invalidate)
    service.answers["pricing"] = None
    with FAQEmbed(service.url, store=f"file:{tmp_path}", push=False) as embed:
        assert answer(embed) is None
        wait_until(lambda: len(calls) > 0)
    assert set(calls) == {"delete"}


@pytest.mark.system
def test_the_command_reaches_processes_that_share_a_directory(service: FeedService, tmp_path: Path) -> None:
    store = f"file:{tmp_path}"
    with FAQEmbed(service.url, store=store, push=False) as embed:
        assert answer(embed) == "Old."
        service.answers["pricing"] = "New."
        done = CliRunner().invoke(main, ["forget", "pricing", "--store", store, "--base-url", service.url])
        assert done.exit_code == 0, done.output
        wait_until(lambda: answer(embed) == "New.")


@pytest.mark.parametrize("slug", ["pricing", None])
def test_what_a_slow_process_saves_after_it_was_forgotten_is_not_read(store: str, slug: str | None) -> None:
    settings = Settings(base_url=f"https://{uuid4()}.example.com", store=store)
    key, faq = Key("pricing", None), FAQ.from_dict(samples.pricing())
    before, after = (StoredFAQ(faq, None, EPOCH + timedelta(seconds=at), 3600.0) for at in (0, 2))

    async def saved(record: StoredFAQ) -> StoredFAQ | None:
        slow = open_store(settings)
        assert slow is not None
        await slow.save(key, record)
        return await slow.load(key)

    async def forget() -> None:
        other = open_store(settings)
        assert other is not None
        other.mark_invalid(slug, EPOCH + timedelta(seconds=1))
        assert await other.invalidate()

    async def run() -> list[StoredFAQ | None]:
        found = [await saved(before)]
        await forget()
        return [*found, await saved(before), await saved(after)]

    loop = BackgroundLoop()
    try:
        assert loop.submit(run()).result() == [before, None, after]
    finally:
        loop.close()


def test_the_command_needs_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(main, ["forget", "pricing", "--base-url", "https://faq.example"])
    assert done.exit_code == 1


def test_a_journal_tells_each_process_what_the_others_wrote(tmp_path: Path) -> None:
    one, other = Journal(tmp_path / "journal"), Journal(tmp_path / "journal")
    assert one.read() == set()
    one.append("pricing")
    one.append(None)
    assert one.read() == set()
    assert other.read() == {"pricing", None}
    assert other.read() == set()


def test_a_journal_stays_small_and_survives_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    one, other = Journal(path), Journal(path)
    path.write_bytes(b"no json\n[]\n" + b"x" * MAX_SIZE)
    assert other.read() == set()
    one.append("pricing")
    assert path.stat().st_size < 200
    assert other.read() == {"pricing"}


def test_no_line_is_lost_when_a_journal_is_replaced(tmp_path: Path) -> None:
    one, other = Journal(tmp_path / "journal"), Journal(tmp_path / "journal")
    one.append("first")
    assert other.read() == {"first"}
    slugs = {f"{number}-{'x' * 100}" for number in range(MAX_SIZE // 110)}
    for slug in slugs:
        one.append(slug)
    assert (tmp_path / "journal").stat().st_size < MAX_SIZE
    assert other.read() == slugs
