"""The change feed: what is edited or unpublished reaches a process within seconds."""

import itertools
import json
import os
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQNotFound
from faqsvc_embed.runtime import backoff
from faqsvc_embed.sources import service as feed
from tests.support.clock import Clock
from tests.support.embeds import use_clock, warnings_of
from tests.support.feed_service import FeedService, feed_service
from tests.support.waiting import settle, wait_until


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "SETTLE", 0.02)
    monkeypatch.setattr(feed, "RECONNECT_INTERVAL", 0.1)
    monkeypatch.setattr(feed, "REFRESH_INTERVAL", 0.05)


@pytest.fixture
def service() -> Iterator[FeedService]:
    with feed_service() as service:
        service.answers.update(pricing="Old.", legal="Law.")
        yield service


@pytest.fixture
def embed(service: FeedService) -> Iterator[FAQEmbed]:
    with FAQEmbed(service.url) as embed:
        yield embed


def answer(embed: FAQEmbed, slug: str = "pricing") -> str | None:
    state = embed.use_faq(slug, wait=30)
    return state.data.items[0].answer if state.data is not None else None


def follow(embed: FAQEmbed, service: FeedService, *slugs: str) -> None:
    """Show FAQs, and wait until the feed follows them and nothing is fetched any more."""
    for slug in slugs or ("pricing",):
        assert answer(embed, slug)
    wait_until(
        lambda: (
            len(service.connections) > 0
            and set(slugs or ("pricing",)) <= set(service.connections[-1]["slugs"])
        )
    )
    wait_until(lambda: len(service.reads) >= 2 * len(slugs or ("pricing",)))
    wait_until(lambda: not embed.reader.fetcher.is_fetching())


def hold_a_refresh(embed: FAQEmbed, service: FeedService) -> None:
    """Start the refresh of a stale record, whose request is not responded to yet."""
    service.may_read.clear()
    reads = len(service.reads)
    wait_until(lambda: embed.use_faq("pricing") is not None and len(service.reads) > reads)


