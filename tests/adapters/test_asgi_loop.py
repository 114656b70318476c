"""The event loop of the host goes on while long FAQs are rendered."""

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from faqsvc_embed import FAQ, FAQEmbed, Item
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import aget, get
from tests.support.pages import environment
from tests.support.parsed import page_of, summary

SHORT = FAQ.from_dict(samples.pricing())
LONG = FAQ.from_dict(samples.large(500))
TINY = FAQ("tiny", items=tuple(Item(n, f"{n}?", "So.") for n in range(2_000)))
"""A long record of short texts: its elements take long."""
FAQS = {"pricing": SHORT, "large": LONG, "tiny": TINY}


class Threads:
    """An embed whose template notes in which thread it is rendered."""

    def __init__(self) -> None:
        self.by_slug = dict[str, str]()
        theirs = {"faqsvc/faq.html": "{{ note(faq.slug) }}{{ items[0].answer }}"}
        self.embed = fake_embed(FAQS)
        self.environment = environment(self.embed, theirs)
        self.environment.globals["note"] = self._note

    def _note(self, slug: str) -> str:
        is_main = threading.current_thread() is threading.main_thread()
        self.by_slug[slug] = "loop" if is_main else "thread"
        return ""

    def visit(self, source: str) -> dict[str, str]:
        """Return where the FAQs of a template were rendered, by slug."""
        self.by_slug.clear()
        template = self.environment.from_string(source)

        async def endpoint(request: Request) -> Response:
            return HTMLResponse(template.render())

        app = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=self.embed)
        get(app)
        return self.by_slug


def test_long_faqs_are_rendered_in_a_thread() -> None:
    threads = Threads()
    assert threads.visit('{{ faq("pricing") }}') == {"pricing": "loop"}
    assert threads.visit('{{ faq("large") }}{{ faq("pricing") }}') == {"large": "thread", "pricing": "loop"}


@pytest.mark.parametrize("options", ["", "theme={'questionSize': 20}", "heading_level=3", "variant='open'"])
@pytest.mark.parametrize("slug", ["large", "tiny"])
def test_so_are_those_in_another_style(slug: str, options: str) -> None:
    assert Threads().visit(f"{{{{ faq('{slug}', {options}) }}}}") == {slug: "thread"}


def test_a_long_faq_that_is_awaited_is_rendered_in_a_thread() -> None:
    threads = Threads()
    threads.embed.render("pricing")

    async def main() -> None:
        await threads.embed.arender("large")
        await threads.embed.arender("pricing", heading_level=3)

    asyncio.run(main())
    assert threads.by_slug == {"large": "thread", "pricing": "loop"}


@pytest.fixture
def no_collection() -> Iterator[None]:
    """A collection of the garbage of this test run takes longer than anything here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # about what an earlier test has left
        gc.collect()
    gc.disable()
    yield
    gc.enable()


def longest_turn(embed: FAQEmbed) -> float:
    """Return the longest processor time that the loop's thread takes without a pause, for a page."""
    embed.render("pricing")
    template = environment(embed).from_string('{{ faq("long") }}{{ faq("pricing") }}')
    turns, over = list[float](), False

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(template.render())

    async def beat() -> None:
        last = time.thread_time()
        while not over:
            await asyncio.sleep(0)
            now = time.thread_time()
            turns.append(now - last)
            last = now

    async def main() -> None:
        nonlocal over
        beats = asyncio.create_task(beat())
        await asyncio.sleep(0)
        app = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=embed)
        assert (await aget(app)).body.count(b"<section ") == 2
        over = True
        await beats

    asyncio.run(main())
    return max(turns)


@pytest.mark.system
@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    "record",
    [
        samples.record("long", ("What?", "<" * 200_000)),
        samples.record("long", ("What?", "a" + "\u0301" * 200_000)),
        samples.record("long", *((f"What about number {n}?", "It is so.") for n in range(1_000))),
    ],
    ids=["one answer", "combining marks", "many questions"],
)
def test_a_long_faq_does_not_block_the_loop(record: dict[str, object]) -> None:
    faqs = {"pricing": SHORT, "long": FAQ.from_dict(record)}
    assert any(longest_turn(fake_embed(faqs)) < 0.02 for _ in range(20))


def test_a_page_with_a_long_faq_has_what_other_pages_have() -> None:
    embed = fake_embed(FAQS)
    template = environment(embed).from_string('{{ faq("large") }}{{ faq("pricing") }}')

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(template.render())

    app = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=embed)
    for _ in range(2):
        page = summary(get(app).body)
        assert page._replace(styles=1) == page_of(LONG, SHORT)  # at first, the short one is printed before
