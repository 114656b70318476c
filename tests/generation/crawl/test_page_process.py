"""Large pages are read in a process of their own, with the same result."""

import asyncio
import gc
import sys
from contextlib import aclosing, suppress
from pathlib import Path

import anyio
import pytest

from faqsvc_embed.generation.crawl.fetcher import Response
from faqsvc_embed.generation.crawl.page import Page, read_page
from faqsvc_embed.generation.crawl.page_process import LARGE_MARKUP, PageReader
from tests.generation.websites import html
from tests.support.embeds import SLACK, seconds

pytestmark = pytest.mark.system

LARGE = html(
    "<h1>FAQ</h1>" + "".join(f"<h3>Is it {n}?</h3><p>Yes: <b>{n}</b>.</p>" for n in range(LARGE_MARKUP // 5))
)
SLOW = html("<h1>FAQ</h1>" + "<blockquote>" * 90 + "<h2>What is it?</h2><p>It is a thing.</p>" * 9_000)


def response(page: str) -> Response:
    return Response("https://tea.example/faq", 200, "text/html", "utf-8", page.encode())


async def read(*pages: str) -> list[Page]:
    async with aclosing(PageReader()) as reader:
        return [await reader.read(response(page)) for page in pages]


def test_large_pages_are_read_as_small_ones_are() -> None:
    pages = asyncio.run(read(LARGE, LARGE))
    assert pages == [read_page(response(LARGE))] * 2
    assert len(pages[0].pairs) == LARGE_MARKUP // 5


def test_a_large_page_is_read_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert asyncio.run(read(LARGE)) == [read_page(response(LARGE))]


def test_a_page_is_read_after_a_cancelled_one() -> None:
    async def run() -> Page:
        async with aclosing(PageReader()) as reader:
            with anyio.move_on_after(0.2):
                await reader.read(response(SLOW))
            return await reader.read(response(LARGE))

    assert len(asyncio.run(run()).pairs) == LARGE_MARKUP // 5


def test_cancelling_while_the_process_starts_leaves_nothing_open() -> None:
    async def run(seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await read(LARGE)

    for number in range(20):
        asyncio.run(run(number / 1000))
        gc.collect()  # an open pipe or a process that still runs would be a warning here


def test_reading_a_large_page_ends_when_it_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled_by_anyio() -> None:
        with anyio.move_on_after(0.2):
            await read(LARGE)

    async def cancelled_by_asyncio() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await read(LARGE)

    hanging = tmp_path / "python"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(hanging))
    assert seconds(lambda: asyncio.run(cancelled_by_anyio())) < SLACK
    assert seconds(lambda: asyncio.run(cancelled_by_asyncio())) < SLACK
