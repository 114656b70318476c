"""A cached FAQ is refreshed behind the page: when it is due, conditionally, and not before Retry-After."""

import threading

import pytest

from faqsvc_embed import FAQ, FAQNotFound, RateLimited
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, PRICING, SLACK, MakeEmbed, failure, refreshed, seconds, title
from tests.support.faults import behaviours
from tests.support.faulty import Behaviour, FaultyServer
from tests.support.waiting import settle

PROXY_404 = behaviours.body(b"404 page not found\n", {"Content-Type": "text/plain"}, status=404)
EDITED = {**samples.pricing(), "title": "Edited"}


def test_a_conditional_refresh_keeps_the_record(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed()
    first = embed.get_faq("pricing")
    for count in range(2, 4):
        clock.advance(LONG)
        assert embed.use_faq("pricing").is_stale
        settle(embed)
        state = embed.use_faq("pricing")
        assert (state.data is first, state.is_stale, state.error) == (True, False, None)
        assert len(faulty.log) == count
    etags = [request.headers.get("if-none-match") for request in faulty.log]
    assert etags[0] is None
    assert etags[1]
    assert etags[2] == etags[1]


def test_without_an_etag_a_refresh_is_conditional_by_date(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    modified = "Sat, 21 Nov 2026 08:00:00 GMT"
    faulty.serve(samples.pricing(), {"ETag": "", "Last-Modified": modified})
    embed = make_embed()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.then(behaviours.status(304))
    assert not refreshed(embed).is_stale
    assert [request.headers.get("if-modified-since") for request in faulty.log] == [None, modified]


def test_a_refresh_brings_an_edit(make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    faulty.serve(EDITED)
    clock.advance(LONG)
    assert embed.get_faq("pricing") == PRICING
    settle(embed)
    assert embed.get_faq("pricing") == FAQ.from_dict(EDITED)
    assert len(faulty.log) == 2


@pytest.mark.parametrize("cache_control", ["max-age=0, must-revalidate", "no-cache", "no-store"])
def test_a_record_that_is_never_fresh_costs_no_page_a_wait(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, cache_control: str
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": cache_control})
    embed = make_embed(wait=5)
    embed.get_faq("pricing")
    faulty.behave(behaviours.hang)
    for _ in range(5):
        clock.advance(0.4)
        state = embed.use_faq("pricing", wait=0)
        assert (state.data, state.is_stale) == (PRICING, True)
    faulty.wait_for_requests(2)
    assert len(faulty.log) == 2  # one refresh in these two seconds, which is still running


def test_the_age_of_a_response_counts_in_its_lifetime(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=3600", "Age": "3000"})
    embed = make_embed()
    embed.get_faq("pricing")
    clock.advance(600 * 0.95 - 1)
    assert not embed.use_faq("pricing").is_stale
    clock.advance(2)
    assert embed.use_faq("pricing").is_stale


def test_no_request_is_made_before_retry_after(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed()
    faulty.behave(behaviours.status(429, {"Retry-After": "120"}))
    error = failure(embed)
    assert (type(error), error.status, error.retry_after) == (RateLimited, 429, 120.0)
    clock.advance(119)
    assert seconds(lambda: failure(embed)) < SLACK
    assert len(faulty.log) == 1
    faulty.behave(behaviours.healthy)
    clock.advance(1)
    assert embed.get_faq("pricing") == PRICING


def test_a_service_that_fails_again_and_again_is_asked_rarely(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    faulty.forget_log()
    faulty.behave(behaviours.status(500))
    clock.advance(LONG)
    for _ in range(200):
        assert refreshed(embed).data == PRICING
        clock.advance(0.5)
    assert len(faulty.log) == 7  # at 0, 1, 3, 7, 15, 31 and 63 seconds


# 404


def test_a_proxys_404_removes_nothing(make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    faulty.behave(PROXY_404)
    for _ in range(5):
        clock.advance(LONG)
        state = refreshed(embed)
        assert (state.data, state.is_degraded) == (PRICING, True)
    faulty.behave(behaviours.healthy)
    clock.advance(LONG)
    assert refreshed(embed).error is None


def test_a_repeated_404_of_the_service_removes_the_record(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(not_found_for=100)
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.behave(behaviours.status(404))
    assert refreshed(embed).data == PRICING
    clock.advance(99)
    assert refreshed(embed).data == PRICING
    assert len(faulty.log) == 2
    clock.advance(1)
    state = refreshed(embed)
    assert (state.data, isinstance(state.error, FAQNotFound)) == (None, True)


@pytest.mark.parametrize(
    "behaviour",
    [behaviours.status(410), behaviours.raw(b"HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\n{")],
    ids=["with a body", "whose body breaks off"],
)
def test_an_unpublished_faq_is_gone_at_once(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, behaviour: Behaviour
) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.behave(behaviour)
    state = refreshed(embed)
    assert (state.data, isinstance(state.error, FAQNotFound)) == (None, True)
    faulty.behave(behaviours.hang)
    clock.advance(LONG)
    assert embed.use_faq("pricing", wait=0).data is None


def test_an_unknown_faq_is_not_asked_for_again_for_a_while(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(not_found_for=100)
    for _ in range(3):
        assert isinstance(failure(embed, "new"), FAQNotFound)
        clock.advance(33)
    assert len(faulty.log) == 1
    faulty.serve(samples.record("new"))
    clock.advance(1)
    assert embed.get_faq("new").slug == "new"


# What the cache no longer has


def test_not_modified_for_a_record_that_was_evicted_meanwhile_is_fetched_anew(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed, release = make_embed(max_entries=1), threading.Event()
    faulty.serve(samples.record("other"))
    embed.get_faq("pricing")
    clock.advance(LONG)
    faulty.then(behaviours.held_until(release))
    assert embed.use_faq("pricing").is_fetching
    faulty.wait_for_requests(2)
    embed.get_faq("other")
    release.set()
    settle(embed)
    state = embed.use_faq("pricing", wait=0)
    assert (title(state), state.error) == ("Pricing", None)
    conditions = [
        bool(request.headers.get("if-none-match")) for request in faulty.log if request.slug == "pricing"
    ]
    assert conditions == [False, True, False]


def test_not_modified_of_another_record_is_fetched_anew(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:  # RFC 9111, 4.3.4
    embed = make_embed()
    embed.get_faq("pricing")
    faulty.serve(EDITED)
    clock.advance(LONG)
    faulty.then(behaviours.body(b"", {"ETag": '"of another"'}, status=304))
    assert title(refreshed(embed)) == "Edited"
    assert [bool(request.headers.get("if-none-match")) for request in faulty.log] == [False, True, False]