def test_an_edit_arrives_although_the_record_is_fresh_for_an_hour(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    service.publish("pricing", "New.")
    wait_until(lambda: answer(embed) == "New.")
    assert not embed.use_faq("pricing").is_stale


def test_an_unpublished_faq_is_not_found_before_it_is_fetched_again(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    service.publish("pricing", None)
    wait_until(lambda: isinstance(embed.use_faq("pricing").error, FAQNotFound))
    service.may_read.clear()
    service.publish("pricing", None, revision=3)
    wait_until(lambda: embed.reader.fetcher.is_fetching())
    state = embed.use_faq("pricing")
    service.may_read.set()
    assert isinstance(state.error, FAQNotFound)


def test_a_slug_that_a_host_writes_decomposed_is_the_same(service: FeedService, embed: FAQEmbed) -> None:
    service.answers["café-prix"] = "Old."
    decomposed = unicodedata.normalize("NFD", "café-prix")
    assert answer(embed, decomposed) == "Old."
    wait_until(lambda: bool(service.connections) and "café-prix" in service.connections[-1]["slugs"])
    settle(embed)
    service.publish("café-prix", "New.")
    wait_until(lambda: answer(embed, decomposed) == "New.")
    service.answers["café-prix"] = "Newer."
    embed.forget(decomposed)
    assert answer(embed, "café-prix") == "Newer."


@pytest.mark.matrix
def test_many_faqs_with_long_slugs_are_followed_by_one_connection(
    service: FeedService, embed: FAQEmbed
) -> None:
    slugs = [f"{'배송-안내-' * 30}{number}" for number in range(50)]
    service.answers.update(dict.fromkeys(slugs, "Old."))
    for slug in slugs:
        assert answer(embed, slug) == "Old."
    wait_until(lambda: set(service.connections[-1]["slugs"]) == set(slugs) if service.connections else False)
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
    service.publish(slugs[-1], "New.")
    wait_until(lambda: answer(embed, slugs[-1]) == "New.")


def test_invented_slugs_rarely_cost_a_connection(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MISSING_INTERVAL", 600.0)
    follow(embed, service)
    count = len(service.connections)
    for number in range(50):
        assert answer(embed, f"invented-{number}") is None
    service.publish("pricing", "Changed.")
    wait_until(lambda: answer(embed, "pricing") == "Changed.")
    assert len(service.connections) == count


@pytest.mark.parametrize("before", ["never published", "unpublished"])
def test_an_faq_that_did_not_exist_is_shown_once_it_is_published(
    service: FeedService, embed: FAQEmbed, before: str
) -> None:
    if before == "unpublished":
        service.answers["later"] = None
    assert answer(embed, "later") is None
    wait_until(lambda: any("later" in connection["slugs"] for connection in service.connections))
    settle(embed)
    service.publish("later", "Here.")
    wait_until(lambda: answer(embed, "later") == "Here.")


@pytest.mark.matrix
def test_invented_slugs_do_not_take_the_place_of_records(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(embed, service)
    monkeypatch.setattr(feed, "MISSING_INTERVAL", 0.1)
    for number in range(120):
        assert answer(embed, f"invented-{number}") is None
    wait_until(lambda: "invented-119" in service.connections[-1]["slugs"])
    assert "pricing" in service.connections[-1]["slugs"]
    assert len(service.connections[-1]["slugs"]) <= 101


def test_a_revision_between_the_cached_and_the_announced_one_is_not_taken_for_the_new_one(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    service.publish("pricing", "Between.", revision=3)
    wait_until(lambda: embed.use_faq("pricing").is_degraded)
    assert answer(embed) == "Old."
    service.publish("pricing", "New.")
    wait_until(lambda: answer(embed) == "New.")
    assert not embed.use_faq("pricing").is_stale


def test_a_feed_that_announces_what_never_comes_is_not_believed_for_long(
    service: FeedService, embed: FAQEmbed, clock: Clock
) -> None:
    follow(embed, service)
    use_clock(embed, clock)
    service.send('{"slug": "pricing", "lang": "en", "revision": 1000, "state": "published"}')
    wait_until(lambda: embed.use_faq("pricing").is_degraded)
    clock.advance(61)
    wait_until(lambda: not embed.use_faq("pricing").is_stale)


def test_the_next_edit_does_not_wait_for_the_attempts_to_read_the_one_before(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    reads = len(service.reads)
    service.lag = 1
    service.publish("pricing", "New.")
    wait_until(lambda: len(service.reads) > reads)
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
    service.publish("pricing", "Newer.")
    wait_until(lambda: answer(embed) == "Newer.")


def test_no_cache_in_front_of_the_service_responds_to_the_request_after_a_change(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    before = len(service.uncached_reads)
    service.publish("pricing", "New.")
    wait_until(lambda: answer(embed) == "New.")
    assert service.uncached_reads[before:] == ["pricing"]


@pytest.mark.parametrize(("lang", "revision"), [("en", 2), ("de", 9)], ids=["cached", "another language"])
def test_a_change_that_does_not_concern_the_page_costs_one_request(
    service: FeedService, embed: FAQEmbed, lang: str, revision: int
) -> None:
    service.revisions["pricing"] = 2
    follow(embed, service)
    reads = len(service.reads)
    event = {"slug": "pricing", "lang": lang, "revision": revision, "state": "published"}
    service.send(json.dumps(event))
    wait_until(lambda: len(service.reads) > reads)
    wait_until(lambda: embed.reader.fetcher.feed_lag == 0)
    assert len(service.reads) == reads + 1


def test_a_new_translation_arrives_although_an_older_record_has_a_higher_revision(
    service: FeedService, embed: FAQEmbed
) -> None:
    service.revisions["pricing"] = 7
    follow(embed, service)
    assert embed.get_faq("pricing", lang="de").lang == "en"
    wait_until(lambda: not embed.reader.fetcher.is_fetching())
    service.lang, service.lag = "de", 2  # one for each key
    service.publish("pricing", "Neu.", lang="de", revision=1)
    wait_until(lambda: embed.get_faq("pricing", lang="de").lang == "de")


def test_a_response_from_before_a_change_is_no_failure(
    service: FeedService, caplog: pytest.LogCaptureFixture
) -> None:
    with FAQEmbed(service.url, max_fresh=0, timeout=30) as embed:
        follow(embed, service)
        hold_a_refresh(embed, service)
        service.lag = 1
        service.publish("pricing", "New.")
        wait_until(lambda: (embed.reader.fetcher.feed_lag or 0) > 0)
        service.may_read.set()
        wait_until(lambda: answer(embed) == "New.")
    assert warnings_of(caplog) == []


def test_changes_arrive_although_they_come_faster_than_responses(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(embed, service)
    monkeypatch.setattr(service.may_read, "wait", lambda _: time.sleep(0.3))
    numbers = itertools.count()

    def arrives() -> bool:
        service.publish("pricing", f"Number {next(numbers)}.")
        return answer(embed) != "Old."

    wait_until(arrives)


@pytest.mark.parametrize("fails", [False, True])
def test_a_record_that_a_change_overtakes_on_its_way_is_shown_until_the_change_arrives(
    service: FeedService, embed: FAQEmbed, fails: bool
) -> None:
    follow(embed, service)
    service.may_read.clear()
    embed.use_faq("pricing", lang="de", wait=0)
    wait_until(lambda: len(service.reads) == 3)
    service.lag, service.fails_after = 2, 2 if fails else 1_000  # one read for each key
    service.publish("pricing", "New.")
    wait_until(lambda: len(service.reads) == 4)
    service.may_read.set()
    wait_until(lambda: len(service.reads) >= 5)
    freshness = "stale" if fails else "fresh"
    wait_until(lambda: freshness in [faq["freshness"] for faq in embed.health() if faq["lang"] == "de"])
    assert embed.get_faq("pricing", lang="de").items[0].answer == ("Old." if fails else "New.")


def test_a_response_from_before_an_faq_was_unpublished_is_not_saved(
    service: FeedService, tmp_path: Path
) -> None:
    def embed(**settings: Any) -> FAQEmbed:
        return FAQEmbed(service.url, store=f"file:{tmp_path}", max_fresh=0, timeout=30, **settings)

    with embed() as slow, embed(push=False) as other:
        follow(slow, service)
        assert answer(other) == "Old."
        settle(other)
        hold_a_refresh(slow, service)
        held, service.may_read = service.may_read, threading.Event()
        service.may_read.set()
        service.answers["pricing"] = "Newer."
        service.publish("pricing", None)
        wait_until(lambda: isinstance(other.use_faq("pricing").error, FAQNotFound))
        settle(other)  # the store knows it
        wait_until(lambda: (slow.reader.fetcher.feed_lag or 0) > 0)
        service.lag = service.fails_after = 1
        held.set()
        wait_until(lambda: slow.use_faq("pricing").is_degraded)
    service.is_down = True
    with embed() as restarted:
        assert answer(restarted) is None


def test_unpublishing_during_a_revalidation_is_not_missed_after_two_edits(
    service: FeedService, embed: FAQEmbed
) -> None:
    service.revisions["pricing"] = 9
    follow(embed, service)
    edit = '{"slug": "pricing", "lang": "en", "revision": 9, "state": "published"}'
    service.may_read.clear()
    service.send(edit)
    wait_until(lambda: embed.reader.fetcher.is_fetching())
    service.send(edit)
    service.lag = 2
    service.publish("pricing", None, revision=None)
    service.may_read.set()
    wait_until(lambda: isinstance(embed.use_faq("pricing").error, FAQNotFound))


def test_a_change_that_could_not_be_fetched_arrives_when_the_service_works_again(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    service.is_down = True
    service.publish("pricing", "New.")
    wait_until(lambda: embed.use_faq("pricing").is_degraded)
    assert (embed.reader.fetcher.feed_lag or 0) > 0
    service.is_down = False
    wait_until(lambda: answer(embed) == "New.")


def test_a_record_of_the_store_is_revalidated_although_another_translation_is_followed(
    service: FeedService, tmp_path: Path
) -> None:
    with FAQEmbed(service.url, store=f"file:{tmp_path}") as embed:
        assert embed.get_faq("pricing", lang="de")
        follow(embed, service)
        settle(embed)
    with FAQEmbed(service.url, store=f"file:{tmp_path}") as embed:
        follow(embed, service)
        service.publish("pricing", "New.")
        wait_until(lambda: answer(embed) == "New.")
        wait_until(lambda: embed.get_faq("pricing", lang="de").items[0].answer == "New.")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_refreshes_what_its_parent_would_hear_of_by_the_feed(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service)
    child = os.fork()
    if child == 0:
        os._exit(0 if embed.use_faq("pricing", wait=0).is_stale else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not embed.use_faq("pricing").is_stale


@pytest.mark.system
def test_after_a_reconnect_the_feed_resumes_at_the_last_event(service: FeedService, embed: FAQEmbed) -> None:
    follow(embed, service)
    service.publish("pricing", "Second.")
    wait_until(lambda: answer(embed) == "Second.")
    count = len(service.connections)
    service.cut()
    wait_until(lambda: len(service.connections) > count)
    assert service.connections[-1]["last_id"] == "1"
    service.publish("pricing", "Third.")
    wait_until(lambda: answer(embed) == "Third.")


def test_everything_is_revalidated_when_the_service_has_lost_events(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service, "pricing", "legal")
    service.answers["pricing"] = "Missed."
    service.send("{}", name="reset")
    wait_until(lambda: answer(embed) == "Missed.")


def test_everything_is_revalidated_soon_after_an_outage_in_which_events_were_lost(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_DELAY", 0.05)
    monkeypatch.setattr(backoff, "BACKOFF_CAP", 3600.0)
    follow(embed, service)
    service.publish("pricing", "Second.")
    wait_until(lambda: answer(embed) == "Second.")
    service.feed_status, count = 503, len(service.connections)
    service.cut()
    wait_until(lambda: len(service.connections) > count + 10)
    service.answers["pricing"] = "Missed."
    service.send("{}", name="reset")
    service.feed_status = 200
    wait_until(lambda: answer(embed) == "Missed.")


@pytest.mark.parametrize("status", [404, 501])
def test_a_service_without_a_feed_is_not_asked_again_soon(
    status: int, service: FeedService, embed: FAQEmbed
) -> None:
    service.feed_status, service.feed_type = status, "application/problem+json"
    assert answer(embed) == "Old."
    wait_until(lambda: bool(service.connections))
    assert answer(embed, "legal") == "Law."
    embed.forget()
    assert answer(embed, "legal") == "Law."
    assert len(service.connections) == 1


@pytest.mark.parametrize("status", [404, 200])
@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
def test_the_feed_is_followed_after_a_proxy_has_answered_for_the_service(
    status: int, kind: str, service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "RECONNECT_INTERVAL", 0.01)
    monkeypatch.setattr(feed, "NOT_OFFERED_INTERVAL", 0.01)
    monkeypatch.setattr(backoff, "BACKOFF_BASE", 0.01)
    service.feed_status, service.feed_type = status, kind
    assert answer(embed) == "Old."
    wait_until(lambda: len(service.connections) >= 2)
    service.feed_status, service.feed_type = 200, "text/event-stream"
    wait_until(lambda: embed.reader.fetcher.feed_lag == 0)
    service.publish("pricing", "New.")
    wait_until(lambda: answer(embed) == "New.")


def test_an_edit_arrives_soon_after_the_service_was_down_for_long(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_DELAY", 0.01)
    monkeypatch.setattr(backoff, "BACKOFF_BASE", 60.0)
    service.feed_status = 503
    assert answer(embed) == "Old."
    wait_until(lambda: len(service.connections) >= 3)
    service.feed_status = 200
    service.publish("pricing", "New.")
    wait_until(lambda: answer(embed) == "New.")


def test_a_feed_that_cannot_be_opened_is_asked_ever_more_rarely(
    service: FeedService, embed: FAQEmbed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(feed, "RECONNECT_INTERVAL", 0.0)
    monkeypatch.setattr(backoff, "BACKOFF_BASE", 0.01)
    caplog.set_level("INFO", "faqsvc_embed")
    service.feed_status, service.feed_type = 200, "text/html"
    assert answer(embed) == "Old."
    wait_until(lambda: len(service.connections) >= 4)
    assert len([line for line in caplog.messages if "the change feed is interrupted" in line]) == 1


def test_push_off_asks_for_no_feed(service: FeedService) -> None:
    with FAQEmbed(service.url, push=False) as embed:
        assert answer(embed) == "Old."
        assert answer(embed, "legal") == "Law."
    assert not service.connections


LIES = (
    "no json",
    "[]",
    '{"slug": 5}',
    '{"slug": "other", "state": "unpublished"}',
    "[" * 5000,
    json.dumps({"slug": "pricing", "lang": "en", "revision": 10**9, "state": "published"}),
    json.dumps({"slug": "pricing", "state": "unpublished"}),
)


def test_a_feed_that_lies_changes_nothing(service: FeedService, embed: FAQEmbed) -> None:
    follow(embed, service, "pricing", "legal")
    for data in LIES:
        service.send(data)
    service.publish("legal", "After.")
    wait_until(lambda: answer(embed, "legal") == "After.")
    assert answer(embed) == "Old."


@pytest.mark.parametrize("charset", ["utf-16", "hex"])
def test_events_are_read_as_utf_8_whatever_a_proxy_says(
    service: FeedService, embed: FAQEmbed, charset: str
) -> None:
    service.feed_type = f"text/event-stream; charset={charset}"
    service.answers["요금"] = "Old."
    follow(embed, service, "요금")
    service.publish("요금", "New.")
    wait_until(lambda: answer(embed, "요금") == "New.")


@pytest.mark.parametrize("flood", [b"data: " + b"x" * 100_000, b"event: reset\ndata: {}\n\n" * 20])
def test_a_flood_costs_a_connection_and_no_page(service: FeedService, embed: FAQEmbed, flood: bytes) -> None:
    follow(embed, service)
    count = len(service.connections)
    service.send_bytes(flood)
    wait_until(lambda: len(service.connections) > count)
    assert answer(embed) == "Old."


def test_max_fresh_shortens_what_the_service_says(service: FeedService, clock: Clock) -> None:
    with FAQEmbed(service.url, push=False, max_fresh=60) as embed:
        use_clock(embed, clock)
        assert answer(embed) == "Old."
        service.answers["pricing"] = "New."
        clock.advance(61)
        wait_until(lambda: answer(embed) == "New.")


def test_an_unpublished_faq_is_not_shown_after_a_restart_with_the_service_down(
    service: FeedService, tmp_path: Path
) -> None:
    store = f"file:{tmp_path}"
    with FAQEmbed(service.url, store=store) as embed:
        follow(embed, service)
        service.publish("pricing", None)
        wait_until(lambda: isinstance(embed.use_faq("pricing").error, FAQNotFound))
        settle(embed)
    service.is_down = True
    with FAQEmbed(service.url, store=store) as embed:
        assert answer(embed) is None


@pytest.mark.parametrize("has_restarted", [True, False])
def test_an_old_response_of_a_cache_does_not_bring_back_an_unpublished_faq(
    service: FeedService, tmp_path: Path, clock: Clock, has_restarted: bool
) -> None:
    store = f"file:{tmp_path}" if has_restarted else None
    with FAQEmbed(service.url, store=store, push=False) as first:
        use_clock(first, clock)
        assert answer(first) == "Old."
        service.answers["pricing"] = None
        clock.advance(3601)
        wait_until(lambda: isinstance(first.use_faq("pricing", wait=1).error, FAQNotFound))
        if has_restarted:
            first.close()  # once the store has the tombstone
        service.answers["pricing"] = "Old."  # as a cache that ignores `no-cache` says
        with FAQEmbed(service.url, store=store, push=False) if has_restarted else nullcontext(first) as embed:
            use_clock(embed, clock)
            for _ in range(3):
                clock.advance(61)
                assert isinstance(embed.use_faq("pricing", wait=1).error, FAQNotFound)
            assert has_restarted or service.uncached_reads
            service.answers["pricing"] = "New."
            clock.advance(61)
            assert answer(embed) == "New."
            reads = len(service.uncached_reads)
            clock.advance(3601)
            wait_until(lambda: not embed.use_faq("pricing", wait=1).is_stale)
            assert len(service.uncached_reads) == reads


def test_an_faq_that_is_published_again_unchanged_is_shown(service: FeedService, embed: FAQEmbed) -> None:
    follow(embed, service)
    service.publish("pricing", None)
    wait_until(lambda: isinstance(embed.use_faq("pricing").error, FAQNotFound))
    service.publish("pricing", "Old.")
    wait_until(lambda: answer(embed) == "Old.")


def test_an_faq_that_is_published_again_before_the_410_has_arrived_is_shown(service: FeedService) -> None:
    with FAQEmbed(service.url, max_fresh=0, timeout=30) as embed:
        follow(embed, service)
        service.answers["pricing"] = None
        hold_a_refresh(embed, service)
        reads, service.lag = len(service.reads), 1
        service.publish("pricing", "Old.", revision=None)
        wait_until(lambda: (embed.reader.fetcher.feed_lag or 0) > 0)
        service.may_read.set()
        wait_until(lambda: len(service.reads) > reads)
        settle(embed)
        assert answer(embed) == "Old."


def test_the_lag_is_the_age_of_the_oldest_change_that_has_not_arrived(
    service: FeedService, embed: FAQEmbed
) -> None:
    assert embed.reader.fetcher.feed_lag is None
    follow(embed, service, "pricing")
    wait_until(lambda: embed.reader.fetcher.feed_lag == 0)
    service.lag = 1  # read that still returns the record before
    service.publish("pricing", "New.")
    wait_until(lambda: (embed.reader.fetcher.feed_lag or 0) > 0.05)
    wait_until(lambda: answer(embed) == "New.")
    wait_until(lambda: embed.reader.fetcher.feed_lag == 0)


def test_lost_events_do_not_hide_a_change_that_was_announced_before(
    service: FeedService, embed: FAQEmbed
) -> None:
    follow(embed, service, "pricing", "legal")
    reads = service.reads.count("legal")
    service.may_read.clear()
    service.send('{"slug": "pricing", "lang": "en", "revision": 1, "state": "published"}')
    wait_until(lambda: embed.reader.fetcher.is_fetching())
    service.lag = 2
    service.publish("pricing", "New.")
    service.send("{}", name="reset")
    wait_until(lambda: service.reads.count("legal") > reads)  # all three have arrived
    service.may_read.set()
    wait_until(lambda: answer(embed) == "New.")


def test_a_feed_that_repeats_itself_costs_few_requests(service: FeedService, embed: FAQEmbed) -> None:
    follow(embed, service, "pricing", "legal")
    before, start = len(service.reads), time.monotonic()
    for _ in range(100):
        service.send('{"slug": "pricing", "lang": "en", "revision": 1, "state": "published"}')
        service.send('{"slug": "pricing"}')
        time.sleep(0.002)
    service.publish("legal", "After.")
    wait_until(lambda: answer(embed, "legal") == "After.")
    intervals = (time.monotonic() - start) / feed.REFRESH_INTERVAL
    assert service.reads[before:].count("pricing") <= 2 + intervals
