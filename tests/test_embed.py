"""The facade: every method, in both its forms, and what it promises the page."""

import asyncio
import gc
import json
import logging
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from jinja2 import DictLoader, Environment
from markupsafe import Markup

import faqsvc_embed
from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQEmbed,
    FAQError,
    FAQNotFound,
    FAQState,
    FAQUnavailable,
    InvalidFAQ,
    Settings,
    Theme,
    aget_faq,
    get_faq,
)
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.page import context as page
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.renderer import Renderer
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer
from tests.support.host import wait_until

PRICING: Final = FAQ.from_dict(samples.pricing())
NOWHERE: Final = "http://127.0.0.1:1"
"""An address at which nothing is asked for: the tests that use it hold no FAQ and need none."""
SLACK: Final = 0.3
"""Seconds that a busy machine may add to any wait."""

ADVICE: Final = "look at the service, or give it more with the setting timeout"

Embeds = Callable[..., FAQEmbed]


class Way:
    """One of the two forms of every method that waits; the asynchronous one gets a new loop each time."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _call(self, embed: FAQEmbed, method: str, *args: Any, **options: Any) -> Any:
        if self.name == "sync":
            return getattr(embed, method)(*args, **options)
        return asyncio.run(getattr(embed, f"a{method}")(*args, **options))

    def get_faq(self, embed: FAQEmbed, slug: str, **options: Any) -> FAQ:
        faq: FAQ = self._call(embed, "get_faq", slug, **options)
        return faq

    def use_faq(self, embed: FAQEmbed, slug: str, **options: Any) -> FAQState:
        state: FAQState = self._call(embed, "use_faq", slug, **options)
        return state

    def render(self, embed: FAQEmbed, what: Any, **options: Any) -> Markup:
        html = self._call(embed, "render", what, **options)
        assert type(html) is Markup
        return html

    def prefetch(self, embed: FAQEmbed, *slugs: str, **options: Any) -> None:
        assert self._call(embed, "prefetch", *slugs, **options) is None

    def close(self, embed: FAQEmbed) -> None:
        assert self._call(embed, "close") is None


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> Way:
    return Way(request.param)


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


@contextmanager
def one_page() -> Iterator[page.Page]:
    """Be inside one response, as an adapter is."""
    current = page.Page()
    token = page.begin(current)
    try:
        yield current
    finally:
        page.end(token)


def landed(embed: FAQEmbed, slug: str = "pricing") -> None:
    """Wait for the end of a background refresh, outside of any page."""
    deadline = time.monotonic() + 5
    while Context().run(embed.use_faq, slug, wait=0).is_fetching:
        assert time.monotonic() < deadline, "the refresh does not end"
        time.sleep(0.002)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return what was logged since the last call, and forget it."""
    found = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "faqsvc_embed"]
    caplog.clear()
    return found


def questions(html: str) -> list[list[str]]:
    """Return the questions of each JSON-LD script."""
    scripts = [
        part.partition("</script>")[0] for part in html.split('<script type="application/ld+json">')[1:]
    ]
    return [[entry["name"] for entry in json.loads(script)["mainEntity"]] for script in scripts]


# Making one


def test_an_embed_needs_an_address() -> None:
    with pytest.raises(ConfigurationError, match="base_url is not set: pass base_url=") as caught:
        FAQEmbed()
    assert "FAQSVC_BASE_URL" in str(caught.value)


def test_settings_come_as_keywords_or_from_the_environment_or_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://env.example.com")
    monkeypatch.setenv("FAQSVC_WAIT", "0.5")
    assert FAQEmbed().settings == Settings(base_url="https://env.example.com", wait=0.5)
    assert FAQEmbed("https://b.example.com", wait=2).settings == Settings(
        base_url="https://b.example.com", wait=2
    )
    whole = Settings(base_url="https://c.example.com", lang="ko")
    assert FAQEmbed(settings=whole).settings == whole
    assert FAQEmbed(settings=whole, lang="de").settings == Settings(base_url=whole.base_url, lang="de")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("wait", -1), ("lang", "xx"), ("theme", {"accentColor": "url(x)"}), ("styles", "no")],
)
def test_a_setting_that_cannot_be_is_told_at_construction(setting: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=setting):
        FAQEmbed(NOWHERE, **{setting: value})


# get_faq


