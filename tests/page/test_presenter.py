"""How FAQs get onto a page: one state a page, what is remembered, and what is said when one is missing."""

import asyncio
import html
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined

from faqsvc_embed import FAQ, FAQEmbed, FAQUnavailable
from faqsvc_embed.api.reading import CachePolicy, Found, Validators
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.jinja import install
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from faqsvc_embed.runtime.steps import Steps
from faqsvc_embed.testing import fake_embed
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.blocks import alone, block
from tests.support.faulty import FaultyServer

OLD = FAQ.from_dict(samples.record("pricing", ("Old?", "Old.")))
NEW = FAQ.from_dict(samples.record("pricing", ("New?", "New.")))


@contextmanager
def one_page() -> Iterator[Page]:
    """Be inside one response, as an adapter is."""
    token = pages.begin(page := Page())
    try:
        yield page
    finally:
        pages.end(token)


def land(embed: FAQEmbed, faq: FAQ) -> None:
    """Let a refresh end that brought `faq`."""
    embed.cache.apply(Key(faq.slug, None), Found(faq, CachePolicy(), Validators()))


# One state a page


@pytest.mark.parametrize("begins", ["with the hook", "with a block"])
@pytest.mark.parametrize("is_rendered_before", [True, False])
def test_a_refresh_that_lands_while_a_page_is_made_changes_nothing_on_it(
    begins: str, is_rendered_before: bool
) -> None:  # U4
    embed = fake_embed({"pricing": OLD})
    embed.render("pricing")
    with one_page():
        state = embed.use_faq("pricing")
        first = "" if begins == "with the hook" else embed.render("pricing")
        land(embed, NEW)
        if is_rendered_before:
            embed.showing.render(Page(), "pricing")  # by another page, so that it is at hand
        second = embed.render("pricing")
        assert embed.use_faq("pricing") is state
        assert first + second == (alone(OLD) if not first else f"{alone(OLD)}{block(OLD, 2)}")
    assert embed.render("pricing") == alone(NEW)


def test_what_an_earlier_state_looked_like_is_not_remembered_for_a_later_one() -> None:  # U4
    embed = fake_embed({"pricing": OLD})
    with one_page():
        embed.use_faq("pricing")
        land(embed, NEW)
        assert embed.render("pricing") == alone(OLD)
    assert embed.render("pricing") == alone(NEW)


@pytest.mark.parametrize(
    "call", ['{{ faq("pricing") }}', '{% faq "pricing" %}', '{{ faq("pricing", lang=none) }}']
)
def test_a_template_shows_the_state_that_its_hook_had(call: str) -> None:  # U4
    embed, environment = fake_embed({"pricing": OLD}), Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(f'{{% set state = use_faq("pricing") %}}{{{{ refresh() }}}}{call}')

    def refresh() -> str:
        land(embed, NEW)
        embed.showing.render(Page(), "pricing")  # another page, by which the new one is at hand
        return ""

    assert template.render(refresh=refresh) == alone(OLD)


