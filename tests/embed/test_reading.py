"""Reading FAQs with an embed: `get_faq` and `use_faq` in both their forms, and their waits on a page."""

import asyncio
import threading
import time
from typing import Any

import pytest

from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQEmbed,
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQState,
    FAQUnavailable,
    InvalidFAQ,
    RateLimited,
)
from faqsvc_embed.cache.entry import Key
from faqsvc_embed.cache.source import BaseSource
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import (
    LONG,
    PRICING,
    SLACK,
    Form,
    MakeEmbed,
    own_threads,
    seconds,
    warnings_of,
)
from tests.support.faults import behaviours
from tests.support.faulty import Behaviour, FaultyServer
from tests.support.waiting import settle


class Broken(BaseSource):
    """A source with a fault of its own."""

    is_local = True

    def look_up(self, key: Key) -> FAQState:
        raise ZeroDivisionError("the fault")


def test_a_fault_of_the_package_breaks_no_page(form: Form, caplog: pytest.LogCaptureFixture) -> None:
    embed, strict = (FAQEmbed("https://faq.invalid", strict=strict) for strict in (False, True))
    for faqs in (embed, strict):
        faqs.reader.use_source(Broken())
    for _ in range(2):
        state = form.use_faq(embed)
        form.call(embed, "prefetch", "pricing")
    assert isinstance(state.error, FAQUnavailable)
    assert len(warnings_of(caplog)) == 2  # each of the two calls says so once
    for method in ("use_faq", "prefetch"):
        with pytest.raises(ZeroDivisionError):
            form.call(strict, method, "pricing")


# get_faq


