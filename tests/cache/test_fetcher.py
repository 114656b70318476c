"""The one room with I/O, against a service on a real socket."""

import asyncio
import gc
import gzip
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

import faqsvc_embed
from faqsvc_embed import FAQ, FAQClient, FAQEmbed, FAQError, FAQNotFound, FAQUnavailable, InvalidFAQ
from faqsvc_embed.api.reading import MAX_REDIRECTS, Reply, Request
from faqsvc_embed.api.transport import ERROR_BODY_TIME, MAX_KEPT, Transport
from faqsvc_embed.page import context as page
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import Exchange, FaultyServer, Gone

PRICING: Final = FAQ.from_dict(samples.pricing())
PATH: Final = "/api/v1/faq/pricing"
THREAD: Final = "faqsvc-embed"
SLACK: Final = 0.5
"""Seconds that a busy machine may add to any wait."""

Embeds = Callable[..., FAQEmbed]


def ours() -> list[threading.Thread]:
    """Return our threads that are running."""
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


@pytest.fixture
def embeds(faulty: FaultyServer) -> Iterator[Embeds]:
    """Makes embeds of the faulty server, which has the record `pricing`; closes them in the end."""
    faulty.serve(samples.pricing())
    made = list[FAQEmbed]()

    def make(**settings: Any) -> FAQEmbed:
        embed = FAQEmbed(faulty.base_url, **settings)
        made.append(embed)
        return embed

    yield make
    for embed in made:
        embed.close()
    assert ours() == []


def until(happened: Callable[[], bool], timeout: float = 5.0) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)


def landed(embed: FAQEmbed, slug: str = "pricing") -> None:
    """Wait for the end of a background refresh."""
    until(lambda: not embed.use_faq(slug, wait=0).is_fetching)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds on the wall that some work takes."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def failure(embed: FAQEmbed, slug: str = "pricing") -> FAQError:
    with pytest.raises(FAQError) as caught:
        embed.get_faq(slug)
    return caught.value


# Single flight


def test_many_threads_that_ask_for_one_cold_faq_make_one_request(
    embeds: Embeds, faulty: FaultyServer
) -> None:  # K11, D9
    embed, release, start = embeds(), threading.Event(), threading.Barrier(32)
    faulty.behave(behaviours.held_until(release))

    def ask(_: int) -> FAQ:
        start.wait(10)
        return embed.get_faq("pricing")

    with ThreadPoolExecutor(32) as pool:
        answers = pool.map(ask, range(32))
        faulty.wait_for_requests(1)
        release.set()
        assert {id(faq) for faq in answers} == {id(embed.get_faq("pricing"))}
    assert [request.target for request in faulty.log] == [PATH]


def test_many_tasks_that_ask_for_one_cold_faq_make_one_request(
    embeds: Embeds, faulty: FaultyServer
) -> None:  # K11, D9
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))

    async def ask() -> list[FAQ]:
        tasks = [asyncio.create_task(embed.aget_faq("pricing")) for _ in range(1000)]
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        release.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(ask()) == [PRICING] * 1000
    assert len(faulty.log) == 1


def test_threads_and_tasks_wait_for_the_same_flight(embeds: Embeds, faulty: FaultyServer) -> None:  # K11
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))

    async def ask() -> list[FAQ]:
        tasks = [asyncio.to_thread(embed.get_faq, "pricing"), embed.aget_faq("pricing")]
        waiting = asyncio.gather(*tasks)
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        release.set()
        return await waiting

    first, second = asyncio.run(ask())
    assert first is second
    assert len(faulty.log) == 1