# What is remembered


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return which block of its record on a page it is, of each that is rendered from now on."""
    ordinals, steps = list[int](), Renderer.steps

    def noting(renderer: Renderer, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        ordinals.append(ordinal)
        return steps(renderer, faq, look, ordinal)

    monkeypatch.setattr(Renderer, "steps", noting)
    return ordinals


def test_every_block_of_a_page_is_rendered_once_for_all_pages(rendered: list[int]) -> None:  # A14
    embed, expected = fake_embed({"pricing": OLD}), f"{alone(OLD)}{block(OLD, 2)}{block(OLD, 3)}"
    rendered.clear()
    for _ in range(3):
        with one_page():
            assert "".join(embed.render("pricing") for _ in range(3)) == expected
    assert rendered == [1, 2, 3]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"styles": "none"},
        {"styles": "linked"},
        {"variant": "disclosure"},
        {"answer_format": "markdown"},
        {"splice": True},
        {"show_title": False, "theme": {"accentColor": "teal"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("nonce", [None, "n"])
def test_a_page_of_what_is_at_hand_is_as_the_first(
    settings: dict[str, Any], nonce: str | None
) -> None:  # A14
    records = {
        slug: samples.record(slug, (f"What is {slug}?", f"It is *{slug}*.")) for slug in ("one", "two")
    }
    environment = Environment(autoescape=True)
    install(environment, fake_embed(records, **settings))
    template = environment.from_string('{% faq "one" %}{% faq "two" %}')

    def page_made() -> bytes:
        with one_page() as page:
            return page.merge(template.render(csp_nonce=nonce).encode())

    first = page_made()
    assert first.count(b'class="faqsvc-question"') == 2
    assert (b"*one*" in first) is ("answer_format" not in settings)
    assert [page_made(), page_made()] == [first, first]


def test_a_record_of_the_hosts_own_is_rendered_once_a_look(rendered: list[int]) -> None:  # A14
    embed, own = fake_embed({}), FAQ.from_dict(samples.record("own", ("Whose?", "Mine.")))
    plain = alone(own)
    page = f"{plain}{block(own, 2)}"
    rendered.clear()
    for _ in range(3):
        with one_page():
            assert embed.render(own) + embed.render(own) == page
    assert rendered == [1, 2]
    in_teal = embed.render(own, theme={"accentColor": "teal"})
    assert in_teal not in (plain, embed.render(own, theme={"accentColor": "navy"}))
    assert embed.render(own, theme={"accentColor": "teal"}) == in_teal
    assert asyncio.run(embed.arender(own, theme={"accentColor": "teal"})) == in_teal
    assert len(rendered) == 4
    embed.render(FAQ.from_dict(own.to_dict()))
    assert len(rendered) == 5


def test_what_the_hook_returned_is_rendered_once_for_all_pages(rendered: list[int]) -> None:  # A14, U1
    embed = fake_embed({"pricing": OLD})
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(
        '{% set state = use_faq("pricing") %}{{ faq(state.data) }}{{ faq(state.data, heading_level=none) }}'
    )
    pages_made = {template.render() for _ in range(3)}
    assert len(pages_made) == 1
    assert len(rendered) == 2


def test_no_record_is_hashed_to_find_what_was_rendered_of_it() -> None:
    """To hash a record is to read all of it, and one with a `cta` cannot be hashed."""

    class Unhashed(FAQ, frozen=True):
        def __hash__(self) -> int:
            hashed.append(self.slug)
            return 0

    hashed = list[str]()
    own, environment = (
        Unhashed.from_dict(samples.record("own", ("Whose?", "Mine."))),
        Environment(autoescape=True),
    )
    install(environment, fake_embed({}))
    template = environment.from_string("{% faq own %}{{ faq(own) }}{{ faq(own, variant='open') }}")
    assert template.render(own=own) == template.render(own=own)
    assert hashed == []


def test_an_embed_renders_a_record_in_its_own_way_whatever_another_made_of_it() -> None:
    own = FAQ.from_dict(samples.record("own", ("Whose?", "Mine.")))
    one, other = fake_embed({}), fake_embed({}, show_title=False)
    shown = one.render(own)
    assert other.render(own) == one.render(own, show_title=False) != shown == one.render(own)


def test_a_template_of_the_hosts_renders_its_own_records_each_time() -> None:
    """It may show what changes: a global, or a `cta` that is no part of what ours show."""
    embed, number = fake_embed({}), count(1)
    host = Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": "<p>{{ visitor() }}</p>"}))
    host.globals["visitor"] = lambda: next(number)
    install(host, embed)
    shown = [embed.render(OLD, schema=False, nonce=None).partition("</p>")[0] for _ in range(3)]
    assert [text.rpartition("<p>")[2] for text in shown] == ["1", "2", "3"]


def test_templates_that_come_later_render_what_was_rendered_before() -> None:
    own = FAQ.from_dict(samples.record("own", ("Whose?", "Mine.")))
    early, late = fake_embed({"pricing": OLD}), fake_embed({"pricing": OLD})
    before = early.render(own), early.render("pricing")
    for embed in (early, late):
        theirs = '{% extends "faqsvc/block.html" %}{% block title %}!{% endblock %}'
        install(Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": theirs})), embed)
    assert (
        (early.render(own), early.render("pricing")) == (late.render(own), late.render("pricing")) != before
    )


def arrive_together(embed: FAQEmbed, tasks: int, cancel: int = 0) -> list[object]:
    """Show a long FAQ in so many tasks at once, of which the first may be cancelled while they render."""

    async def show() -> str:
        with one_page():
            return await embed.arender("long", theme={"accentColor": "teal"})

    async def all_of_them() -> list[object]:
        showing = [asyncio.create_task(show()) for _ in range(tasks)]
        await asyncio.sleep(0.01)
        for task in showing[:cancel]:
            task.cancel()
        return list(await asyncio.gather(*showing, return_exceptions=True))

    return asyncio.run(all_of_them())


@pytest.fixture
def long_ones(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Slow rendering down, and return what is added to by each."""
    begun, steps = list[int](), Renderer.steps

    def slowly(renderer: Renderer, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        begun.append(ordinal)
        for _ in range(30):
            time.sleep(0.0015)
            yield
        return (yield from steps(renderer, faq, look, ordinal))

    monkeypatch.setattr(Renderer, "steps", slowly)
    return begun


def test_tasks_that_show_the_same_at_once_render_it_once(long_ones: list[int]) -> None:
    embed = fake_embed({"long": samples.large(3)})
    shown = arrive_together(embed, 20)
    assert (len(shown), len(set(shown)), long_ones) == (20, 1, [1])


def test_a_task_that_is_cancelled_while_it_renders_leaves_it_to_one_other(long_ones: list[int]) -> None:
    embed = fake_embed({"long": samples.large(3)})
    first, *others = arrive_together(embed, 20, cancel=1)
    assert (type(first), len(set(others)), long_ones) == (asyncio.CancelledError, 1, [1, 1])
    assert "faqsvc" in str(others[0])


def test_what_must_not_be_remembered_is_rendered_by_each_task(long_ones: list[int]) -> None:
    embed, number = fake_embed({"long": samples.large(1)}), count(1)
    host = Environment(
        autoescape=True, loader=DictLoader({"faqsvc/faq.html": "<p>{{ visitor() }}</p>"}), auto_reload=False
    )
    host.globals["visitor"] = lambda: next(number)
    install(host, embed)
    shown = arrive_together(embed, 5)
    assert (len(set(shown)), long_ones) == (5, [1] * 5)


@pytest.mark.parametrize("how", ["it is edited", "another is installed"])
def test_what_a_former_template_made_meanwhile_is_not_remembered(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, embed = {"faqsvc/faq.html": "<p>Old</p>"}, fake_embed({"long": samples.large(1)})
    install(Environment(autoescape=True, loader=DictLoader(theirs)), embed)
    is_made, may_end, steps = threading.Event(), threading.Event(), Renderer.steps

    def late(renderer: Renderer, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        block = yield from steps(renderer, faq, look, ordinal)
        if not is_made.is_set():
            is_made.set()
            assert may_end.wait(10)
        return block

    monkeypatch.setattr(Renderer, "steps", late)
    before = list[str]()
    page = threading.Thread(target=lambda: before.append(embed.render("long")))
    page.start()
    assert is_made.wait(10)
    theirs["faqsvc/faq.html"] = "<p>New</p>"
    if how == "it is edited":
        embed.render("long", heading_level=4)  # by another page, which sees the edit
    else:
        install(Environment(autoescape=True, loader=DictLoader(theirs)), embed)
    may_end.set()
    page.join()
    assert ["<p>New</p>" in html for html in (*before, embed.render("long"))] == [False, True]


def test_what_cannot_be_rendered_fails_in_each_task_by_itself(long_ones: list[int]) -> None:
    embed = fake_embed({"long": samples.large(1)})
    install(Environment(loader=DictLoader({"faqsvc/faq.html": "{{ 1 / 0 }}"})), embed)
    assert (set(arrive_together(embed, 5)), long_ones) == ({""}, [1] * 5)


@pytest.mark.parametrize("call", ["faq('pricing', theme=theme)", "faq(own, theme=theme)"])
@pytest.mark.parametrize("theme", ["{'accentColor': missing}", "{'accentColor': []}", "odd"])
def test_a_theme_that_cannot_be_looked_up_is_shown_as_far_as_it_goes(call: str, theme: str) -> None:

    class Odd(dict[str, str]):
        def __hash__(self) -> int:  # type: ignore[override]
            raise ArithmeticError

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    install(environment, fake_embed({"pricing": OLD}))
    template = environment.from_string(f"{{% set theme = {theme} %}}{{{{ {call} }}}}")
    assert [template.render(odd=Odd(), own=OLD) for _ in range(2)] == [alone(OLD)] * 2


def test_another_version_has_blocks_of_its_own() -> None:
    embed = fake_embed({"pricing": OLD})
    for faq in (OLD, NEW):
        land(embed, faq)
        for _ in range(2):
            with one_page():
                assert embed.render("pricing") + embed.render("pricing") == f"{alone(faq)}{block(faq, 2)}"


# What is said when one is missing


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    lines = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "faqsvc_embed"]
    caplog.clear()
    return lines


LATE = "'pricing' did not arrive within 0.01 s, all that a page waits for its FAQs"
ARRIVED = ("INFO", "FAQ 'pricing': it has arrived")


@pytest.mark.parametrize("way", ["render", "arender"])
def test_a_page_that_goes_without_a_slow_faq_is_told_of_when_that_begins_and_when_it_ends(
    way: str, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:  # R2, R10
    caplog.set_level("INFO", "faqsvc_embed")
    held_up = threading.Event()

    def slow(exchange: behaviours.Exchange) -> None:
        held_up.wait(5)
        behaviours.healthy(exchange)

    faulty.serve(samples.record("pricing"))
    faulty.behave(slow)
    with FAQEmbed(faulty.base_url, wait=0.01) as embed:

        def render() -> str:
            with one_page():
                return str(
                    asyncio.run(embed.arender("pricing")) if way == "arender" else embed.render("pricing")
                )

        begins = f"FAQ {LATE}; pages go without it until it has arrived"
        assert [render(), logged(caplog)] == ["", [("WARNING", begins)]]
        assert [render(), logged(caplog)] == ["", []]
        held_up.set()
        embed.get_faq("pricing")
        assert (render() != "", logged(caplog)) == (True, [ARRIVED])
        assert (render() != "", logged(caplog)) == (True, [])


def test_in_development_a_slow_faq_says_its_slug_the_wait_and_what_to_do(faulty: FaultyServer) -> None:  # R4
    faulty.behave(behaviours.hang)
    with FAQEmbed(faulty.base_url, wait=0.01) as embed:
        with one_page() as page:
            page.shows_problems = True
            shown = html.unescape(embed.render("pricing"))
        assert f"FAQ {LATE}; it is shown once it has arrived. Fetch it before, by prefetch()," in shown
    with (
        FAQEmbed(faulty.base_url, wait=0.01, strict=True) as strict,
        pytest.raises(FAQUnavailable, match=r"'pricing' did not arrive within 0\.01 s"),
    ):
        strict.render("pricing")
