"""An event for each fetch, for metrics; a faulty listener breaks nothing."""

import threading
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import ConfigurationError, FAQEvent
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, SLACK, MakeEmbed, refreshed, seconds, warnings_of
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle, wait_until


def test_each_fetch_gives_one_event_with_its_result(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed, events = make_embed(lang="ko", not_found_for=30), list[FAQEvent]()
    embed.listen(events.append)
    for behaviour in (
        behaviours.healthy,
        behaviours.healthy,
        behaviours.status(500),
        behaviours.reset,
        behaviours.healthy,
        behaviours.status(404),
        behaviours.status(404),
        behaviours.healthy,
        behaviours.status(410),
    ):
        faulty.behave(behaviour)
        refreshed(embed)
        refreshed(embed)  # no fetch: it is fresh, or backs off
        clock.advance(LONG)
    results = ["fetched", "not_modified", "failed", "failed", "recovered"]
    assert [event.result for event in events] == [*results, "failed", "not_found", "recovered", "gone"]
    assert {(event.slug, event.lang) for event in events} == {("pricing", "ko")}
    assert all(0 < event.seconds < 5 for event in events)
    statuses = [event.error and event.error.status for event in events]
    assert statuses == [None, None, 500, None, None, 404, 404, None, 410]
    with pytest.raises(AttributeError):
        events[0].result = "failed"  # type: ignore[misc]


def test_a_listener_that_raises_is_logged_once_and_stops_no_other(
    make_embed: MakeEmbed, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed, events = make_embed(), list[FAQEvent]()

    def fail(event: FAQEvent) -> None:
        raise RuntimeError("the metrics are down")

    embed.listen(fail)
    embed.listen(events.append)
    for _ in range(3):
        assert refreshed(embed).data is not None
        clock.advance(LONG)
    assert [event.result for event in events] == ["fetched", "not_modified", "not_modified"]
    assert len(warnings_of(caplog)) == 1


def test_a_listener_that_hangs_delays_no_page_beyond_its_wait(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    faulty.serve(samples.record("warm"))
    embed, release = make_embed(wait=0.1), threading.Event()
    embed.get_faq("warm")
    embed.listen(lambda event: release.wait(10))
    try:
        assert seconds(lambda: embed.use_faq("pricing")) < 0.1 + SLACK
        assert seconds(lambda: embed.use_faq("other")) < 0.1 + SLACK
        assert embed.use_faq("warm").data is not None
    finally:
        release.set()


def test_a_listener_is_a_function(make_embed: MakeEmbed) -> None:
    with pytest.raises(ConfigurationError, match="function"):
        make_embed().listen("count")  # type: ignore[arg-type]


def test_a_listener_may_use_the_embed(make_embed: MakeEmbed) -> None:
    embed, seen = make_embed(), list[Any]()

    def look(event: FAQEvent) -> None:
        seen.append((embed.health(), embed.use_faq("other", wait=0).data))

    embed.listen(look)
    embed.use_faq("pricing", wait=5)
    wait_until(lambda: len(seen) == 2)
    assert seen[0][0][0]["slug"] == "pricing"


def test_a_fetch_that_was_forgotten_or_cancelled_gives_no_event(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed, events = make_embed(timeout=60), list[FAQEvent]()
    embed.listen(events.append)
    for end in (embed.forget, embed.close):
        release = threading.Event()
        faulty.forget_log()
        faulty.then(behaviours.held_until(release))
        embed.use_faq("pricing", wait=0)
        faulty.wait_for_requests(1)
        end()
        release.set()
        settle(embed)
    embed.close()
    assert events == []


def test_a_record_that_another_process_has_fetched_ends_a_failure(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, tmp_path: Path
) -> None:
    store, events = f"file:{tmp_path}", list[FAQEvent]()
    one, two = make_embed(store=store), make_embed(store=store)
    one.listen(events.append)
    faulty.refuse()
    refreshed(one)
    faulty.accept()
    refreshed(two)
    two.close()  # once its record is stored
    faulty.refuse()
    clock.advance(1)
    refreshed(one)
    assert [event.result for event in events] == ["failed", "recovered"]