def test_get_faq_returns_the_record_and_asks_once(way: Way, embeds: Embeds, faulty: FaultyServer) -> None:
    embed = embeds()
    first = way.get_faq(embed, "pricing")
    assert first == PRICING
    assert way.get_faq(embed, "pricing") is first
    assert len(faulty.log) == 1


@pytest.mark.parametrize(
    ("behaviour", "kind", "message"),
    [
        (behaviours.status(404), FAQNotFound, "the service knows no FAQ 'pricing' (404)"),
        (behaviours.status(500), FAQUnavailable, "the service answered 500 for 'pricing'"),
        (behaviours.altered(slug="another"), InvalidFAQ, "asked for 'pricing', the service sent 'another'"),
        (behaviours.hang, FAQUnavailable, f"no complete answer for 'pricing' within 0.2 s: {ADVICE}"),
    ],
    ids=["404", "500", "wrong slug", "hang"],
)
def test_get_faq_raises_why_there_is_none_and_again_at_once(
    way: Way,
    embeds: Embeds,
    faulty: FaultyServer,
    clock: Clock,
    behaviour: behaviours.Behaviour,
    kind: type[FAQError],
    message: str,
) -> None:  # K14
    faulty.behave(behaviour)
    embed = embeds(timeout=0.2)
    embed.cache.clock = clock.now
    raised = list[FAQError]()
    for _ in range(3):
        with pytest.raises(FAQError) as caught:
            way.get_faq(embed, "pricing")
        raised.append(caught.value)
    assert [(type(error), str(error)) for error in raised] == [(kind, message)] * 3
    assert len({id(error) for error in raised}) == 3  # no caller's traceback ends up in another's
    assert len(faulty.log) == 1


