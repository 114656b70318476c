"""How FAQs get onto a page: one state for each FAQ, one time budget, one rendering for all pages."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined

from faqsvc_embed import FAQ, FAQEmbed, FAQState
from faqsvc_embed.jinja import install
from faqsvc_embed.page.page import REQUEST, Page
from faqsvc_embed.testing import fake_embed, fake_faqs
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.pages import environment, renders
from tests.support.parsed import page_of, summary
from tests.support.waiting import settle

OLD = FAQ.from_dict(samples.record("pricing", ("Old?", "Old.")))
NEW = FAQ.from_dict(samples.record("pricing", ("New?", "New.")))
LEGAL = FAQ.from_dict(samples.record("legal", ("Who?", "We.")))

Render = Callable[..., str]
Use = Callable[..., FAQState]
uses: pytest.MarkDecorator = pytest.mark.parametrize(
    "use",
    [
        lambda embed, *args, **options: embed.use_faq(*args, **options),
        lambda embed, *args, **options: asyncio.run(embed.ause_faq(*args, **options)),
    ],
    ids=["sync", "async"],
)


@contextmanager
def request(page: Page | None = None) -> Iterator[Page]:
    """Enter the page of a request, as an adapter does."""
    page = page or Page()
    token = REQUEST.set(page)
    try:
        yield page
    finally:
        REQUEST.reset(token)


def replace_faq(embed: FAQEmbed, faq: FAQ) -> None:
    """Let a new version of an FAQ arrive."""
    embed.forget(faq.slug)
    fake_faqs(embed, {faq.slug: faq})


def with_counter(embed: FAQEmbed) -> list[str]:
    """Let the host override the template, and return a list that grows with each rendering."""
    rendered = list[str]()
    template = (
        "<p>{{ rendered(faq.slug) }}</p>{% for item in items %}<h3>{{ item.question }}</h3>{% endfor %}"
    )
    host = Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": template}))

    def count(slug: str) -> int:
        rendered.append(slug)
        return len(rendered)

    host.globals["rendered"] = count
    install(host, embed)
    return rendered


# One state for each FAQ


@renders
def test_a_page_shows_one_version_of_an_faq_though_another_arrives(render: Render) -> None:
    embed = fake_embed({"pricing": OLD})
    with request(), embed.page():
        state = embed.use_faq("pricing")
        first = render(embed, "pricing")
        replace_faq(embed, NEW)
        assert embed.use_faq("pricing") is state
        assert summary(first + render(embed, "pricing")).faqs == [["Old?"], ["Old?"]]
    assert summary(render(embed, "pricing")) == page_of(NEW)


@pytest.mark.parametrize(
    "call", ['{{ faq("pricing") }}', '{% faq "pricing" %}', '{{ faq("pricing", lang=none) }}']
)
def test_a_template_shows_the_state_that_its_hook_had(call: str) -> None:
    embed = fake_embed({"pricing": OLD})
    template = environment(embed).from_string(
        f'{{% set state = use_faq("pricing") %}}{{{{ refresh() }}}}{call}'
    )
    html = template.render(refresh=lambda: replace_faq(embed, NEW))
    assert summary(html).faqs == [["Old?"]]


@uses
def test_each_language_of_an_faq_has_a_state_of_its_own(use: Use) -> None:
    embed = fake_embed({"pricing": OLD})
    with request():
        assert use(embed, "pricing", lang="ko") is not use(embed, "pricing", lang="de")
        assert use(embed, "pricing", lang="ko") is use(embed, "pricing", lang="ko-KR")


def test_two_embeds_do_not_share_states_on_a_page() -> None:
    one, other = fake_embed({"pricing": OLD}), fake_embed({"pricing": NEW})
    with request():
        assert (one.use_faq("pricing").data, other.use_faq("pricing").data) == (OLD, NEW)


# One time budget


def test_the_event_loop_runs_on_while_a_page_waits(faulty: FaultyServer) -> None:
    async def host() -> FAQState:
        waiting = asyncio.create_task(embed.ause_faq("pricing", wait=5))
        await asyncio.sleep(0)
        assert not waiting.done()
        release.set()  # by the loop itself: a blocked one would never do it
        return await waiting

    release = threading.Event()
    faulty.serve(OLD.to_dict())
    faulty.behave(behaviours.held_until(release))
    with FAQEmbed(faulty.base_url) as embed:
        assert asyncio.run(host()).data == OLD


# One rendering for all pages


@pytest.mark.parametrize("own", [False, True], ids=["slug", "record"])
@renders
def test_an_faq_is_rendered_once_for_all_pages(render: Render, own: bool) -> None:
    embed = fake_embed({"pricing": OLD}, cache_overrides=True)
    rendered, what = with_counter(embed), OLD if own else "pricing"
    pages = list[str]()
    for _ in range(3):
        with request(), embed.page():
            pages.append(render(embed, what) + render(embed, what))
    assert len(set(pages)) == 1
    assert len(rendered) == 2  # the second FAQ of a page has ids of its own
    render(embed, what, heading_level=4)
    assert len(rendered) == 3
    if not own:
        replace_faq(embed, NEW)
        assert "New?" in render(embed, what)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"styles": "none"},
        {"styles": "linked"},
        {"variant": "disclosure"},
        {"show_title": False, "theme": {"accentColor": "teal"}},
    ],
    ids=str,
)
def test_a_page_from_the_cache_is_as_the_first(settings: dict[str, Any]) -> None:
    embed = fake_embed({"pricing": OLD, "legal": LEGAL}, **settings)
    template = environment(embed).from_string('{% faq "pricing" %}{% faq "legal" %}')
    for nonce in (None, "n"):
        first = template.render(csp_nonce=nonce)
        assert summary(first).faqs == [["Old?"], ["Who?"]]
        assert template.render(csp_nonce=nonce) == first


def test_an_embed_renders_a_record_in_its_own_way() -> None:
    one, other = fake_embed({}), fake_embed({}, show_title=False)
    first = one.render(OLD)
    assert other.render(OLD) == one.render(OLD, show_title=False) != first == one.render(OLD)


@pytest.mark.parametrize("theme", ["{'accentColor': missing}", "{'accentColor': []}", "odd"])
def test_a_theme_that_cannot_be_read_falls_back(theme: str) -> None:
    class Odd(dict[str, str]):
        def __hash__(self) -> int:  # type: ignore[override]
            raise ArithmeticError

    embed = fake_embed({"pricing": OLD})
    host = environment(embed, undefined=StrictUndefined)
    template = host.from_string(f"{{{{ faq('pricing', theme={theme}) }}}}")
    assert [template.render(odd=Odd()) for _ in range(2)] == [embed.render("pricing")] * 2


# What is missing


@renders
def test_pages_that_lack_a_slow_faq_are_logged_once(
    render: Render, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    faulty.serve(OLD.to_dict())
    release = threading.Event()
    faulty.behave(behaviours.held_until(release))
    caplog.set_level(logging.INFO, "faqsvc_embed")
    with FAQEmbed(faulty.base_url, wait=0.01) as embed:
        for _ in range(3):
            with request():
                assert render(embed, "pricing") == ""
        (record,) = caplog.records
        assert (record.levelname, "'pricing'" in record.getMessage()) == ("WARNING", True)
        release.set()
        settle(embed)
        assert summary(render(embed, "pricing")) == page_of(OLD)


# The log


@renders
@pytest.mark.parametrize("source", ["folder", "offline"])
def test_each_faq_that_nothing_provides_is_logged_once(
    render: Callable[..., str], source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings: dict[str, Any] = {"directory": tmp_path} if source == "folder" else {"offline": True}
    faqs = FAQEmbed(None if source == "folder" else "https://faq.invalid", **settings)
    for slug in ("prices", "about", "prices", "contact", "about"):
        assert render(faqs, slug) == ""
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == 3
    for slug, line in zip(("prices", "about", "contact"), lines, strict=True):
        assert f"'{slug}'" in line


def test_invented_slugs_do_not_repeat_what_was_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pricing.md").write_text("# Prices\n\n## How much?\n\nNothing.\n")
    faqs = FAQEmbed(directory=tmp_path)
    for number in range(2_000):
        faqs.render("pricing", colour="red")  # type: ignore[call-arg]
        faqs.render(f"invented-{number}")
    assert sum("'colour'" in record.getMessage() for record in caplog.records) == 1
