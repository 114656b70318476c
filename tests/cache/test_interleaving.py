"""What happens while a fetch is under way: forget, close, a crash, an exit, a jump of the clock."""

import asyncio
import errno
import selectors
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import FAQ, FAQError, FAQUnavailable
from faqsvc_embed.cache.sqlite import SQLiteBackend
from tests.support import samples
from tests.support.clock import EPOCH, Clock
from tests.support.embeds import (
    LONG,
    PRICING,
    SLACK,
    MakeEmbed,
    failure,
    own_threads,
    refreshed,
    seconds,
    title,
    warnings_of,
)
from tests.support.faults import behaviours
from tests.support.faults.exchange import as_json
from tests.support.faulty import Exchange, FaultyServer
from tests.support.waiting import settle, wait_until

EDITED = {**samples.pricing(), "title": "Edited"}


def respond_with_edit(exchange: Exchange) -> None:
    exchange.respond(200, as_json(EDITED))


# Forgetting


def test_a_record_that_was_requested_before_it_was_forgotten_is_not_cached(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed, release, old = make_embed(), threading.Event(), list[FAQ]()
    faulty.behave(behaviours.held_until(release))
    waiting = threading.Thread(target=lambda: old.append(embed.get_faq("pricing")))
    waiting.start()
    faulty.wait_for_requests(1)
    embed.forget("pricing")
    faulty.behave(respond_with_edit)
    assert embed.get_faq("pricing").title == "Edited"  # by a fetch of its own
    release.set()
    waiting.join(60)
    assert old == [PRICING]  # an earlier caller gets what it asked for
    assert embed.get_faq("pricing").title == "Edited"
    assert len(faulty.log) == 2


def test_a_record_that_is_forgotten_while_it_is_cached_is_neither_shown_nor_stored(
    make_embed: MakeEmbed, faulty: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = make_embed(store=f"file:{tmp_path}")
    forgetting, apply = threading.Thread(target=embed.forget, args=["pricing"]), embed.reader.cache.apply

    def forget_meanwhile(*args: Any) -> Any:
        forgetting.start()
        forgetting.join(0.2)
        return apply(*args)

    monkeypatch.setattr(embed.reader.cache, "apply", forget_meanwhile)
    embed.get_faq("pricing")
    forgetting.join(60)
    monkeypatch.undo()
    settle(embed)
    embed.close()
    faulty.refuse()
    assert embed.use_faq("pricing", wait=5).data is None


@pytest.mark.parametrize("slug", ["pricing", None])
def test_a_record_that_is_forgotten_while_it_is_stored_is_not_in_the_store(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    slug: str | None,
) -> None:
    embed = make_embed(store=f"file:{tmp_path}")
    storing, release, put = threading.Event(), threading.Event(), SQLiteBackend.put

    async def put_slowly(backend: SQLiteBackend, name: str, value: bytes, seconds: float) -> None:
        storing.set()
        await asyncio.to_thread(release.wait, 0.2)
        await put(backend, name, value, seconds)

    monkeypatch.setattr(SQLiteBackend, "put", put_slowly)
    embed.get_faq("pricing")
    assert storing.wait(60)
    forgetting = threading.Thread(target=embed.forget, args=[slug])
    forgetting.start()
    wait_until(lambda: embed.health() == [])
    release.set()
    forgetting.join(60)
    embed.close()
    faulty.refuse()
    assert make_embed(store=f"file:{tmp_path}").use_faq("pricing", wait=5).data is None


def test_not_modified_confirms_a_record_that_was_forgotten_meanwhile_to_who_had_asked(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed, release, read = make_embed(keep_for=0), threading.Event(), list[FAQ]()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.then(behaviours.held_until(release))
    waiting = threading.Thread(target=lambda: read.append(embed.get_faq("pricing")))
    waiting.start()
    faulty.wait_for_requests(2)
    embed.forget()
    release.set()
    waiting.join(60)
    assert read == [PRICING]


# Closing


def test_closing_waits_for_no_service_and_ends_every_wait(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed, errors = make_embed(timeout=60), list[FAQError]()
    faulty.behave(behaviours.hang)
    waiting = threading.Thread(target=lambda: errors.append(failure(embed)))
    waiting.start()
    faulty.wait_for_requests(1)
    assert seconds(embed.close) < SLACK
    waiting.join(60)
    assert [type(error) for error in errors] == [FAQUnavailable]
    wait_until(lambda: not own_threads())
    assert embed.health() == []  # not a failure of the service
    faulty.behave(behaviours.healthy)
    assert embed.get_faq("pricing") == PRICING


def test_fetching_and_closing_at_the_same_time_leaves_nothing_behind(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed, outcomes = make_embed(timeout=2), list[object]()

    def read() -> None:
        for _ in range(20):
            try:
                outcomes.append(embed.get_faq("pricing"))
            except FAQUnavailable as error:
                outcomes.append(error)
            embed.forget()

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        embed.close()
    assert len(outcomes) == 60
    assert not embed.reader.fetcher.is_fetching()
    assert embed.get_faq("pricing") == PRICING


# Crashes


class CrashingClock:
    """A wall clock that raises an exception once: a bug in the middle of a fetch."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.crash: BaseException | None = None

    def wall(self) -> Any:
        crash, self.crash = self.crash, None
        if crash is not None:
            raise crash
        return self._clock.wall()


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, MemoryError, GeneratorExit, KeyError])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fetch_that_crashes_is_logged_and_leaves_no_caller_waiting(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    clock: Clock,
    kind: type[BaseException],
    caplog: pytest.LogCaptureFixture,
) -> None:
    embed, crashing = make_embed(wait=30, timeout=30), CrashingClock(clock)
    embed.reader.cache.wall_clock = crashing.wall
    crashing.crash = kind()
    assert seconds(lambda: embed.use_faq("pricing")) < SLACK
    errors = [record for record in caplog.records if record.exc_info is not None]
    assert [record.exc_info[0] for record in errors if record.exc_info] == [kind]
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
    clock.advance(LONG)
    assert refreshed(embed).data == PRICING


def test_the_same_bug_is_logged_with_its_traceback_once(
    make_embed: MakeEmbed, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed, crashing = make_embed(), CrashingClock(clock)
    embed.reader.cache.wall_clock = crashing.wall
    for slug in ("a", "b", "c"):
        crashing.crash = KeyError()
        assert isinstance(failure(embed, slug), FAQUnavailable)
    assert len([record for record in caplog.records if record.exc_info is not None]) == 1


@pytest.mark.filterwarnings("error")
def test_without_a_thread_pages_go_without_the_faq(
    make_embed: MakeEmbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    embed = make_embed(store=f"file:{tmp_path}", wait=60)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        assert seconds(lambda: embed.render("pricing")) < SLACK
        assert isinstance(failure(embed), FAQUnavailable)
        embed.forget()
    assert len(warnings_of(caplog)) == 1
    assert embed.get_faq("pricing") == PRICING


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), KeyboardInterrupt()])
def test_later_pages_have_the_faq_after_one_that_could_start_no_fetch(
    make_embed: MakeEmbed, clock: Clock, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def refuse() -> None:
        raise error

    embed = make_embed(wait=60)
    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(selectors, "DefaultSelector", refuse)
        assert embed.render("pricing") == ""
    clock.advance(60)
    assert embed.get_faq("pricing") == PRICING


# Time


@pytest.mark.parametrize("is_async", [False, True])
def test_a_process_that_is_suspended_between_requests_refreshes_its_records(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    is_async: bool,
) -> None:
    embed, never = make_embed(wait=60), threading.Event()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.behave(behaviours.held_until(never))
    assert embed.use_faq("pricing").is_stale
    faulty.wait_for_requests(2)
    faulty.behave(respond_with_edit)
    running = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: running() + 3600)
    embed.use_faq("another", wait=0)  # its fetch wakes the background loop
    state = asyncio.run(embed.ause_faq("pricing")) if is_async else embed.use_faq("pricing")
    never.set()
    assert (title(state), state.is_stale, state.error) == ("Edited", False, None)


@pytest.mark.parametrize("days", [1, -1, 3650])
@pytest.mark.parametrize("with_store", [False, True])
def test_a_wall_clock_that_jumps_neither_freezes_nor_storms(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, tmp_path: Path, days: int, with_store: bool
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
    embed = make_embed(store=f"file:{tmp_path}" if with_store else None)
    refreshed(embed)
    clock.set_wall(EPOCH + timedelta(days=days))
    assert refreshed(embed).data == PRICING
    assert len(faulty.log) == 1
    for lifetime in range(3):
        clock.advance(100)
        faulty.serve({**samples.pricing(), "title": f"Edited {lifetime}"})
        for _ in range(5):
            state = refreshed(embed)
        assert title(state) == f"Edited {lifetime}"
        assert len(faulty.log) == 2 + lifetime


def test_after_a_long_sleep_of_the_machine_pages_are_shown_at_once(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(keep_for=7 * 86_400, wait=5)
    embed.get_faq("pricing")
    faulty.drop_connections()
    clock.advance(3 * 86_400)
    assert embed.use_faq("pricing").is_stale
    settle(embed)
    assert not embed.use_faq("pricing").is_stale
    clock.advance(30 * 86_400)  # longer than keep_for: fetched while the page waits
    state = embed.use_faq("pricing")
    assert (state.is_stale, state.source) == (False, "network")
    assert len(faulty.log) == 3