def test_get_faq_returns_a_stale_copy_while_the_service_is_down(
    way: Way, embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K4
    embed = embeds()
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    faulty.behave(behaviours.refuse)
    for _ in range(3):
        clock.advance(4000)
        assert way.get_faq(embed, "pricing") == PRICING
        landed(embed)


# use_faq


def test_use_faq_says_where_its_record_came_from(way: Way, embeds: Embeds) -> None:  # R9, U8
    embed = embeds(lang="de")
    before = datetime.now(UTC)
    first, second = way.use_faq(embed, "pricing"), way.use_faq(embed, "pricing")
    assert first.updated_at is not None
    assert before <= first.updated_at <= datetime.now(UTC)
    at = first.updated_at
    assert first == FAQState(data=PRICING, source="network", updated_at=at, lang_requested="de")
    assert second == FAQState(data=PRICING, source="memory", updated_at=at, lang_requested="de")
    assert (first.lang_served, first.status) == ("en", "success")
    assert first.age is not None
    assert 0 <= first.age < 5


def test_use_faq_waits_no_longer_than_it_may(
    way: Way, embeds: Embeds, faulty: FaultyServer
) -> None:  # R2, U1
    embed = embeds(wait=0.2, timeout=30)
    release = threading.Event()
    faulty.behave(behaviours.held_until(release))
    for wait, longest in ((None, 0.2), (0, 0.0), (0.1, 0.1)):
        start = time.monotonic()
        state = way.use_faq(embed, "pricing", wait=wait)
        took = time.monotonic() - start
        assert state == FAQState(is_fetching=True)
        assert state.is_loading
        assert longest * 0.9 <= took < longest + SLACK
    release.set()
    assert way.use_faq(embed, "pricing", wait=10).data == PRICING
    assert len(faulty.log) == 1  # U7: every later call joins the flight


@pytest.mark.parametrize("slug", ["a/b", "", None, 5, b"pricing", ["pricing"], {"a": 1}, "x" * 1000])
def test_use_faq_does_not_raise_for_what_is_no_slug(way: Way, slug: Any) -> None:  # R4
    state = way.use_faq(FAQEmbed(NOWHERE), slug)
    assert isinstance(state.error, FAQNotFound)
    assert "is no slug" in str(state.error)
    assert (state.data, state.is_fetching) == (None, False)


@pytest.mark.parametrize("slug", [["pricing"], {"a": 1}])
def test_nor_does_it_within_a_page(way: Way, slug: Any) -> None:  # R4
    token = page.begin(Page())
    try:
        state = way.use_faq(FAQEmbed(NOWHERE), slug)
    finally:
        page.end(token)
    assert "is no slug" in str(state.error)


def test_what_comes_before_the_wait_is_part_of_it(
    way: Way, embeds: Embeds, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # R2
    embed = embeds(wait=0.5, timeout=30)
    faulty.behave(behaviours.hang)
    look_up = Reader.look_up

    def look_up_slowly(reader: Reader, key: Key) -> Any:
        time.sleep(0.4)  # as the first fetch of a process
        return look_up(reader, key)

    monkeypatch.setattr(Reader, "look_up", look_up_slowly)
    start = time.monotonic()
    assert way.use_faq(embed, "pricing").is_loading
    assert 0.5 * 0.9 <= time.monotonic() - start < 0.8


def test_a_stale_copy_costs_no_waiting(
    way: Way, embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # K3
    embed = embeds(wait=5, timeout=0.5)
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    faulty.behave(behaviours.hang)
    clock.advance(4000)
    start = time.monotonic()
    state = way.use_faq(embed, "pricing")
    assert time.monotonic() - start < SLACK
    assert (state.data, state.is_stale, state.is_fetching, state.error) == (PRICING, True, True, None)
    landed(embed)
    state = way.use_faq(embed, "pricing")
    assert (state.data, state.is_stale, state.is_degraded) == (PRICING, True, True)
    assert isinstance(state.error, FAQUnavailable)


def test_the_language_is_looked_up(way: Way, embeds: Embeds, faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    embed = embeds(lang="fr")
    for wish, lang in (("de-CH", "de"), ("zh_Hant_TW", "zh"), ("KO", "ko"), (None, "fr")):
        state = way.use_faq(embed, "pricing", lang=wish)
        assert (state.lang_requested, state.lang_served) == (lang, lang)
    assert [request.lang for request in faulty.log] == ["de", "zh", "ko", "fr"]


@pytest.mark.parametrize("lang", ["xx", "klingon please", 5, ["de"]])
def test_a_language_that_there_is_not_gives_the_default_and_one_warning(
    way: Way, embeds: Embeds, faulty: FaultyServer, caplog: pytest.LogCaptureFixture, lang: Any
) -> None:
    embed = embeds(lang="ko")
    for _ in range(3):
        assert way.use_faq(embed, "pricing", lang=lang).lang_requested == "ko"
    ((level, message),) = lines(caplog)
    assert level == "WARNING"
    assert message.startswith(f"lang is {lang!r}: one of en, ko, ja, zh, es, fr, de is accepted")
    with pytest.raises(ConfigurationError, match="lang is"):
        way.use_faq(embeds(strict=True), "pricing", lang=lang)


# render


def test_render_shows_questions_styles_and_json_ld(way: Way, embeds: Embeds) -> None:  # X1
    html = way.render(embeds(), "pricing")
    assert (html.count("<style>"), html.count("<section"), html.count("<details")) == (1, 1, 3)
    assert questions(html) == [[item.question for item in PRICING.items]]
    assert "<h2" in html
    assert "<h3" in html
    assert "Nothing &lt; 10 users; then €5 &amp; taxes." in html


def test_render_takes_a_record_as_well_and_asks_nobody(way: Way) -> None:
    embed = FAQEmbed(NOWHERE)
    html = way.render(embed, PRICING)
    assert questions(html) == [[item.question for item in PRICING.items]]
    assert embed.health() == []
    assert way.render(embed, FAQ("empty")) == ""


def test_render_has_the_look_that_was_asked_for(way: Way, embeds: Embeds) -> None:
    embed = embeds()
    for _ in range(2):  # rendered, and remembered
        html = way.render(
            embed, "pricing", heading_level=4, show_title=True, theme={"accentColor": "#123456"}
        )
        assert ("<h4" in html, "<h5" in html, "<h2" in html, "#123456" in html) == (True, True, False, True)
        html = way.render(embed, "pricing", heading_level=None, show_title=False, schema=False)
        assert ("<h" in html, "Pricing" in html, "ld+json" in html, "#123456" in html) == (False,) * 4
        html = way.render(embed, "pricing", nonce="r4nd0m", theme=Theme(question_size=20))
        assert (html.count('nonce="r4nd0m"'), html.count("20px")) == (2, 1)
    assert way.render(embed, "pricing") == way.render(embed, "pricing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theme": {"accentColor": "url(//x)"}}, "accentColor"),
        ({"theme": {"colour": "red"}}, "colour"),
        ({"theme": "red"}, "theme"),
        ({"heading_level": 1}, "heading_level is 1"),
        ({"heading_level": "two"}, "heading_level is 'two'"),
    ],
    ids=str,
)
def test_a_bad_look_falls_back_with_one_warning_and_is_raised_if_strict(
    way: Way, embeds: Embeds, caplog: pytest.LogCaptureFixture, options: dict[str, Any], message: str
) -> None:  # R4
    embed = embeds()
    plain = way.render(embed, "pricing")
    assert [way.render(embed, "pricing", **options) for _ in range(3)] == [plain] * 3
    ((level, text),) = lines(caplog)
    assert level == "WARNING"
    assert message in text
    with pytest.raises(ConfigurationError, match=message):
        way.render(embeds(strict=True), "pricing", **options)


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (behaviours.status(404), FAQNotFound),
        (behaviours.status(500), FAQUnavailable),
        (behaviours.body(b"[]"), InvalidFAQ),
        (behaviours.hang, FAQUnavailable),
    ],
    ids=["404", "500", "no record", "hang"],
)
def test_what_cannot_be_shown_is_empty_and_raised_if_strict(
    way: Way, embeds: Embeds, faulty: FaultyServer, behaviour: behaviours.Behaviour, kind: type[FAQError]
) -> None:  # R4, U5, J16
    faulty.behave(behaviour)
    assert way.render(embeds(wait=0.1, timeout=0.3), "pricing") == ""
    strict = embeds(wait=0.1, timeout=0.3, strict=True)
    with pytest.raises(kind):
        way.render(strict, "pricing")
    assert way.use_faq(strict, "pricing").data is None  # the hook does not raise for what a service does
    faulty.behave(behaviours.healthy)


