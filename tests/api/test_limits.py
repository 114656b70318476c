"""Limits of one exchange: a deadline from connecting to the last byte, and the bytes of a body."""

import asyncio
import gzip
import time
import tracemalloc

import pytest

from faqsvc_embed import FAQError, FAQUnavailable, InvalidFAQ, RateLimited
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.responses import Response
from faqsvc_embed.api.transport import Transport
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.embeds import PRICING, MakeEmbed, failure, seconds
from tests.support.faulty import (
    Behaviour,
    Exchange,
    FaultyServer,
    as_json,
    bomb,
    gzip_bomb,
    header_flood,
    oversize,
    oversize_chunked,
    oversize_error,
    oversize_string,
)

TIMEOUT = 0.15
PATIENCE = 20.0
"""Seconds within which a limit is seen to work, also on a busy machine."""


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.hang,
        behaviours.hang_after_head,
        behaviours.hang_in_body,
        behaviours.drip(0.01),
        behaviours.drip_head(0.01),
    ],
    ids=["hang", "hang after head", "hang in body", "drip", "drip head"],
)
def test_one_deadline_covers_a_request_from_connecting_to_its_last_byte(
    make_embed: MakeEmbed, faulty: FaultyServer, behaviour: Behaviour
) -> None:
    embed = make_embed(timeout=TIMEOUT)
    faulty.behave(behaviour)
    errors = list[FAQError]()
    took = seconds(lambda: errors.append(failure(embed)))
    assert [type(error) for error in errors] == [FAQTimeout]
    assert 0.9 * TIMEOUT < took < PATIENCE


def test_the_connection_of_an_abandoned_request_is_closed(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    faulty.behave(Exchange.hang)
    assert isinstance(failure(make_embed(timeout=0.2)), FAQTimeout)
    assert faulty.wait_for_disconnects()


def body_never_ends(status: int, interval: float = 0.0) -> Behaviour:
    """Send a head at once, and of its body one byte an interval, or nothing."""

    def behaviour(exchange: Exchange) -> None:
        exchange.head(status, {"Retry-After": "120", "Content-Length": "5000"})
        while interval:
            exchange.send(b".")
            exchange.pause(interval)
        exchange.hang()

    return behaviour


@pytest.mark.parametrize(
    ("status", "kind", "interval"), [(429, RateLimited, 0.01), (404, FAQUnavailable, 0.0)]
)
def test_an_error_is_known_by_its_head_whatever_becomes_of_its_body(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    status: int,
    kind: type[FAQError],
    interval: float,
) -> None:
    embed = make_embed(timeout=2.0)
    faulty.behave(body_never_ends(status, interval))
    errors = list[FAQError]()
    took = seconds(lambda: errors.append(failure(embed)))
    assert [(type(error), error.status, error.retry_after) for error in errors] == [(kind, status, 120.0)]
    assert took < PATIENCE


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_error_is_known_by_its_head_also_if_the_loop_is_late(faulty: FaultyServer, method: str) -> None:
    """On a busy machine a thread may not run for a while: all that was due meanwhile is due at once."""
    faulty.behave(body_never_ends(429))
    request, background = Request(f"{faulty.base_url}/api/v1/faq/pricing", {}, method), BackgroundLoop()

    async def send_and_be_late() -> Response | FAQError:
        asyncio.get_running_loop().call_later(0.9, time.sleep, 0.3)
        return await Transport(1000).send(request, timeout=1.0)

    response = background.submit(send_and_be_late()).result(60)
    background.close()
    assert isinstance(response, Response)
    assert (response.status, response.headers["retry-after"], response.is_complete) == (429, "120", False)


def test_an_error_whose_body_breaks_off_is_known_by_its_head(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    faulty.behave(behaviours.raw(b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nsorry"))
    error = failure(make_embed())
    assert (error.status, error.retry_after, error.body) == (503, 7.0, "sorry")


@pytest.mark.parametrize(
    "behaviour", [behaviours.healthy, behaviours.chunked, behaviours.gzipped, behaviours.until_closed]
)
def test_a_record_may_have_max_bytes_and_no_more(
    make_embed: MakeEmbed, faulty: FaultyServer, behaviour: Behaviour
) -> None:
    size = len(as_json(samples.pricing()))
    faulty.behave(behaviour)
    assert make_embed(max_bytes=size).get_faq("pricing") == PRICING
    assert isinstance(failure(make_embed(max_bytes=size - 1)), InvalidFAQ)


def test_compressed_bytes_are_limited_too(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    content = gzip.compress(as_json(samples.pricing())) + b"\0" * 5000
    faulty.behave(behaviours.body(content, {"Content-Encoding": "gzip"}))
    assert isinstance(failure(make_embed(max_bytes=4096)), InvalidFAQ)


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.no_gzip,
        behaviours.unknown_coding,
        behaviours.rewritten(lambda body: gzip.compress(body)[:-40], {"Content-Encoding": "gzip"}),
    ],
    ids=["not gzip", "another coding", "cut off"],
)
def test_a_body_that_cannot_be_decompressed_is_a_failure(
    make_embed: MakeEmbed, faulty: FaultyServer, behaviour: Behaviour
) -> None:
    faulty.behave(behaviour)
    assert isinstance(failure(make_embed()), InvalidFAQ)


def error_bomb(exchange: Exchange) -> None:
    exchange.respond(503, bomb(), {"Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    "behaviour",
    [gzip_bomb, error_bomb, oversize_chunked, oversize, oversize_error, oversize_string, header_flood],
)
def test_a_flood_of_bytes_costs_little_memory(
    make_embed: MakeEmbed, faulty: FaultyServer, behaviour: Behaviour
) -> None:
    bomb()
    embed = make_embed()
    embed.get_faq("pricing")  # what is imported and made once does not count
    faulty.behave(behaviour)
    tracemalloc.start()
    try:
        assert isinstance(failure(embed, "bomb"), FAQError)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024 * 1024