def test_get_faq_returns_the_record_with_one_request(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed = make_embed()
    assert form.get_faq(embed) == PRICING
    assert form.get_faq(embed) is form.get_faq(embed)
    assert len(faulty.log) == 1


@pytest.mark.parametrize(
    ("behaviour", "error", "status"),
    [
        (behaviours.status(404), FAQNotFound, 404),
        (behaviours.status(410), FAQGone, 410),
        (behaviours.status(500), FAQUnavailable, 500),
        (behaviours.status(401), FAQUnavailable, 401),
        (behaviours.status(429, {"Retry-After": "5"}), RateLimited, 429),
        (behaviours.body(b"<html>"), InvalidFAQ, 200),
        (behaviours.reset, FAQUnavailable, None),
        (behaviours.refuse, FAQUnavailable, None),
    ],
)
def test_get_faq_raises_why_there_is_no_record_and_again_at_once(
    form: Form,
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    behaviour: Behaviour,
    error: type[FAQError],
    status: int | None,
) -> None:
    embed = make_embed()
    faulty.behave(behaviour)
    for _ in range(3):
        with pytest.raises(error) as caught:
            form.get_faq(embed)
        assert (type(caught.value), caught.value.status) == (error, status)
    assert len(faulty.log) <= 1


def test_get_faq_waits_for_as_long_as_one_request_may_take(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    faulty.behave(behaviours.slow_head(0.1))
    assert form.get_faq(make_embed(wait=0, timeout=30)) == PRICING
    embed = make_embed(wait=0, timeout=0.2)
    faulty.behave(behaviours.hang)
    start = time.monotonic()
    with pytest.raises(FAQUnavailable):
        form.get_faq(embed, "other")
    assert 0.2 <= time.monotonic() - start < 0.2 + SLACK


def test_get_faq_in_an_event_loop_waits_and_warns_once(
    make_embed: MakeEmbed, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed()

    async def host() -> list[FAQ]:
        return [embed.get_faq("pricing"), embed.get_faq("pricing"), await embed.aget_faq("pricing")]

    assert asyncio.run(host()) == [PRICING] * 3
    assert len(warnings_of(caplog)) == 1


# use_faq


def test_use_faq_says_where_its_record_comes_from(form: Form, make_embed: MakeEmbed, clock: Clock) -> None:
    embed, now = make_embed(lang="de"), clock.wall()
    first, second = form.use_faq(embed), form.use_faq(embed)
    assert first == FAQState(data=PRICING, source="network", updated_at=now, lang_requested="de")
    assert second == FAQState(data=PRICING, source="memory", updated_at=now, lang_requested="de")
    assert (first.lang_served, first.status) == ("en", "success")


def test_use_faq_waits_no_longer_than_it_may(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed, release = make_embed(wait=0.1, timeout=30), threading.Event()
    faulty.behave(behaviours.held_until(release))
    for wait, longest in ((None, 0.1), (0, 0.0), (0.05, 0.05)):
        start = time.monotonic()
        assert form.use_faq(embed, wait=wait) == FAQState(is_fetching=True)
        assert longest * 0.9 <= time.monotonic() - start < longest + SLACK
    release.set()
    assert form.use_faq(embed, wait=10).data == PRICING
    assert len(faulty.log) == 1


def test_a_record_that_was_just_fetched_is_shown_even_if_it_may_not_be_kept(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=0"})
    embed = make_embed(keep_for=0)
    assert form.use_faq(embed).data == PRICING
    clock.advance(LONG)
    faulty.refuse()
    assert form.use_faq(embed).data is None


@pytest.mark.parametrize("slug", ["a/b", "", None, 5, b"pricing", ["pricing"], {"a": 1}, "x" * 1000])
def test_use_faq_does_not_raise_for_a_value_that_is_no_slug(form: Form, slug: Any) -> None:
    embed = FAQEmbed("http://127.0.0.1:1")
    with embed.page():
        for _ in range(2):
            state = form.use_faq(embed, slug)
            assert isinstance(state.error, FAQNotFound)
            assert (state.data, state.is_fetching) == (None, False)
    assert own_threads() == []


def test_a_stale_record_costs_no_wait(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    faulty.behave(behaviours.hang)
    clock.advance(LONG)
    state = form.use_faq(embed)
    assert (state.data, state.is_stale, state.is_fetching, state.error) == (PRICING, True, True, None)
    faulty.refuse()
    settle(embed)
    state = form.use_faq(embed)
    assert (state.data, state.is_stale, state.is_degraded) == (PRICING, True, True)


def test_the_language_is_matched(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    embed = make_embed(lang="fr")
    for requested, lang in (("de-CH", "de"), ("zh_Hant_TW", "zh"), ("KO", "ko"), (None, "fr")):
        state = form.use_faq(embed, lang=requested)
        assert (state.lang_requested, state.lang_served) == (lang, lang)
    assert [request.lang for request in faulty.log] == ["de", "zh", "ko", "fr"]


@pytest.mark.parametrize("lang", ["xx", "klingon please", 5, ["de"]])
def test_an_unknown_language_is_the_default_with_one_warning(
    form: Form, make_embed: MakeEmbed, caplog: pytest.LogCaptureFixture, lang: Any
) -> None:
    embed = make_embed(lang="ko")
    for _ in range(3):
        assert form.use_faq(embed, lang=lang).lang_requested == "ko"
    assert len(warnings_of(caplog)) == 1
    with pytest.raises(ConfigurationError):
        form.use_faq(make_embed(strict=True), lang=lang)


# Within a page


def test_an_faq_that_arrives_late_is_shown_on_the_same_page(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed, release = make_embed(), threading.Event()
    faulty.behave(behaviours.held_until(release))
    with embed.page():
        assert form.use_faq(embed, wait=0).is_loading
        release.set()
        settle(embed)
        assert form.use_faq(embed).data == PRICING
        assert "What does it cost?" in embed.render("pricing")


def test_all_faqs_of_a_page_share_its_wait(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed = make_embed(wait=0.1, timeout=60)
    faulty.behave(behaviours.hang)
    for _ in range(2):  # each page has its own
        start = time.monotonic()
        with embed.page():
            for number in range(200):
                assert form.use_faq(embed, f"faq-{number}").is_loading
        assert 0.09 < time.monotonic() - start < 0.1 + SLACK


def test_overlapping_waits_stay_within_the_wait_of_the_page(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed = make_embed(wait=0.3, timeout=60)
    faulty.behave(behaviours.hang)

    async def host() -> None:
        first = asyncio.create_task(embed.ause_faq("a"))
        await asyncio.sleep(0.2)
        await embed.ause_faq("b")
        await first
        for number in range(100):
            await embed.ause_faq(f"faq-{number}")

    with embed.page():
        assert 0.27 < seconds(lambda: asyncio.run(host())) < 0.3 + SLACK