def test_a_problem_is_visible_in_development(way: Way, embeds: Embeds, faulty: FaultyServer) -> None:  # R4
    faulty.behave(behaviours.status(500))
    with one_page() as current:
        current.shows_problems = True
        assert way.render(embeds(), "pricing") == (
            '<p class="faqsvc-problem" role="note"><strong>faqsvc:</strong> '
            "the service answered 500 for &#39;pricing&#39;</p>"
        )


def broken(embed: FAQEmbed, error: BaseException) -> None:
    """Let a template of the host raise `error`."""

    def explode() -> None:
        raise error

    templates = Environment(loader=DictLoader({"faqsvc/faq.html": "{{ explode() }}"}), autoescape=True)
    templates.globals["explode"] = explode
    embed.showing.render_with(Renderer(templates))


def test_a_broken_template_does_not_break_the_page(
    way: Way, embeds: Embeds, caplog: pytest.LogCaptureFixture
) -> None:  # R4
    embed = embeds()
    broken(embed, ZeroDivisionError("in a template"))
    assert way.render(embed, "pricing") == ""
    assert lines(caplog) == [("ERROR", "FAQ 'pricing' is not shown: ZeroDivisionError('in a template')")]
    strict = embeds(strict=True)
    broken(strict, ZeroDivisionError("in a template"))
    with pytest.raises(ZeroDivisionError):
        way.render(strict, "pricing")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_ends_a_program_is_not_swallowed(embeds: Embeds, kind: type[BaseException]) -> None:  # R5, D14
    embed = embeds()
    broken(embed, kind())
    with pytest.raises(kind):
        embed.render("pricing")


def test_a_hosts_template_is_used_from_then_on(way: Way, embeds: Embeds) -> None:
    embed = embeds()
    way.render(embed, "pricing")
    host = Environment(loader=DictLoader({"faqsvc/faq.html": "<b>{{ faq.title }}</b>"}), autoescape=True)
    embed.showing.render_with(Renderer(host))
    assert "<b>Pricing</b>" in way.render(embed, "pricing")


def test_schema_is_one_script_for_all_faqs() -> None:  # J1, J12, J16
    embed = FAQEmbed(NOWHERE)
    other = FAQ.from_dict(samples.record("other", ("Why?", "So.")))
    html = embed.schema(PRICING, other, PRICING)
    assert type(html) is Markup
    assert html.startswith("<script")
    assert questions(html) == [[*(item.question for item in PRICING.items), "Why?"]]
    assert 'nonce="n"' in embed.schema(PRICING, nonce="n")
    assert embed.schema() == embed.schema(FAQ("empty")) == ""


# Within one page


