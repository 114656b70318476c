"""A cached FAQ is refreshed behind the page: when it is due, and conditionally."""

import threading

import pytest

from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, PRICING, MakeEmbed, refreshed, title
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle

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


# What the cache no longer has


def test_not_modified_confirms_a_record_that_was_evicted_meanwhile(
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
    assert conditions == [False, True]


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
