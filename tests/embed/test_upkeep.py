"""Around the reading of FAQs: settings, prefetching, forgetting, health, the log, the functions."""

import asyncio
import copy
import logging
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQClient,
    FAQEmbed,
    FAQNotFound,
    Settings,
    aget_faq,
    get_faq,
)
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import (
    LONG,
    PRICING,
    SLACK,
    Form,
    MakeEmbed,
    refreshed,
    seconds,
    warnings_of,
)
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer

NOWHERE = "http://127.0.0.1:1"


# Settings


def test_settings_come_as_keywords_from_the_environment_or_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", NOWHERE)
    monkeypatch.setenv("FAQSVC_WAIT", "3")
    assert FAQEmbed().settings.wait == 3
    assert FAQEmbed(wait=4).settings.wait == 4
    assert FAQEmbed(settings=Settings(base_url=NOWHERE, wait=5)).settings.wait == 5
    with pytest.raises(ConfigurationError, match="settings is a dict"):
        FAQEmbed(settings={"base_url": NOWHERE})  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="settings is a dict"):
        FAQClient(settings={"base_url": NOWHERE})  # type: ignore[arg-type]


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.deepcopy, copy.copy])
def test_an_embed_says_why_it_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="create one in each process"):
        duplicate(FAQEmbed(NOWHERE))


# prefetch and forget