def test_many_threads_that_see_a_stale_copy_start_one_refresh(
    embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K3, K11
    embed, release = embeds(), threading.Event()
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    clock.advance(4000)
    faulty.behave(behaviours.held_until(release))
    with ThreadPoolExecutor(16) as pool:
        states = list(pool.map(lambda _: embed.use_faq("pricing"), range(200)))
    assert {(state.data, state.is_stale, state.is_fetching) for state in states} == {(PRICING, True, True)}
    faulty.wait_for_requests(2)
    release.set()
    landed(embed)
    assert len(faulty.log) == 2


def test_one_cancelled_task_does_not_cancel_the_flight_of_the_others(
    embeds: Embeds, faulty: FaultyServer
) -> None:  # D9, R5
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))

    async def ask() -> FAQ:
        first, second = (asyncio.create_task(embed.aget_faq("pricing")) for _ in range(2))
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        release.set()
        return await second

    assert asyncio.run(ask()) == PRICING
    assert len(faulty.log) == 1


def test_a_flight_outlives_the_event_loop_that_started_it(embeds: Embeds, faulty: FaultyServer) -> None:
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))
    assert asyncio.run(embed.ause_faq("pricing", wait=0.01)).is_loading
    release.set()
    assert embed.get_faq("pricing") == PRICING
    assert len(faulty.log) == 1


def test_different_faqs_and_languages_are_fetched_side_by_side(embeds: Embeds, faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))
    for lang in samples.multilingual():
        embed.use_faq("pricing", lang=lang, wait=0)
    faulty.wait_for_requests(7)  # all of them wait at the same time
    release.set()
    for lang, record in samples.multilingual().items():
        assert embed.get_faq("pricing", lang=lang) == FAQ.from_dict(record)
    assert sorted(request.target for request in faulty.log) == sorted(
        f"{PATH}?lang={lang}" for lang in samples.multilingual()
    )


def test_more_faqs_than_connections_all_arrive(embeds: Embeds, faulty: FaultyServer) -> None:
    for number in range(60):
        faulty.serve(samples.record(f"faq-{number}"))
    embed = embeds(wait=10)
    embed.prefetch(*(f"faq-{number}" for number in range(60)))
    assert [health["freshness"] for health in embed.health()] == ["fresh"] * 60
    assert len(faulty.log) == 60


# What is sent


@pytest.mark.parametrize(
    "slug",
    [
        "a b",
        "a?b",
        "a#b",
        "a&b=c",
        "%2e%2e",
        "%2f",
        "..a",
        "...",
        "a+b",
        "a%",
        "요금",
        "é",
        "@host",
        "a:80",
        "~",
    ],
)
def test_a_slug_is_one_path_segment_on_the_wire(
    embeds: Embeds, faulty: FaultyServer, slug: str
) -> None:  # K18
    record = samples.record(slug)
    faulty.serve(record)
    assert embeds().get_faq(slug, lang="ko") == FAQ.from_dict(record)
    assert [request.target for request in faulty.log] == [f"/api/v1/faq/{quote(slug, safe='')}?lang=ko"]


@pytest.mark.parametrize(
    "slug", ["", ".", "..", "a/b", "../x", "a\\b", "a\r\nHost: b", "a\0", "\x7f", "\ud800", "x" * 201]
)
def test_what_can_be_no_slug_is_not_asked_for(
    embeds: Embeds, faulty: FaultyServer, slug: str
) -> None:  # K16, K18
    embed = embeds()
    assert isinstance(failure(embed, slug), FAQNotFound)
    assert embed.render(slug) == ""
    embed.prefetch(slug)
    assert (faulty.connections, ours(), embed.health()) == (0, [], [])


