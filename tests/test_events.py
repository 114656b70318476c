"""The host is told: an event a fetch, for metrics; what a listener does wrong breaks nothing."""

import logging
import threading
import time
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQEvent
from tests.cache.test_fetcher import until
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer


def settle(embed: FAQEmbed) -> None:
    embed.use_faq("pricing", wait=5)
    until(lambda: not embed.is_fetching)


def test_each_fetch_tells_how_it_ended(faulty: FaultyServer, clock: Clock) -> None:  # R9
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
    events = list[FAQEvent]()
    with FAQEmbed(faulty.base_url, lang="ko") as embed:
        embed.cache.clock = clock.now
        embed.listen(events.append)
        for behaviour in (
            behaviours.healthy,
            behaviours.healthy,
            behaviours.status(500),
            behaviours.hang_in_body,
            behaviours.healthy,
            behaviours.status(404),
            behaviours.healthy,
        ):
            faulty.behave(behaviours.reset if behaviour is behaviours.hang_in_body else behaviour)
            settle(embed)
            settle(embed)  # what is held, or backs off, is no fetch
            clock.advance(4000)
    assert [event.what for event in events] == [
        "fetched",
        "not_modified",
        "failed",
        "failed",
        "recovered",
        "missing",
        "recovered",
    ]
    assert {(event.slug, event.lang) for event in events} == {("pricing", "ko")}
    assert all(0 < event.seconds < 5 for event in events)
    statuses = [event.error and event.error.status for event in events]
    assert statuses == [None, None, 500, None, None, 404, None]
    with pytest.raises(AttributeError):
        events[0].what = "failed"  # type: ignore[misc]


def test_a_listener_that_raises_is_logged_once_and_the_others_hear(
    faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:  # R4
    faulty.serve(samples.pricing())
    heard = list[FAQEvent]()

    def broken(event: FAQEvent) -> None:
        raise RuntimeError("the metrics are down")

    with FAQEmbed(faulty.base_url) as embed:
        embed.cache.clock = clock.now
        embed.listen(broken)
        embed.listen(heard.append)
        for _ in range(3):
            settle(embed)
            assert embed.use_faq("pricing").data is not None
            clock.advance(4000)
    assert [event.what for event in heard] == ["fetched", "not_modified", "not_modified"]
    errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert errors == ["a listener to FAQ events fails: RuntimeError('the metrics are down')"]


def test_a_listener_that_hangs_holds_no_page_beyond_its_budget(faulty: FaultyServer) -> None:  # R2
    for slug in ("warm", "pricing"):
        faulty.serve(samples.record(slug))
    release = threading.Event()
    with FAQEmbed(faulty.base_url, wait=0.1) as embed:
        embed.get_faq("warm")
        embed.listen(lambda event: release.wait(10))
        began = time.monotonic()
        assert embed.use_faq("pricing").data is not None  # it is held; only its fetch is not over
        assert embed.use_faq("other").is_loading
        assert time.monotonic() - began < 0.2 + 0.3
        release.set()


def test_a_listener_may_ask_the_embed(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    known = list[Any]()
    with FAQEmbed(faulty.base_url) as embed:

        def ask(event: FAQEvent) -> None:
            known.append((embed.health(), embed.use_faq("other").is_loading))

        embed.listen(ask)
        settle(embed)
        until(lambda: len(known) == 2)
    assert known[0][0][0]["slug"] == "pricing"
    assert known[0][1] is True


def test_a_copy_that_another_process_fetched_ends_a_failure(faulty: FaultyServer, tmp_path: Any) -> None:
    faulty.serve(samples.pricing())
    store = f"file:{tmp_path}"
    events = list[FAQEvent]()
    with FAQEmbed(faulty.base_url, store=store) as one, FAQEmbed(faulty.base_url, store=store) as other:
        one.listen(events.append)
        one.cache.chance = lambda: 0.0
        faulty.refuse()
        settle(one)
        faulty.accept()
        settle(other)
        faulty.refuse()
        settle(one)
    assert [event.what for event in events] == ["failed", "recovered"]