def test_the_same_faq_is_the_same_snapshot_within_a_page(
    way: Way, embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # U4
    embed = embeds()
    embed.cache.clock = clock.now
    embed.get_faq("pricing")
    clock.advance(4000)
    faulty.serve({**samples.pricing(), "title": "Edited"})
    with one_page():
        first = way.use_faq(embed, "pricing")
        assert first.is_stale
        faulty.wait_for_requests(2)
        landed(embed)
        assert Context().run(way.use_faq, embed, "pricing").data != PRICING  # another request, meanwhile
        assert way.use_faq(embed, "pricing") is first
        assert way.use_faq(embed, "pricing", lang="en") is not first
    with one_page():
        data = way.use_faq(embed, "pricing").data
        assert data is not None
        assert data.title == "Edited"


def test_one_page_prints_its_styles_and_its_faq_page_once(
    way: Way, embeds: Embeds, faulty: FaultyServer
) -> None:  # J1
    faulty.serve(samples.record("other", ("Why?", "So.")))
    embed = embeds()
    with one_page() as current:
        html = way.render(embed, "pricing") + way.render(embed, "other") + way.render(embed, "pricing")
        merged = current.merge(html.encode()).decode()
    assert (html.count("<style>"), html.count("<section")) == (1, 3)
    assert questions(html) == [[item.question for item in PRICING.items]]
    assert questions(merged) == [[*(item.question for item in PRICING.items), "Why?"]]
    ids = [part.partition('"')[0] for part in html.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("count", [2, 20])
def test_all_faqs_of_a_page_share_one_budget(
    way: Way, embeds: Embeds, faulty: FaultyServer, count: int
) -> None:  # R2
    embed = embeds(wait=0.2, timeout=2)
    faulty.behave(behaviours.hang)
    with one_page():
        start = time.monotonic()
        assert [way.render(embed, f"faq-{number}") for number in range(count)] == [""] * count
        assert [way.use_faq(embed, f"faq-{number}").is_loading for number in range(count)] == [True] * count
        took = time.monotonic() - start
    assert 0.18 < took < max(0.2 + SLACK, 0.2 * count / 4)
    with one_page():  # the next page has a budget of its own
        start = time.monotonic()
        way.render(embed, "faq-0")
        assert 0.18 < time.monotonic() - start < 0.2 + SLACK


def test_waits_side_by_side_are_counted_once(embeds: Embeds, faulty: FaultyServer) -> None:  # R2
    embed = embeds(wait=0.3, timeout=2)
    faulty.behave(behaviours.hang)

    async def host() -> list[Markup]:
        return await asyncio.gather(*(embed.arender(f"faq-{number}") for number in range(20)))

    with one_page():
        start = time.monotonic()
        assert asyncio.run(host()) == [""] * 20
        assert 0.27 < time.monotonic() - start < 0.3 + SLACK


def test_the_event_loop_runs_on_while_a_page_waits(embeds: Embeds, faulty: FaultyServer) -> None:  # F5
    embed = embeds(wait=0.3, timeout=2)
    embed.get_faq("pricing")  # what is imported once is none of it
    faulty.behave(behaviours.hang)

    async def host() -> float:
        waiting = asyncio.create_task(embed.arender("slow"))
        longest, last = 0.0, time.monotonic()
        while not waiting.done():
            await asyncio.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        return longest

    assert asyncio.run(host()) < 0.1


def test_a_synchronous_call_inside_a_running_loop_does_not_deadlock(embeds: Embeds) -> None:  # F5
    embed = embeds()

    async def host() -> FAQ:
        return embed.get_faq("pricing")

    assert asyncio.run(host()) == PRICING


# Looking ahead, and looking after


def test_prefetch_fetches_side_by_side_and_pages_wait_for_nothing(
    way: Way, embeds: Embeds, faulty: FaultyServer
) -> None:
    slugs = [f"faq-{number}" for number in range(8)]
    for slug in slugs:
        faulty.serve(samples.record(slug))
    embed = embeds()
    way.prefetch(embed, *slugs, lang="ko")
    assert sorted((request.slug, request.lang) for request in faulty.log) == [(slug, "ko") for slug in slugs]
    faulty.behave(behaviours.hang)
    assert [way.use_faq(embed, slug, lang="ko", wait=0).source for slug in slugs] == ["memory"] * 8
    way.prefetch(embed, *slugs, lang="ko")
    way.prefetch(embed)
    assert len(faulty.log) == 8


def test_in_an_event_loop_prefetch_begins_and_does_not_wait(
    embeds: Embeds, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # F5
    embed = embeds(wait=5, timeout=30)
    faulty.behave(behaviours.hang)
    embed.get_ready()

    async def start() -> bool:
        embed.prefetch("pricing")
        embed.prefetch("pricing")
        return embed.use_faq("pricing").is_fetching

    begin = time.monotonic()
    assert asyncio.run(start())
    assert time.monotonic() - begin < 1
    assert lines(caplog) == [
        ("WARNING", "prefetch() does not wait in an event loop: await aprefetch() instead")
    ]


def test_in_an_event_loop_get_faq_waits_and_says_what_to_await(
    embeds: Embeds, caplog: pytest.LogCaptureFixture
) -> None:
    embed = embeds()

    async def ask() -> list[FAQ]:
        return [embed.get_faq("pricing"), embed.get_faq("pricing"), await embed.aget_faq("pricing")]

    assert asyncio.run(ask()) == [PRICING] * 3
    (said,) = lines(caplog)
    assert said == ("WARNING", "get_faq() holds the event loop up while it waits: await aget_faq() instead")


def test_prefetch_waits_once_for_all_and_logs_what_failed(
    way: Way, embeds: Embeds, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # R10
    embed = embeds(wait=0.2, timeout=2)
    faulty.behave(behaviours.hang)
    start = time.monotonic()
    way.prefetch(embed, *(f"faq-{number}" for number in range(10)))
    assert 0.18 < time.monotonic() - start < 0.2 + SLACK
    embed.close()
    assert lines(caplog) == []  # nothing failed yet
    faulty.behave(behaviours.status(500))
    way.prefetch(embed, "a", "b")
    wait_until(lambda: not embed.is_fetching)
    shown = "the service answered 500 for {0!r}; there is nothing to show"
    assert sorted(lines(caplog)) == [("WARNING", f"FAQ {slug!r}: " + shown.format(slug)) for slug in "ab"]


def test_forgetting_an_faq_asks_for_it_again(way: Way, embeds: Embeds, faulty: FaultyServer) -> None:
    faulty.serve(samples.record("other"))
    embed = embeds()
    for _ in range(2):
        way.get_faq(embed, "pricing")
        way.get_faq(embed, "pricing", lang="ko")
        way.get_faq(embed, "other")
        embed.forget("pricing")
    assert [request.slug for request in faulty.log] == ["pricing", "pricing", "other", "pricing", "pricing"]
    assert "if-none-match" not in faulty.log[-1].headers
    embed.forget()
    assert embed.health() == []


def test_forgetting_ends_a_back_off(way: Way, embeds: Embeds, faulty: FaultyServer, clock: Clock) -> None:
    embed = embeds()
    embed.cache.clock = clock.now
    faulty.behave(behaviours.status(503, {"Retry-After": "600"}))
    assert way.render(embed, "pricing") == ""
    faulty.behave(behaviours.healthy)
    assert way.render(embed, "pricing") == ""
    embed.forget("pricing")
    assert way.get_faq(embed, "pricing") == PRICING


def test_what_was_in_the_air_when_it_was_forgotten_does_not_come_back(
    embeds: Embeds, faulty: FaultyServer
) -> None:
    embed, release = embeds(timeout=10), threading.Event()
    faulty.behave(behaviours.held_until(release))
    old = list[FAQ]()
    waiting = threading.Thread(target=lambda: old.append(embed.get_faq("pricing")))
    waiting.start()
    faulty.wait_for_requests(1)
    embed.forget("pricing")
    edited = {**samples.pricing(), "title": "Edited"}

    def answer_anew(exchange: behaviours.Exchange) -> None:
        exchange.reply(200, behaviours._json(edited))

    faulty.behave(answer_anew)
    assert embed.get_faq("pricing").title == "Edited"  # by a flight of its own
    release.set()
    waiting.join(5)
    assert old == [PRICING]  # who asked before gets the answer to what was asked
    assert embed.get_faq("pricing").title == "Edited"
    assert len(faulty.log) == 2


def test_health_says_what_is_known_of_each_faq(
    embeds: Embeds, faulty: FaultyServer, clock: Clock
) -> None:  # R11
    embed = embeds(keep_for=10_000)
    embed.cache.clock = clock.now
    embed.cache.wall_clock = clock.wall
    assert embed.health() == []
    faulty.serve(samples.record("stays"), {"Cache-Control": "max-age=0", "ETag": ""})
    embed.get_faq("stays")
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=3600", "ETag": ""})
    embed.get_faq("pricing", lang="ko")
    embed.get_faq("pricing")
    embed.use_faq("unknown")
    faulty.behave(behaviours.status(503, {"Retry-After": "30"}))
    embed.use_faq("broken")
    requests = len(faulty.log)
    known = {(entry["slug"], entry["lang"]): entry for entry in embed.health()}
    assert list(known) == [
        ("broken", None),
        ("pricing", None),
        ("pricing", "ko"),
        ("stays", None),
        ("unknown", None),
    ]
    assert {key: entry["freshness"] for key, entry in known.items()} == {
        ("broken", None): "failed",
        ("pricing", None): "fresh",
        ("pricing", "ko"): "fresh",
        ("stays", None): "stale",
        ("unknown", None): "missing",
    }
    assert known["broken", None] | {"age": None} == {
        "slug": "broken",
        "lang": None,
        "freshness": "failed",
        "age": None,
        "error": "the service answered 503 for 'broken'",
        "next_try_in": 30.0,
    }
    assert known["unknown", None]["error"] == "the service knows no FAQ 'unknown' (404)"
    assert known["unknown", None]["next_try_in"] == 60.0
    next_try = known["pricing", None]["next_try_in"]
    assert next_try is not None
    assert 3600 <= next_try <= 3780
    assert known["stays", None]["next_try_in"] is None
    clock.advance(20_000)
    assert {entry["freshness"] for entry in embed.health() if entry["slug"] in ("pricing", "stays")} == {
        "expired"
    }
    assert len(faulty.log) == requests


def test_a_change_of_state_is_one_line_in_the_log(
    way: Way, embeds: Embeds, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:  # R10
    caplog.set_level(logging.INFO, "faqsvc_embed")
    embed = embeds()
    embed.cache.clock = clock.now

    def pages() -> None:
        for _ in range(5):
            way.render(embed, "pricing")
            landed(embed)
            way.render(embed, "pricing")
            clock.advance(4000)

    pages()
    assert lines(caplog) == []
    faulty.behave(behaviours.status(500))
    pages()
    failing = "FAQ 'pricing': the service answered 500 for 'pricing'; its last good copy is shown"
    assert lines(caplog) == [("WARNING", failing)]
    faulty.behave(behaviours.healthy)
    pages()
    assert lines(caplog) == [("INFO", "FAQ 'pricing': well again")]


@pytest.mark.parametrize("ends_by", ["keep_for", "404"])
def test_the_log_says_when_the_last_good_copy_is_no_longer_shown(
    ends_by: str, embeds: Embeds, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:  # R10
    caplog.set_level("INFO", "faqsvc_embed")
    embed = embeds(fresh_for=100, keep_for=3000 if ends_by == "keep_for" else None)
    faulty.serve(samples.pricing(), {"Cache-Control": ""})
    embed.cache.clock, embed.cache.chance = clock.now, lambda: 1.0

    def pages(number: int) -> list[tuple[str, str]]:
        for _ in range(number):
            embed.use_faq("pricing")
            landed(embed)
            clock.advance(1000)
        return lines(caplog)

    assert pages(1) == []
    faulty.behave(behaviours.status(500))
    failing = "FAQ 'pricing': the service answered 500 for 'pricing'; "
    assert pages(2) == [("WARNING", f"{failing}its last good copy is shown")]
    if ends_by == "404":
        faulty.behave(behaviours.status(404))
        failing = "FAQ 'pricing': the service knows no FAQ 'pricing' (404); "
    clock.advance(200)
    assert pages(3) == [("WARNING", f"{failing}there is nothing to show")]
    assert embed.use_faq("pricing").data is None
    faulty.behave(behaviours.healthy)
    assert pages(2) == [("INFO", "FAQ 'pricing': well again")]


def test_a_first_failure_after_keep_for_says_that_there_is_nothing_to_show(
    embeds: Embeds, faulty: FaultyServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:  # R10
    embed = embeds(keep_for=3000)
    embed.cache.clock = clock.now
    embed.use_faq("pricing")
    clock.advance(100_000)
    faulty.behave(behaviours.status(500))
    assert embed.use_faq("pricing").data is None
    shown = "the service answered 500 for 'pricing'; there is nothing to show"
    assert lines(caplog) == [("WARNING", f"FAQ 'pricing': {shown}")]


def test_foreign_text_is_quoted_in_the_log(
    embeds: Embeds, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # D6
    slug = "a\u2028WARNING forged"
    faulty.behave(behaviours.redirect("http://elsewhere/\x1b[31m"))
    embeds().render(slug)
    ((_, message),) = lines(caplog)
    assert "\\u2028WARNING forged" in message
    assert message.isprintable()


def test_an_embed_is_a_context_manager(way: Way, embeds: Embeds) -> None:
    embed = embeds()
    with embed as same:
        assert same is embed
        assert way.get_faq(embed, "pricing") == PRICING
    way.close(embed)
    assert way.get_faq(embed, "pricing") == PRICING


def test_an_embed_that_nobody_holds_any_longer_is_collected(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    embed = FAQEmbed(faulty.base_url)
    embed.get_faq("pricing")
    embed.render("pricing")
    embed.close()
    gone = list[bool]()
    weakref.finalize(embed, gone.append, True)
    del embed
    gc.collect()
    assert gone == [True]


# The functions


def test_the_functions_read_from_an_address_or_from_the_environment(
    faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    german = FAQ.from_dict(samples.multilingual()["de"])
    with shared_closed(faulty.base_url):
        assert get_faq("pricing", "de", base_url=faulty.base_url) == german
        assert asyncio.run(aget_faq("pricing", lang="de", base_url=faulty.base_url)) == german
        monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
        assert get_faq("pricing", "de") == german
        assert asyncio.run(aget_faq("pricing", "ko")) == FAQ.from_dict(samples.multilingual()["ko"])
        assert [request.lang for request in faulty.log] == ["de", "ko"]  # copies are held for the process
        with pytest.raises(FAQNotFound):
            get_faq("unknown")
        with pytest.raises(FAQNotFound):
            asyncio.run(aget_faq("a/b"))


@contextmanager
def shared_closed(base_url: str) -> Iterator[None]:
    """Close the embed that the functions keep for an address."""
    from faqsvc_embed.embed import _shared

    try:
        yield
    finally:
        _shared(base_url).close()


@pytest.mark.parametrize("call", [get_faq, lambda slug: asyncio.run(aget_faq(slug))], ids=["sync", "async"])
def test_the_functions_need_an_address(call: Callable[[str], FAQ]) -> None:
    with pytest.raises(ConfigurationError, match="base_url is not set"):
        call("pricing")


# What does not happen


WATCH: Final = """
import signal, sys
signal.alarm(20)
seen = []
watched = ("_thread.start_new_thread", "subprocess.Popen", "os.fork")
sys.addaudithook(lambda event, _: seen.append(event) if event in watched or event[:7] == "socket." else None)
"""


OFFLINE = "offline, and no copy of 'pricing' is held without store=\"file:DIRECTORY\""


def watched(code: str) -> str:
    """Run code in a process of its own and return what it printed; `seen` lists sockets and threads."""
    root = str(Path(faqsvc_embed.__file__).parent.parent)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FAQSVC_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCH + code],
        env={**environment, "PYTHONPATH": root},
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    ).stdout


def test_importing_and_making_one_opens_no_socket_and_starts_no_thread() -> None:  # R3
    code = """
import faqsvc_embed, faqsvc_embed.testing, faqsvc_embed.jinja
embed = faqsvc_embed.FAQEmbed("https://faq.example.com", api_key="fs_live_secret", lang="ko")
embed.forget(); embed.health(); embed.schema(); embed.close()
print(seen, "httpx2" in sys.modules, "asyncio" in sys.modules)
"""
    assert watched(code) == "[] False False\n"


def test_offline_touches_no_network(way: Way) -> None:  # R8
    code = f"""
import asyncio
from faqsvc_embed import FAQEmbed
embed = FAQEmbed("http://127.0.0.1:1", offline=True)
def call(method, *args):
    if {way.name!r} == "sync":
        return getattr(embed, method)(*args)
    with asyncio.Runner() as runner:
        runner.get_loop()
        seen.clear()  # an event loop has sockets of its own
        return runner.run(getattr(embed, "a" + method)(*args))
print(repr(call("render", "pricing")), repr(call("use_faq", "pricing").error), call("prefetch", "a", "b"))
try:
    call("get_faq", "pricing")
except Exception as error:
    print(type(error).__name__, error)
print(embed.health(), seen, "httpx2" in sys.modules)
"""
    assert watched(code).splitlines() == [
        f"Markup('') {FAQUnavailable(OFFLINE)!r} None",
        f"FAQUnavailable {OFFLINE}",
        "[] [] False",
    ]
