"""Large pages are read in a process of their own, with the same result."""

import asyncio

import anyio
import pytest

from faqsvc_embed.generation.crawl.fetcher import Response
from faqsvc_embed.generation.crawl.page import read_page
from faqsvc_embed.generation.crawl.page_process import LARGE_MARKUP, read_page_bounded
from tests.generation.websites import html

pytestmark = pytest.mark.system

LARGE = html(
    "<h1>FAQ</h1>" + "".join(f"<h3>Is it {n}?</h3><p>Yes: <b>{n}</b>.</p>" for n in range(LARGE_MARKUP // 5))
)
SLOW = html("<h1>FAQ</h1>" + "<blockquote>" * 90 + "<h2>What is it?</h2><p>It is a thing.</p>" * 9_000)


def response(page: str) -> Response:
    return Response("https://tea.example/faq", 200, "text/html", "utf-8", page.encode())


def test_a_large_page_is_read_as_a_small_one_is() -> None:
    page = asyncio.run(read_page_bounded(response(LARGE)))
    assert page == read_page(response(LARGE))
    assert len(page.pairs) == LARGE_MARKUP // 5


def test_reading_a_large_page_ends_when_it_is_cancelled() -> None:
    async def run() -> float:
        started = anyio.current_time()
        with anyio.move_on_after(0.2):
            await read_page_bounded(response(SLOW))
        return anyio.current_time() - started

    assert asyncio.run(run()) < 1.5