def test_prefetch_fetches_faqs_together(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    slugs = [f"faq-{number}" for number in range(8)]
    for slug in slugs:
        faulty.serve(samples.record(slug))
    embed = make_embed()
    form.call(embed, "prefetch", *slugs, lang="ko")
    assert sorted((request.slug, request.lang) for request in faulty.log) == [(slug, "ko") for slug in slugs]
    faulty.behave(behaviours.hang)
    assert [form.use_faq(embed, slug, lang="ko", wait=0).source for slug in slugs] == ["memory"] * 8
    form.call(embed, "prefetch", *slugs, lang="ko")
    assert len(faulty.log) == 8


def test_prefetch_waits_once_for_all(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    slugs, release = [f"faq-{number}" for number in range(3)], threading.Event()
    for slug in slugs:
        faulty.serve(samples.record(slug))
    faulty.behave(behaviours.held_until(release))
    embed = make_embed(wait=30, timeout=30)
    fetching = threading.Thread(target=form.call, args=(embed, "prefetch", *slugs))
    fetching.start()
    faulty.wait_for_requests(3)  # at once
    release.set()
    fetching.join()
    assert [row["freshness"] for row in embed.health()] == ["fresh"] * 3
    faulty.behave(behaviours.hang)
    embed = make_embed(wait=0.1)
    start = time.monotonic()
    form.call(embed, "prefetch", *(f"faq-{number}" for number in range(200)))
    assert 0.09 < time.monotonic() - start < 0.1 + SLACK


@pytest.mark.parametrize("wrong", [["a", "b"], ("a",), {"slug": "a"}, None, "a/b"], ids=str)
def test_prefetch_reports_what_is_no_slug_and_fetches_the_others(
    form: Form, wrong: Any, make_embed: MakeEmbed, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(wait=30, timeout=30)
    for _ in range(2):
        form.call(embed, "prefetch", wrong, "pricing")
    assert [request.slug for request in faulty.log] == ["pricing"]
    (warning,) = warnings_of(caplog)
    assert repr(wrong) in warning
    with pytest.raises(FAQNotFound):
        form.call(make_embed(strict=True), "prefetch", wrong)


def test_prefetch_in_an_event_loop_does_not_wait_and_warns_once(
    make_embed: MakeEmbed, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(wait=30, timeout=30)
    faulty.behave(behaviours.hang)

    async def host() -> bool:
        for _ in range(2):
            embed.prefetch("pricing")
        return embed.use_faq("pricing", wait=0).is_fetching

    assert seconds(lambda: asyncio.run(host())) < SLACK
    assert embed.reader.fetcher.is_fetching()
    assert len([line for line in warnings_of(caplog) if "aprefetch" in line]) == 1


def test_a_forgotten_faq_is_fetched_anew(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    faulty.serve(samples.record("other"))
    embed = make_embed()
    for _ in range(2):
        form.get_faq(embed)
        form.get_faq(embed, lang="ko")
        form.get_faq(embed, "other")
        embed.forget("pricing")
    assert [request.slug for request in faulty.log] == ["pricing", "pricing", "other", "pricing", "pricing"]
    assert "if-none-match" not in faulty.log[-1].headers
    embed.forget()
    assert embed.health() == []


def test_a_forgotten_faq_is_fetched_past_caches_in_front_of_the_service(
    form: Form, make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    faulty.serve(samples.record("other"))
    embed = make_embed()
    embed.forget("pricing")  # before anything was fetched
    form.get_faq(embed)
    form.get_faq(embed, lang="ko")
    form.get_faq(embed, "other")
    embed.forget()
    form.get_faq(embed, "other")
    sent = [(request.slug, request.headers.get("cache-control")) for request in faulty.log]
    assert sent == [("pricing", "no-cache"), ("pricing", "no-cache"), ("other", None), ("other", "no-cache")]


def test_forgetting_takes_one_slug() -> None:
    for wrong in (["pricing"], 5):
        with pytest.raises(ConfigurationError, match=r"forget\(\) takes a slug"):
            FAQEmbed(NOWHERE).forget(wrong)  # type: ignore[arg-type]


def test_forgetting_ends_a_back_off(form: Form, make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed = make_embed()
    faulty.behave(behaviours.status(503, {"Retry-After": "600"}))
    assert form.use_faq(embed).data is None
    faulty.behave(behaviours.healthy)
    assert form.use_faq(embed).data is None
    embed.forget("pricing")
    assert form.get_faq(embed) == PRICING


# health and log


def test_health_says_what_is_known_of_each_faq(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(keep_for=10_000)
    assert embed.health() == []
    faulty.serve(samples.record("stays"), {"Cache-Control": "max-age=0"})
    embed.get_faq("stays")
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=3600"})
    embed.get_faq("pricing", lang="ko")
    embed.use_faq("unknown")
    faulty.behave(behaviours.status(503, {"Retry-After": "30"}))
    embed.use_faq("broken")
    clock.advance(10)
    requests = len(faulty.log)
    rows = [(row["slug"], row["lang"], row["freshness"], row["age"]) for row in embed.health()]
    assert rows == [
        ("broken", None, "failed", None),
        ("pricing", "ko", "fresh", 10),
        ("stays", None, "stale", 10),
        ("unknown", None, "missing", None),
    ]
    next_tries = [row["next_try_in"] for row in embed.health()]
    assert next_tries == [20, 3600 * 0.95 - 10, None, 50]
    assert [row["error"] is None for row in embed.health()] == [False, True, True, False]
    clock.advance(20_000)
    assert [row["freshness"] for row in embed.health()] == ["failed", "expired", "expired", "missing"]
    assert len(faulty.log) == requests


def test_a_change_of_state_is_one_line_in_the_log(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    embed = make_embed(keep_for=30_000)

    def levels_of_pages() -> list[str]:
        caplog.clear()
        for _ in range(5):
            refreshed(embed)
            clock.advance(LONG)
        return [record.levelname for record in caplog.records]

    assert levels_of_pages() == []  # nor does the HTTP client log its requests
    faulty.behave(behaviours.status(500))
    assert levels_of_pages() == ["WARNING"]
    faulty.behave(behaviours.status(410))
    assert levels_of_pages() == ["WARNING"]  # it is no longer shown
    faulty.behave(behaviours.healthy)
    assert levels_of_pages() == ["INFO"]


def test_unknown_slugs_are_a_line_a_minute_and_hide_no_line_of_a_known_faq(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed(wait=60, timeout=60)
    embed.get_faq("pricing")
    embed.prefetch(*(f"bot-{number}" for number in range(300)))
    assert len(warnings_of(caplog)) == 1
    faulty.behave(behaviours.status(500))
    clock.advance(LONG)
    refreshed(embed)
    assert ["pricing" in line for line in warnings_of(caplog)] == [True]


def test_foreign_text_is_quoted_in_the_log(
    make_embed: MakeEmbed, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    faulty.behave(behaviours.redirect("http://elsewhere/\x1b[31m"))
    make_embed().use_faq("a\u2028WARNING forged")
    (message,) = warnings_of(caplog)
    assert message.isprintable()


# The functions


@pytest.mark.parametrize("call", [get_faq, lambda slug: asyncio.run(aget_faq(slug))], ids=["sync", "async"])
def test_the_functions_need_a_base_url(call: Callable[[str], FAQ]) -> None:
    with pytest.raises(ConfigurationError):
        call("pricing")


def test_the_functions_read_from_the_service_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", NOWHERE)
    for slug in ("a/b", ""):
        with pytest.raises(FAQNotFound):
            get_faq(slug)
        with pytest.raises(FAQNotFound):
            asyncio.run(aget_faq(slug))
