"""Records outlive the process: what an embed shows after a restart, in a fleet, and with a broken store."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQNotFound, FAQState
from faqsvc_embed.cache import backend
from faqsvc_embed.cache.sqlite import SQLiteBackend
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, SLACK, MakeEmbed, refreshed, seconds, title, warnings_of
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle, wait_until

Start = Callable[..., FAQEmbed]


@pytest.fixture
def start(make_embed: MakeEmbed, store: str) -> Start:
    """Start a "process": an embed with an empty cache in memory."""

    def new(**settings: Any) -> FAQEmbed:
        return make_embed(**{"store": store, **settings})

    return new


def serve(faulty: FaultyServer, title: str, cache_control: str = "max-age=3600", **headers: str) -> None:
    faulty.serve(samples.record("pricing", title=title), {"Cache-Control": cache_control, **headers})


def of_one_process(start: Start, lang: str | None = None) -> FAQState:
    """Use the FAQ in a process that ends then, so that the store has the record."""
    with start() as embed:
        return refreshed(embed, lang=lang)


def stored(start: Start, faulty: FaultyServer) -> str | None:
    """Return the title that a new process finds in the store alone."""
    faulty.refuse()
    found = title(of_one_process(start))
    faulty.accept()
    return found


# Restarts


@pytest.mark.system
def test_a_process_that_ends_after_its_first_read_has_stored_the_record(
    start: Start, store: str, faulty: FaultyServer
) -> None:
    serve(faulty, "One")
    read = (
        "import sys, faqsvc_embed; faqsvc_embed.FAQEmbed(sys.argv[1], store=sys.argv[2]).get_faq('pricing')"
    )
    subprocess.run([sys.executable, "-c", read, faulty.base_url, store], check=True)
    assert stored(start, faulty) == "One"


def test_a_fresh_record_saves_the_next_process_its_request(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One")
    first = of_one_process(start)
    embed = start()
    state = embed.use_faq("pricing")
    assert (title(state), state.source, state.is_stale, state.is_degraded) == ("One", "store", False, False)
    assert state.updated_at == first.updated_at
    assert embed.use_faq("pricing").source == "memory"
    assert len(faulty.log) == 1


def test_after_a_restart_without_the_service_the_last_good_record_is_shown(
    start: Start, faulty: FaultyServer
) -> None:
    serve(faulty, "One", "max-age=0")
    of_one_process(start)
    faulty.refuse()
    embed = start()
    first = embed.use_faq("pricing")
    assert (title(first), first.source, first.is_stale) == ("One", "store", True)
    later = refreshed(embed)
    assert (title(later), later.is_degraded, later.is_stale) == ("One", True, True)


def test_a_stale_record_is_shown_at_once_and_refreshed_behind(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One", "max-age=0")
    of_one_process(start)
    release = threading.Event()
    faulty.behave(behaviours.held_until(release))
    embed = start()
    state = embed.use_faq("pricing")
    assert (title(state), state.is_stale, state.is_fetching) == ("One", True, True)
    serve(faulty, "Two")
    release.set()
    settle(embed)
    assert title(embed.use_faq("pricing")) == "Two"


def test_a_refresh_is_conditional_across_processes(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One", "max-age=0", ETag='"v1"')
    of_one_process(start)
    assert title(of_one_process(start)) == "One"
    assert [request.headers.get("if-none-match") for request in faulty.log] == [None, '"v1"']


def test_each_language_is_stored_by_itself(start: Start, faulty: FaultyServer) -> None:
    for lang in ("en", "ko"):
        faulty.serve(samples.record("pricing", title=f"In {lang}", lang=lang), lang=lang)
        of_one_process(start, lang=lang)
    faulty.refuse()
    assert [title(start().use_faq("pricing", lang=lang)) for lang in ("en", "ko")] == ["In en", "In ko"]


def test_a_record_that_must_not_be_stored_is_not(
    start: Start, faulty: FaultyServer, clock: Clock, store: str
) -> None:
    serve(faulty, "Secret", "no-store", ETag='"v1"')
    embed = start()
    assert title(refreshed(embed)) == "Secret"
    clock.advance(LONG)
    faulty.behave(behaviours.status(304))
    refreshed(embed)
    assert faulty.log[-1].headers["if-none-match"] == '"v1"'
    assert stored(start, faulty) is None
    faulty.behave(behaviours.healthy)
    serve(faulty, "Private", "private, max-age=0")
    of_one_process(start)
    assert stored(start, faulty) == ("Private" if store.startswith("file:") else None)


# 404 and 410


def test_the_first_404_removes_nothing_from_the_store_and_the_second_does(
    start: Start, faulty: FaultyServer, clock: Clock
) -> None:
    serve(faulty, "One", "max-age=0")
    of_one_process(start)
    faulty.behave(behaviours.status(404))
    embed = start(not_found_for=30)
    assert title(refreshed(embed)) == "One"
    assert stored(start, faulty) == "One"
    clock.advance(31)
    assert isinstance(refreshed(embed).error, FAQNotFound)
    assert stored(start, faulty) is None


def test_an_faq_that_is_gone_leaves_the_store_in_every_language(
    start: Start, faulty: FaultyServer, clock: Clock
) -> None:
    for lang in ("de", "ko"):
        faulty.serve(samples.record("pricing", lang=lang), {"Cache-Control": "max-age=60"}, lang=lang)
        of_one_process(start, lang=lang)
    embed = start()
    refreshed(embed, lang="ko")
    clock.advance(LONG)
    faulty.behave(behaviours.status(410))
    assert isinstance(refreshed(embed, lang="de").error, FAQNotFound)
    faulty.refuse()
    clock.advance(LONG)
    for lang in ("de", "ko", "fr"):
        assert refreshed(embed, lang=lang).data is None
        assert of_one_process(start, lang=lang).data is None


def test_a_forgotten_faq_is_in_no_store(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One")
    embed = start()
    refreshed(embed)
    serve(faulty, "Two")
    embed.forget("pricing")
    assert title(embed.use_faq("pricing")) == "Two"
    assert title(start().use_faq("pricing")) == "Two"
    start().forget()  # by an embed that never fetched it
    assert stored(start, faulty) is None


# Many processes


@pytest.mark.system
def test_forgetting_reaches_every_process_of_a_fleet(
    make_embed: MakeEmbed, faulty: FaultyServer, valkey: str
) -> None:
    serve(faulty, "One")
    one, two = make_embed(store=valkey, wait=5), make_embed(store=valkey, wait=5)
    assert [title(refreshed(embed)) for embed in (one, two)] == ["One", "One"]
    serve(faulty, "Two")

    def is_forgotten() -> bool:
        one.forget("pricing")  # again, until both have subscribed
        return title(two.use_faq("pricing")) == "Two"

    wait_until(is_forgotten)


@pytest.mark.system
def test_a_cluster_behind_one_address_keeps_records_and_forgets_them(
    make_embed: MakeEmbed, faulty: FaultyServer, cluster: str
) -> None:
    serve(faulty, "One")
    for source in ("network", "store"):
        with make_embed(store=cluster, wait=5) as embed:
            assert embed.use_faq("pricing").source == source
            settle(embed)
    with make_embed(store=cluster, wait=5) as embed:
        embed.forget()
        assert embed.use_faq("pricing").source == "network"


@pytest.mark.system
def test_processes_do_not_make_each_other_ask_again_for_an_faq_that_is_gone(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, valkey: str
) -> None:
    embeds = [make_embed(store=valkey, wait=5) for _ in range(2)]
    for embed in embeds:
        refreshed(embed)
    clock.advance(LONG)
    faulty.behave(behaviours.status(410))
    faulty.forget_log()
    for _ in range(20):
        for embed in embeds:
            assert refreshed(embed).data is None or embed is embeds[1]
            time.sleep(0.01)  # for messages from one to the other
    assert len(faulty.log) <= 4


# Broken stores


@pytest.mark.parametrize("state", ["a file in its place", "read only"])
def test_a_directory_that_cannot_be_written_breaks_no_page(
    make_embed: MakeEmbed, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture, state: str
) -> None:
    place = Path("/proc/faqsvc") if state == "read only" else tmp_path / "store"
    if state != "read only":
        place.write_text("")
    embed = make_embed(store=f"file:{place}", wait=5)
    for _ in range(3):
        assert title(refreshed(embed)) == "Pricing"
        clock.advance(LONG)
    assert len(warnings_of(caplog)) == 1


def test_without_redis_records_are_fetched_and_shown_from_memory(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(store="redis://127.0.0.1:1/0", wait=5)
    assert title(refreshed(embed)) == "Pricing"
    assert len(warnings_of(caplog)) == 1
    faulty.refuse()
    clock.advance(LONG)
    assert title(refreshed(embed)) == "Pricing"


def test_a_redis_that_hangs_delays_no_page_beyond_its_wait(
    make_embed: MakeEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "CALL_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        embed = make_embed(store=f"redis://127.0.0.1:{silent.getsockname()[1]}/0", wait=2)
        assert seconds(lambda: embed.use_faq("pricing")) < 2 + SLACK
        assert title(embed.use_faq("pricing")) == "Pricing"


def test_a_file_system_that_hangs_delays_neither_the_page_nor_another_faq(
    make_embed: MakeEmbed, faulty: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, is_file = threading.Event(), Path.is_file

    def hang(path: Path) -> bool:
        if tmp_path in path.parents:
            release.wait(60)
        return is_file(path)

    faulty.serve(samples.record("other"))
    monkeypatch.setattr(Path, "is_file", hang)
    monkeypatch.setattr(backend, "CALL_TIMEOUT", 0.5)
    embed = make_embed(store=f"file:{tmp_path}", wait=60)
    try:
        assert seconds(lambda: embed.prefetch("pricing", "other")) < 1 + SLACK
        assert {row["freshness"] for row in embed.health()} == {"fresh"}
        assert sum("faqsvc-embed-call" in thread.name for thread in threading.enumerate()) < 10
    finally:
        release.set()


# Offline


def test_an_offline_embed_without_a_folder_says_what_it_needs() -> None:
    with FAQEmbed("https://faq.invalid", offline=True) as embed:
        assert "directory" in str(embed.use_faq("pricing").error)
        assert asyncio.run(embed.ause_faq("pricing")).data is None


def test_the_store_forgets_an_unpublished_faq_before_pages_do(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # so that it does not come back, even if the process is killed now
    store, delete, seen = f"file:{tmp_path}", SQLiteBackend.delete, list[str]()
    embed = make_embed(store=store)
    refreshed(embed)

    async def watched(backend: SQLiteBackend, *names: str) -> None:
        seen.extend(faq["freshness"] for faq in embed.health())
        await delete(backend, *names)

    monkeypatch.setattr(SQLiteBackend, "delete", watched)
    clock.advance(LONG)
    faulty.behave(behaviours.status(410))
    assert refreshed(embed).data is None
    assert seen == ["stale"]
    faulty.refuse()
    assert make_embed(store=store).use_faq("pricing", wait=5).data is None
