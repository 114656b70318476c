"""The promise to the page, for every way in which a service fails: never blank, never broken, never late."""

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from markupsafe import Markup

from faqsvc_embed import FAQ, FAQEmbed, FAQNotFound, FAQState
from faqsvc_embed.page import context as page
from faqsvc_embed.testing.connections import CONNECTIONS, SIZES
from faqsvc_embed.testing.contents import CONTENTS, ENCODINGS
from faqsvc_embed.testing.framing import FRAMING
from faqsvc_embed.testing.statuses import REDIRECTS, STATUSES
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import ODDITIES, Fault, FaultyServer

WAIT: Final = 0.1
TIMEOUT: Final = 0.3
MARGIN: Final = 0.3
"""What a busy machine may add; `test_chaos` is stricter."""

LONG: Final = 4000.0
"""Longer than any lifetime, back-off or Retry-After here."""

FAULTS: Final = [*CONNECTIONS, *SIZES, *ENCODINGS, *REDIRECTS, *(FRAMING + CONTENTS + STATUSES)[::5]]
"""Of every kind; `test_chaos` holds whole pages against every one."""

PRICING: Final = FAQ.from_dict(samples.pricing())
FRESH_AGAIN: Final = {**samples.pricing(), "title": "Back again"}


@contextmanager
def one_page() -> Iterator[None]:
    token = page.begin(page.Page())
    try:
        yield
    finally:
        page.end(token)


def shown(embed: FAQEmbed) -> tuple[Markup, FAQState, float]:
    """Return what one page shows, the state that it saw, and the seconds that it took."""
    with one_page():
        start = time.monotonic()
        html = embed.render("pricing")
        took = time.monotonic() - start
        return html, embed.use_faq("pricing"), took


def landed(embed: FAQEmbed) -> FAQState:
    """Return what is known once no fetch is running."""
    deadline = time.monotonic() + 10
    while (state := embed.use_faq("pricing", wait=0)).is_fetching:
        assert time.monotonic() < deadline, "the fetch does not end"
        time.sleep(0.002)
    return state


@pytest.fixture
def embed(faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture) -> Iterator[FAQEmbed]:
    """An embed with short limits and a clock of its own; nothing may be left of it in the end."""
    behaviours.bomb()  # made once, in nobody's time
    gc.freeze()  # what was there before is not looked through again in the end
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "ETag": ""})
    threads = threading.active_count()
    embed = FAQEmbed(faulty.base_url, wait=WAIT, timeout=TIMEOUT)
    embed.cache.clock = clock.now
    embed.prefetch("warms up what is imported and built once")
    embed.forget()
    yield embed
    embed.close()
    faulty.close()
    assert threading.active_count() <= threads
    gc.collect()  # what was left open would warn now, and warnings are errors
    gc.unfreeze()
    noise = [r for r in caplog.records if r.levelno >= logging.WARNING and r.name != "faqsvc_embed"]
    assert noise == []


def recovers(embed: FAQEmbed, faulty: FaultyServer, clock: Clock, refreshes: int = 1) -> None:
    """The service is well again: the next refresh shows it."""
    faulty.serve(FRESH_AGAIN)
    faulty.behave(behaviours.healthy)
    for _ in range(refreshes):
        clock.advance(LONG)
        with one_page():
            embed.use_faq("pricing", wait=5)
        landed(embed)
    html, state, _ = shown(embed)
    assert "Back again" in html
    assert state.data == FAQ.from_dict(FRESH_AGAIN)
    assert (state.error, state.is_stale, state.is_degraded) == (None, False, False)


def refreshes_after(fault: Fault) -> int:
    """Stray bytes on a kept connection may meet the next request, and cost it; no other fault lasts."""
    return 2 if fault.stray else 1


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_page_without_a_copy_stays_whole(
    fault: Fault, embed: FAQEmbed, faulty: FaultyServer, clock: Clock
) -> None:  # R1, R4, J16, K9, K19, D1 to D4
    faulty.behave(fault.behaviour)
    html, state, _ = shown(embed)
    assert html == ""
    assert state.data is None
    assert state.is_loading == (state.error is None)
    if fault.holds:
        assert state.is_loading
    state = landed(embed)
    assert state.error is not None
    assert (state.data, isinstance(state.error, FAQNotFound)) == (None, fault.means == "missing")
    html, _, took = shown(embed)  # backing off: nothing is asked, nothing is waited for
    assert (html, took < MARGIN) == ("", True)
    recovers(embed, faulty, clock, refreshes_after(fault))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_page_with_a_copy_goes_on_showing_it(
    fault: Fault, embed: FAQEmbed, faulty: FaultyServer, clock: Clock
) -> None:  # R1, K3, K4, K6, K7, K9
    embed.get_faq("pricing")
    good, _, _ = shown(embed)
    assert good.count("<details") == 3
    clock.advance(100)
    faulty.behave(fault.behaviour)
    html, state, took = shown(embed)
    assert html == good
    assert (state.data, state.is_stale, state.is_fetching or state.is_degraded) == (PRICING, True, True)
    assert took < MARGIN  # a stale copy is not waited for
    state = landed(embed)
    html, _, took = shown(embed)
    assert took < MARGIN
    if fault.means == "missing":
        assert (html, state.data) == ("", None)
        assert isinstance(state.error, FAQNotFound)
    else:
        assert html == good
        assert (state.data, state.is_stale, state.is_degraded) == (PRICING, True, True)
        assert state.error is not None
    recovers(embed, faulty, clock, refreshes_after(fault))


@pytest.mark.parametrize("fault", ODDITIES, ids=str)
def test_what_only_looks_bad_is_shown(
    fault: Fault, embed: FAQEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.behave(fault.behaviour)
    with one_page():
        assert embed.use_faq("pricing", wait=5).error is None
        html = embed.render("pricing")
    assert html.count("<details") == 3
    assert html.count("application/ld+json") == 1
    clock.advance(LONG)
    html_when_stale, state, took = shown(embed)
    assert (html_when_stale, state.is_stale, took < MARGIN) == (html, True, True)
    state = landed(embed)
    assert (state.error, state.is_stale) == (None, False)
    recovers(embed, faulty, clock)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.holds], ids=str)
def test_a_page_of_many_faqs_waits_once(fault: Fault, embed: FAQEmbed, faulty: FaultyServer) -> None:  # R2
    faulty.behave(fault.behaviour)
    with one_page():
        start = time.monotonic()
        assert [embed.render(f"faq-{number}") for number in range(15)] == [""] * 15
        assert time.monotonic() - start < WAIT + MARGIN
    landed_all = time.monotonic() + 5
    while len(embed.health()) < 15:
        assert time.monotonic() < landed_all
        time.sleep(0.002)


def test_a_service_that_fails_again_and_again_is_left_alone(
    embed: FAQEmbed, faulty: FaultyServer, clock: Clock
) -> None:  # K14
    embed.get_faq("pricing")
    faulty.forget_log()
    faulty.behave(behaviours.status(500))
    clock.advance(100)
    for _ in range(1000):  # a page every 100 ms, for 100 seconds
        shown(embed)
        landed(embed)
        clock.advance(0.1)
    assert 1 <= len(faulty.log) < 40
