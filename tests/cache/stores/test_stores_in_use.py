"""Copies outlive the process: what an embed shows after a restart, in a fleet, and with a broken store."""

import gc
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQNotFound, FAQState, FAQUnavailable
from faqsvc_embed.cache.entries import Key
from tests.support import faulty as faults
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer

Start = Callable[..., FAQEmbed]


@pytest.fixture
def start(faulty: FaultyServer, store: str) -> Iterator[Start]:
    """Start a "process": an embed with no memory of its own yet."""
    with ExitStack() as stack:

        def new(**settings: Any) -> FAQEmbed:
            return stack.enter_context(
                FAQEmbed(**{"base_url": faulty.base_url, "store": store, "wait": 5.0, **settings})
            )

        yield new


def settle(embed: FAQEmbed, slug: str = "pricing") -> FAQState:
    """Ask once, and return the state when what this started is over."""
    reader, key = embed.showing._reader, Key(slug, None)
    embed.use_faq(slug)
    end = time.monotonic() + 5
    while reader._is_fetching(key):
        assert time.monotonic() < end
        time.sleep(0.005)
    return reader._snapshot(key)


def title(state: FAQState) -> str | None:
    return state.data.title if state.data else None


def serve(faulty: FaultyServer, title: str, cache_control: str = "max-age=3600", **headers: str) -> None:
    faulty.serve(samples.record("pricing", title=title), {"Cache-Control": cache_control, **headers})


def stored(start: Start, faulty: FaultyServer) -> str | None:
    """Return the title that a process finds in the store alone."""
    faulty.refuse()
    state = settle(start())
    faulty.accept()
    return title(state)


# Restarts