def test_a_read_carries_nothing_that_identifies_anybody(
    embeds: Embeds, faulty: FaultyServer, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D5
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    cookies = {"Set-Cookie": "session=1; Path=/", "Cache-Control": "max-age=60", "ETag": ""}
    faulty.serve(samples.pricing(), cookies)
    embed = embeds(api_key="fs_live_secret")
    embed.cache.clock = clock.now
    for _ in range(3):
        embed.get_faq("pricing")
        landed(embed)
        clock.advance(100)
    assert len(faulty.log) == 3
    for request in faulty.log:
        assert set(request.headers) == {"host", "connection", "accept", "accept-encoding", "user-agent"}
        assert (request.method, request.headers["accept"]) == ("GET", "application/json")
        assert (request.headers["accept-encoding"], request.body) == ("gzip", b"")
        assert "secret" not in str(request)


# Asking again


def test_a_refresh_with_an_etag_brings_304_and_keeps_the_copy(
    embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K5
    embed = embeds()
    embed.cache.clock = clock.now
    first = embed.get_faq("pricing")
    for round_ in range(1, 4):
        clock.advance(4000)
        assert embed.use_faq("pricing").is_stale
        landed(embed)
        state = embed.use_faq("pricing")
        assert (state.data is first, state.is_stale, state.error) == (True, False, None)
        assert len(faulty.log) == 1 + round_
    etags = [request.headers.get("if-none-match") for request in faulty.log]
    assert etags[0] is None
    assert etags[1] is not None
    assert set(etags[1:]) == {etags[1]}


def test_a_refresh_brings_an_edit(embeds: Embeds, faulty: FaultyServer, clock: Clock) -> None:  # K3
    embed = embeds()
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    edited = {**samples.pricing(), "title": "Edited"}
    faulty.serve(edited)
    clock.advance(4000)
    assert embed.get_faq("pricing") == PRICING
    landed(embed)
    assert embed.get_faq("pricing") == FAQ.from_dict(edited)
    assert len(faulty.log) == 2


def test_a_refresh_without_an_etag_asks_by_date(
    embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K5
    modified = "Sat, 21 Nov 2026 08:00:00 GMT"
    faulty.serve(samples.pricing(), {"ETag": "", "Last-Modified": modified})
    embed = embeds()
    embed.cache.clock = clock.now
    first = embed.get_faq("pricing")
    clock.advance(4000)
    faulty.then(behaviours.status(304))
    embed.use_faq("pricing")
    landed(embed)
    state = embed.use_faq("pricing")
    assert (state.data is first, state.is_stale) == (True, False)
    dates = [request.headers.get("if-modified-since") for request in faulty.log]
    assert dates == [None, modified]


def test_age_counts_against_the_lifetime(embeds: Embeds, faulty: FaultyServer, clock: Clock) -> None:  # K1
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=3600", "Age": "3000"})
    embed = embeds()
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    clock.advance(599)
    assert not embed.use_faq("pricing").is_stale
    clock.advance(32)
    assert embed.use_faq("pricing").is_stale
    landed(embed)


def test_retry_after_is_honoured_and_nobody_waits_for_it(
    embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K8, K14
    embed = embeds()
    embed.cache.clock = clock.now
    faulty.behave(behaviours.status(429, {"Retry-After": "120"}))
    error = failure(embed)
    assert (type(error).__name__, error.status, error.retry_after) == ("RateLimited", 429, 120.0)
    clock.advance(119)
    assert timed(lambda: failure(embed)) < SLACK
    assert len(faulty.log) == 1
    faulty.behave(behaviours.healthy)
    clock.advance(1)
    assert embed.get_faq("pricing") == PRICING


def body_never_ends(exchange: Exchange, status: int, bytes_a_second: float) -> None:
    exchange.head(status, {"Retry-After": "120", "Content-Length": "5000"})
    while bytes_a_second:
        exchange.send(b".")
        exchange.pause(1 / bytes_a_second)
    exchange.hang()


@pytest.mark.parametrize("bytes_a_second", [0, 100], ids=["hangs", "drips"])
@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, "RateLimited"), (503, "FAQUnavailable"), (404, "FAQUnavailable")],
)
@pytest.mark.parametrize(("timeout", "body_time"), [(0.5, 5.0), (5.0, ERROR_BODY_TIME)])
def test_what_is_refused_is_known_by_its_head_whatever_becomes_of_its_body(
    embeds: Embeds,
    faulty: FaultyServer,
    status: int,
    kind: str,
    bytes_a_second: float,
    timeout: float,
    body_time: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # D1, K6, K8
    monkeypatch.setattr("faqsvc_embed.api.transport.ERROR_BODY_TIME", body_time)
    embed = embeds(timeout=timeout)
    embed.get_ready()
    faulty.behave(lambda exchange: body_never_ends(exchange, status, bytes_a_second))
    start = time.monotonic()
    error = failure(embed)
    assert (type(error).__name__, error.status, error.retry_after) == (kind, status, 120.0)
    assert time.monotonic() - start < min(timeout, body_time) + SLACK


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refusal_is_known_by_its_head_if_its_loop_is_held_up_at_the_deadline(
    faulty: FaultyServer, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # K8
    """On a busy machine a thread may not run for a while: all that was due meanwhile is due at once."""
    monkeypatch.setattr("faqsvc_embed.api.transport.ERROR_BODY_TIME", 5.0)
    faulty.behave(lambda exchange: body_never_ends(exchange, 429, 0))
    request, transport = Request(f"{faulty.base_url}/api/v1/faq/pricing", {}, method), Transport(1000)
    transport.get_ready(request.url)

    async def ask_while_it_is_held_up() -> Reply | FAQError:
        asyncio.get_running_loop().call_later(0.4, time.sleep, 0.2)
        return await transport.ask(request, timeout=0.5, about="for 'pricing'")

    reply = asyncio.run(ask_while_it_is_held_up())
    assert isinstance(reply, Reply)
    assert (reply.status, reply.headers["retry-after"], reply.is_whole) == (429, "120", False)


def test_a_refusal_that_breaks_off_is_known_by_its_head(embeds: Embeds, faulty: FaultyServer) -> None:  # K8
    def breaks_off(exchange: Exchange) -> None:
        exchange.head(503, {"Retry-After": "7", "Content-Length": "9"})
        exchange.send(b"sorry")
        exchange.cut()

    faulty.behave(breaks_off)
    error = failure(embeds())
    assert (error.status, error.retry_after, error.body) == (503, 7.0, "sorry")


# Connections that were kept

CLOSED: Final = [behaviours.reset, behaviours.aborted()]
"""What a request meets on a connection that the service closes at this moment."""


@pytest.mark.parametrize("closed", CLOSED, ids=["closed", "reset"])
def test_a_kept_connection_that_is_found_closed_costs_nothing(
    embeds: Embeds, faulty: FaultyServer, closed: behaviours.Behaviour
) -> None:  # RFC 9112, 9.3.1
    embed, release = embeds(), threading.Event()
    faulty.behave(behaviours.held_until(release))
    for lang in samples.multilingual():  # as many connections as languages, of which some are kept
        embed.use_faq("pricing", lang=lang, wait=0)
    faulty.wait_for_requests(7)
    release.set()
    for lang in samples.multilingual():
        until(lambda lang=lang: not embed.use_faq("pricing", lang=lang, wait=0).is_fetching)  # type: ignore[misc]
    faulty.forget_log()
    faulty.behave(behaviours.healthy)
    faulty.then(*[closed] * MAX_KEPT)
    assert embed.get_faq("pricing") == PRICING
    assert len(faulty.log) == MAX_KEPT + 1


@pytest.mark.parametrize("closed", CLOSED, ids=["closed", "reset"])
def test_a_connection_opened_for_a_request_is_tried_once(
    embeds: Embeds, faulty: FaultyServer, closed: behaviours.Behaviour
) -> None:  # K14
    faulty.then(closed)
    assert isinstance(failure(embeds()), FAQUnavailable)
    assert len(faulty.log) == 1


def test_an_answer_that_breaks_off_is_not_repeated(embeds: Embeds, faulty: FaultyServer) -> None:  # K14
    embed = embeds()
    embed.get_faq("pricing")
    faulty.serve(samples.record("other"))
    faulty.forget_log()
    faulty.then(behaviours.truncated)
    assert isinstance(failure(embed, "other"), FAQUnavailable)
    assert len(faulty.log) == 1


# Redirects


def test_a_redirect_on_the_origin_is_followed(embeds: Embeds, faulty: FaultyServer) -> None:  # D5
    faulty.behave(behaviours.redirect_same_origin)
    assert embeds().get_faq("pricing") == PRICING
    assert [request.target for request in faulty.log] == [PATH, f"/moved{PATH}"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_three_redirects_are_followed_and_no_more(
    embeds: Embeds, faulty: FaultyServer, code: int
) -> None:  # D5
    faulty.then(*[behaviours.redirect(PATH, code)] * MAX_REDIRECTS)
    assert embeds().get_faq("pricing") == PRICING
    assert len(faulty.log) == 1 + MAX_REDIRECTS
    faulty.forget_log()
    faulty.then(*[behaviours.redirect(PATH, code)] * (MAX_REDIRECTS + 1))
    error = failure(embeds())
    assert (type(error), str(error), error.status) == (FAQUnavailable, "more than 3 redirects", code)
    assert len(faulty.log) == 1 + MAX_REDIRECTS


@pytest.mark.parametrize(
    "target", ["http://localhost:{port}", "https://127.0.0.1:{port}", "//us:s3cret@127.0.0.1:{port}"]
)
def test_a_redirect_off_the_origin_is_not_followed(
    embeds: Embeds, faulty: FaultyServer, target: str
) -> None:  # K19, D5
    location = target.format(port=faulty.port) + PATH
    faulty.then(behaviours.redirect(location))
    error = failure(embeds())
    assert (type(error), error.status) == (FAQUnavailable, 302)
    shown = location.replace("us:s3cret", "***")
    assert str(error) == f"a redirect to {shown!r} is not followed: set base_url to where the service is"
    assert (len(faulty.log), faulty.connections) == (1, 1)


# Caps


def test_a_record_of_exactly_max_bytes_is_taken_and_one_more_is_not(
    embeds: Embeds, faulty: FaultyServer
) -> None:  # D2
    size = len(behaviours._json(samples.pricing()))
    for behaviour in (behaviours.healthy, behaviours.chunked, behaviours.gzipped, behaviours.until_closed):
        faulty.behave(behaviour)
        assert embeds(max_bytes=size).get_faq("pricing") == PRICING
        error = failure(embeds(max_bytes=size - 1))
        assert (type(error), str(error)) == (
            InvalidFAQ,
            f"the answer is larger than max_bytes, {size - 1}",
        )


def test_packed_bytes_are_capped_too(embeds: Embeds, faulty: FaultyServer) -> None:  # D2
    packed = gzip.compress(behaviours._json(samples.pricing())) + b"\0" * 5000
    faulty.behave(behaviours.body(packed, {"Content-Encoding": "gzip"}))
    assert isinstance(failure(embeds(max_bytes=4096)), InvalidFAQ)


@pytest.mark.parametrize("behaviour", [behaviours.gzip_bomb, behaviours.oversize_chunked])
def test_a_flood_of_bytes_costs_little_memory(
    embeds: Embeds, faulty: FaultyServer, behaviour: behaviours.Behaviour
) -> None:  # D2
    behaviours.bomb()
    embed = embeds()
    embed.get_faq("pricing")  # what is imported and built once is none of it
    faulty.behave(behaviour)
    tracemalloc.start()
    try:
        assert isinstance(failure(embed, "bomb"), InvalidFAQ)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024 * 1024


# Deadlines


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.hang,
        behaviours.hang_after_head,
        behaviours.hang_in_body,
        behaviours.drip(0.02),
        behaviours.drip_head(0.02),
        behaviours.redirect_loop,
    ],
    ids=["hang", "hang after head", "hang in body", "drip", "drip head", "slow redirects"],
)
def test_one_deadline_covers_a_request_from_connecting_to_its_last_byte(
    embeds: Embeds, faulty: FaultyServer, behaviour: behaviours.Behaviour
) -> None:  # D1
    def slowly(exchange: Exchange) -> None:
        if behaviour is behaviours.redirect_loop:
            exchange.pause(0.2)
        behaviour(exchange)

    embed = embeds(timeout=0.4)
    faulty.behave(slowly)
    errors = list[FAQError]()
    took = timed(lambda: errors.append(failure(embed)))
    assert [str(error) for error in errors] == [
        "no complete answer for 'pricing' within 0.4 s: "
        "look at the service, or give it more with the setting timeout"
    ]
    assert 0.35 < took < 0.4 + SLACK


def test_an_abandoned_request_is_hung_up_on(embeds: Embeds, faulty: FaultyServer) -> None:  # D1
    gone = threading.Event()

    def hang(exchange: Exchange) -> None:
        try:
            exchange.hang()
        except Gone:
            gone.set()
            raise

    faulty.behave(hang)
    assert isinstance(failure(embeds(timeout=0.1)), FAQUnavailable)
    assert gone.wait(5)


# The end


def test_closing_takes_less_than_a_second_and_ends_who_waits(
    embeds: Embeds, faulty: FaultyServer
) -> None:  # R12
    embed = embeds(timeout=60)
    faulty.behave(behaviours.hang)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(failure, embed)
        faulty.wait_for_requests(1)
        assert timed(embed.close) < 1
        error = waiting.result(timeout=5)
    assert (type(error), str(error)) == (FAQUnavailable, "fetching 'pricing' was interrupted")
    assert ours() == []


def test_an_embed_is_usable_again_after_it_was_closed(embeds: Embeds, faulty: FaultyServer) -> None:  # R12
    embed = embeds(timeout=60)
    for _ in range(3):
        embed.forget()
        faulty.behave(behaviours.hang)
        assert embed.use_faq("pricing", wait=0).is_loading
        faulty.wait_for_requests(1)
        embed.close()
        assert (ours(), embed.health()) == ([], [])  # not held against the service
        faulty.behave(behaviours.healthy)
        assert embed.get_faq("pricing") == PRICING
        assert len(ours()) == 1
        faulty.forget_log()


def test_closing_hangs_up_and_leaves_no_thread(embeds: Embeds, faulty: FaultyServer) -> None:  # R12
    embed = embeds()
    embed.get_faq("pricing")
    assert len(ours()) == 1
    embed.close()
    assert ours() == []
    until(lambda: not faulty._open)
    embed.close()
    assert embed.get_faq("pricing") == PRICING  # still held
    assert ours() == []


def test_what_is_dropped_unclosed_leaves_no_thread_and_no_connection(faulty: FaultyServer) -> None:  # R12
    """Not even of a page, whose context would hold all that it showed."""
    faulty.serve(samples.pricing())
    token = page.begin(page.Page())
    FAQEmbed(faulty.base_url).render("pricing")
    page.end(token)
    FAQClient(faulty.base_url).get_faq("pricing")
    assert faulty.connections == 2

    def is_all_gone() -> bool:
        gc.collect()
        return ours() == [] and not faulty.has_connections

    until(is_all_gone)


def test_what_is_dropped_while_it_fetches_ends_with_its_fetch(faulty: FaultyServer) -> None:  # R12
    faulty.serve(samples.pricing())
    release = threading.Event()
    faulty.behave(behaviours.held_until(release))
    assert FAQEmbed(faulty.base_url).use_faq("pricing", wait=0).is_loading
    faulty.wait_for_requests(1)
    gc.collect()
    assert len(ours()) == 1
    release.set()
    until(lambda: gc.collect() >= 0 and ours() == [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_that_drops_what_it_inherited_ends_nothing_of_its_parents(
    faulty: FaultyServer,
) -> None:  # F2
    faulty.serve(samples.pricing())
    faulty.serve(samples.record("other"))
    embed = FAQEmbed(faulty.base_url)
    embed.get_faq("pricing")
    pid = os.fork()
    if pid == 0:
        del embed
        gc.collect()
        os._exit(len(ours()))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(ours()) == 1
    embed.get_faq("other")
    assert faulty.connections == 1
    embed.close()


def test_closing_what_never_fetched_does_nothing(embeds: Embeds) -> None:
    embed = embeds()
    embed.close()
    asyncio.run(embed.aclose())
    with embed:
        pass
    assert ours() == []


def test_closing_asynchronously_does_not_hold_the_loop_up(embeds: Embeds, faulty: FaultyServer) -> None:  # F5
    embed = embeds(timeout=60)
    faulty.behave(behaviours.hang)

    async def host() -> FAQ | FAQError | BaseException:
        async with embed:
            waiting = asyncio.create_task(embed.aget_faq("pricing"))
            await asyncio.to_thread(faulty.wait_for_requests, 1)
        return (await asyncio.gather(waiting, return_exceptions=True))[0]

    assert isinstance(asyncio.run(host()), FAQUnavailable)
    assert ours() == []


def test_two_embeds_share_nothing(embeds: Embeds, faulty: FaultyServer) -> None:  # F7
    first, second = embeds(), embeds()
    first.get_faq("pricing")
    assert second.health() == []
    second.get_faq("pricing")
    first.close()
    second.forget()
    assert second.get_faq("pricing") == PRICING
    assert len(faulty.log) == 3


# Processes


def script(code: str, *arguments: str) -> str:
    """Run a script in a process of its own, which ends by itself within 20 s; return what it printed."""
    root = str(Path(faqsvc_embed.__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-c", f"import signal; signal.alarm(20)\n{code}", *arguments],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    ).stdout


FORK: Final = """
import os, sys
from faqsvc_embed import FAQEmbed

embed = FAQEmbed(sys.argv[1], timeout=10)
embed.get_faq("pricing")
embed.use_faq("slow", wait=0)  # a flight that only the parent has
while not sys.stdin.readline():
    pass

pid = os.fork()
if pid == 0:
    status = 1
    try:
        state = embed.use_faq("slow", wait=0)
        assert state.is_loading, state
        assert embed.get_faq("pricing").title == "Pricing"  # held by both
        assert embed.get_faq("slow").title == "Slow"
        embed.forget("pricing")
        assert embed.get_faq("pricing").title == "Edited"
        embed.close()
        status = 0
    finally:
        os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert embed.get_faq("pricing").title == "Pricing"
assert embed.get_faq("other").title == "Other"
embed.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_fetches_on_its_own_and_leaves_the_parents_connections_alone(
    faulty: FaultyServer,
) -> None:  # F1, F2
    for record in (
        samples.pricing(),
        samples.record("slow", title="Slow"),
        samples.record("other", title="Other"),
    ):
        faulty.serve(record)
    faulty.then(behaviours.healthy, behaviours.hang)
    root = str(Path(faqsvc_embed.__file__).parent.parent)
    code = f"import signal; signal.alarm(20)\n{FORK}"
    with subprocess.Popen(
        [sys.executable, "-c", code, faulty.base_url],
        env={**os.environ, "PYTHONPATH": root},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        faulty.wait_for_requests(2, timeout=15)
        faulty.serve({**samples.pricing(), "title": "Edited"})
        errors = process.communicate("fork\n", timeout=30)[1]
    assert (process.returncode, errors) == (0, "")
    slugs = [request.slug for request in faulty.log]
    assert slugs == ["pricing", "slow", "slow", "pricing", "other"]
    parent, child = faulty.log[0].connection, faulty.log[2].connection
    assert child not in (parent, faulty.log[1].connection)
    assert faulty.log[4].connection != child


def test_a_process_ends_by_itself_with_a_flight_in_the_air(faulty: FaultyServer) -> None:  # R12
    faulty.behave(behaviours.hang)
    code = """
import sys, time
from faqsvc_embed import FAQEmbed
embed = FAQEmbed(sys.argv[1], wait=2, timeout=15)
embed.get_ready()
assert embed.render("pricing") == ""
print(time.time())
"""
    ended = float(script(code, faulty.base_url))
    assert time.time() - ended < 2
    assert len(faulty.log) == 1