def test_a_fresh_copy_spares_the_next_process_its_request(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One")
    first = settle(start())
    second = start()
    state = second.use_faq("pricing")
    assert (title(state), state.source, state.is_stale, state.is_degraded) == ("One", "store", False, False)
    assert state.updated_at == first.updated_at
    again = second.use_faq("pricing")
    assert (again.data, again.source) == (state.data, "memory")
    assert len(faulty.log) == 1


def test_after_a_restart_without_the_service_the_last_good_copy_is_shown(
    start: Start, faulty: FaultyServer
) -> None:  # R1
    serve(faulty, "One", "max-age=0")
    settle(start())
    faulty.refuse()
    embed = start()
    first = embed.use_faq("pricing")
    assert (title(first), first.source, first.is_stale) == ("One", "store", True)
    later = settle(embed)
    assert (title(later), later.is_degraded, later.is_stale) == ("One", True, True)
    assert "One" in embed.render("pricing")


def test_a_stale_copy_is_shown_at_once_and_refreshed_behind(start: Start, faulty: FaultyServer) -> None:  # K3
    serve(faulty, "One", "max-age=0")
    settle(start())
    release = threading.Event()
    faulty.behave(faults.held_until(release))
    embed = start()
    state = embed.use_faq("pricing")
    assert (title(state), state.is_stale, state.is_fetching) == ("One", True, True)
    serve(faulty, "Two")
    release.set()
    assert title(settle(embed)) == "Two"


def test_a_refresh_is_conditional_across_processes(start: Start, faulty: FaultyServer) -> None:  # K5
    serve(faulty, "One", "max-age=0", ETag='"v1"')
    settle(start())
    embed = start()
    settle(embed)
    assert faulty.log[1].headers["if-none-match"] == '"v1"'
    assert title(settle(embed)) == "One"


def test_each_language_is_kept_by_itself(start: Start, faulty: FaultyServer) -> None:  # L8
    for lang in ("en", "ko"):
        faulty.serve(samples.record("pricing", title=f"In {lang}", lang=lang), lang=lang)
    assert [title(start().use_faq("pricing", lang=lang)) for lang in ("en", "ko")] == ["In en", "In ko"]
    faulty.refuse()
    assert [title(start().use_faq("pricing", lang=lang)) for lang in ("en", "ko", "de")] == [
        "In en",
        "In ko",
        None,
    ]


def test_what_must_not_be_stored_is_not(start: Start, faulty: FaultyServer, store: str) -> None:  # K2
    serve(faulty, "Secret", "no-store")
    assert title(settle(start())) == "Secret"
    assert stored(start, faulty) is None
    serve(faulty, "Private", "private, max-age=0")
    assert title(settle(start())) == "Private"
    assert stored(start, faulty) == ("Private" if store.startswith("file:") else None)


def test_what_must_not_be_stored_is_not_when_it_has_not_changed_either(
    start: Start, faulty: FaultyServer
) -> None:  # K2, K5
    serve(faulty, "Secret", "no-store", ETag='"v1"')
    embed = start()
    settle(embed)
    faulty.behave(faults.status(304))
    assert title(settle(embed)) == "Secret"
    assert faulty.log[-1].headers["if-none-match"] == '"v1"'
    assert stored(start, faulty) is None


def test_an_faq_that_was_unpublished_leaves_the_store(start: Start, faulty: FaultyServer) -> None:  # K6
    serve(faulty, "One", "max-age=0")
    settle(start())
    faulty.behave(faults.status(404))
    embed = start()
    embed.use_faq("pricing")
    assert isinstance(settle(embed).error, FAQNotFound)
    assert stored(start, faulty) is None


def test_what_one_process_forgets_is_in_no_store(start: Start, faulty: FaultyServer) -> None:
    serve(faulty, "One")
    embed = start()
    settle(embed)
    serve(faulty, "Two")
    embed.forget("pricing")
    assert title(embed.use_faq("pricing")) == "Two"
    assert title(start().use_faq("pricing")) == "Two"
    start().forget()  # by one that never asked for it
    assert stored(start, faulty) is None


# Many processes


def test_many_that_are_cold_ask_once(start: Start, faulty: FaultyServer) -> None:  # K12
    serve(faulty, "One")
    faulty.behave(faults.slow_head(0.2))
    embeds = [start() for _ in range(8)]
    states = dict[int, FAQState]()

    def ask(number: int) -> None:
        states[number] = embeds[number].use_faq("pricing")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [title(state) for state in states.values()] == ["One"] * 8
    assert len(faulty.log) == 1


def test_in_each_lifetime_one_of_many_refreshes(start: Start, faulty: FaultyServer, clock: Clock) -> None:
    # K12
    embeds = [start() for _ in range(4)]
    for embed in embeds:
        embed.cache.clock, embed.cache.wall_clock = clock.now, clock.wall
    for lifetime in range(3):
        serve(faulty, f"In lifetime {lifetime}", "max-age=60")
        for _ in range(2):
            shown = [title(settle(embed)) for embed in embeds]
        assert shown == [f"In lifetime {lifetime}"] * 4
        assert len(faulty.log) == lifetime + 1
        clock.advance(70)


def test_in_a_fleet_forget_reaches_everybody(faulty: FaultyServer, valkey: str) -> None:
    serve(faulty, "One")
    with (
        FAQEmbed(faulty.base_url, store=valkey, wait=5) as one,
        FAQEmbed(faulty.base_url, store=valkey, wait=5) as two,
    ):
        assert [title(settle(embed)) for embed in (one, two)] == ["One", "One"]
        serve(faulty, "Two")
        end = time.monotonic() + 5
        while title(two.use_faq("pricing")) != "Two":
            one.forget("pricing")  # again, until both listen
            assert time.monotonic() < end
            time.sleep(0.01)


def test_who_forgets_does_not_hear_it_again(faulty: FaultyServer, valkey: str) -> None:
    """Or it would drop what it fetched since."""
    serve(faulty, "One")
    with (
        FAQEmbed(faulty.base_url, store=valkey, wait=5) as one,
        FAQEmbed(faulty.base_url, store=valkey, wait=5) as two,
    ):
        heard, forget = list[str | None](), one.cache.forget

        def hear(slug: str | None = None) -> None:
            heard.append(slug)
            forget(slug)

        one.cache.forget = hear  # type: ignore[method-assign]
        for embed in (one, two):
            settle(embed)
        end = time.monotonic() + 5
        while "listening" not in heard:
            two.forget("listening")
            assert time.monotonic() < end
            time.sleep(0.01)
        heard.clear()
        one.forget("pricing")
        two.forget("last")
        while "last" not in heard:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert [slug for slug in heard if slug != "listening"] == ["pricing", "last"]


# Broken stores


def test_what_is_dropped_unclosed_leaves_nothing_open(faulty: FaultyServer, store: str) -> None:  # R12
    threads = set(threading.enumerate())
    faulty.serve(samples.pricing())
    FAQEmbed(faulty.base_url, store=store).get_faq("pricing")
    deadline = time.monotonic() + 5
    while {t for t in threading.enumerate() if t.name == "faqsvc-embed"} - threads or faulty.has_connections:
        gc.collect()
        assert time.monotonic() < deadline, "its thread or its connection does not end"
        time.sleep(0.002)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def test_a_damaged_file_is_ignored_said_once_and_replaced(
    faulty: FaultyServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # K17
    serve(faulty, "One", "max-age=0")

    def start() -> FAQEmbed:
        return FAQEmbed(faulty.base_url, store=f"file:{tmp_path}", wait=5)

    with start() as embed:
        settle(embed)
    (path,) = tmp_path.glob("*.json")
    whole = path.read_text()
    path.write_text(whole.replace("One", "Own"))
    faulty.refuse()
    with start() as embed:
        for _ in range(3):
            assert settle(embed).data is None
    assert [path.name in message for message in warnings_of(caplog)] == [True, False]
    faulty.accept()
    with start() as embed:
        assert title(settle(embed)) == "One"
    assert '"One"' in path.read_text()


@pytest.mark.parametrize("trouble", ["a file in its place", "read only"])
def test_a_directory_that_cannot_be_written_breaks_no_page(
    faulty: FaultyServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, trouble: str
) -> None:  # R6
    serve(faulty, "One", "max-age=0")
    place = tmp_path / "store"
    if trouble == "read only":
        place = Path("/proc/faqsvc")
    else:
        place.write_text("")
    with FAQEmbed(faulty.base_url, store=f"file:{place}", wait=5) as embed:
        for _ in range(3):
            assert title(settle(embed)) == "One"
    assert len(warnings_of(caplog)) == 1
    assert "the store cannot be" in warnings_of(caplog)[0]


def test_without_redis_the_service_is_asked_and_memory_shown(
    faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # R6
    serve(faulty, "One")
    with FAQEmbed(faulty.base_url, store="redis://127.0.0.1:1/0", wait=5) as embed:
        assert title(settle(embed)) == "One"
        faulty.refuse()
        assert title(settle(embed)) == "One"
    assert len(warnings_of(caplog)) == 1
    assert "the store cannot be" in warnings_of(caplog)[0]


def test_a_redis_that_hangs_holds_no_page_beyond_its_budget(faulty: FaultyServer) -> None:  # R2, R6
    serve(faulty, "One")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with FAQEmbed(faulty.base_url, store=address, wait=2) as embed:
            began = time.monotonic()
            assert title(embed.use_faq("pricing")) == "One"
            assert time.monotonic() - began < 2.05


# Bundles


def test_an_offline_embed_runs_from_its_bundle_alone(
    faulty: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # R7, R8
    serve(faulty, "One", "max-age=0")
    faulty.serve(samples.record("legal", lang="ko"), lang="ko")
    with FAQEmbed(faulty.base_url, store=f"file:{tmp_path}", wait=5) as online:
        settle(online)
        online.use_faq("legal", lang="ko")

    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    faulty.close()
    monkeypatch.setattr(socket.socket, "__init__", refuse)
    threads = threading.active_count()
    with FAQEmbed(faulty.base_url, store=f"file:{tmp_path}", offline=True, keep_for=0) as embed:
        state = embed.use_faq("pricing")
        assert (title(state), state.source, state.error) == ("One", "store", None)
        assert embed.use_faq("pricing").source == "memory"
        assert title(embed.use_faq("pricing", lang="de")) == "One"  # as the service would
        assert "One" in embed.render("pricing")
        assert isinstance(embed.use_faq("legal").error, FAQUnavailable)  # nobody asked for its own language
        assert embed.use_faq("legal", lang="ko").data is not None
        assert str(embed.use_faq("nothing").error) == (
            f"offline, and no copy of 'nothing' is held in file:{tmp_path} of {faulty.base_url}"
        )
        embed.forget()
        assert embed.use_faq("pricing").data is not None  # a bundle is not ours to delete
    assert threading.active_count() == threads
