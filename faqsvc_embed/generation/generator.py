"""Generates an FAQ from a website: crawls it, and gives the pages to an engine. Nothing is stored."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import anyio
from msgspec.structs import replace

from faqsvc_embed.api.contract import DroppedEntry, GenerateResponse, ReadPage
from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.crawler import Crawler
from faqsvc_embed.generation.crawl.fetcher import PageFetcher, default_ssl_context
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.crawl.ssrf import Endpoint
from faqsvc_embed.generation.engines.protocol import Engine, GenerationRequest, Reason
from faqsvc_embed.generation.threads import run_in_thread

TIMEOUT: Final = 30.0
"""Seconds for one generation."""
MAX_DROPPED: Final = 100
"""Dropped questions and pages that are reported."""


async def generate(
    request: GenerationRequest,
    engine: Engine,
    *,
    allowed: frozenset[Endpoint] = frozenset(),
    timeout: float = TIMEOUT,
    report: Callable[[Page], None] = lambda page: None,
) -> GenerateResponse:
    """Return the questions and answers that an engine makes of a website.

    If the crawl takes too long, the engine gets the pages that were read. `allowed` are endpoints that may be
    requested although they are not public. `report` is called with each page as soon as it is read.

    Raises:
        BlockedURL: the website must not be requested.
        FetchError: the website cannot be read.
        EngineError: the engine fails.
        TimeoutError: no page was read, or the engine did not finish, within `timeout` seconds.
    """
    with anyio.fail_after(timeout):
        ssl_context = await run_in_thread(default_ssl_context)
        async with aclosing(PageFetcher(allowed, ssl_context=ssl_context)) as fetcher:
            crawler = Crawler(
                fetcher, request.website_url, lang=request.lang, max_pages=request.max_pages, report=report
            )
            with anyio.move_on_after(engine.crawl_time_fraction * timeout) as crawl:
                await crawler.crawl()
        if not crawler.pages:
            raise TimeoutError(f"no page of {quoted(request.website_url)} was read in time")
        result = await engine.generate_items(crawler.pages, request)
    unreadable = [DroppedEntry(url, Reason.UNREADABLE, reason) for url, reason in crawler.failures.items()]
    cut = ["There was not enough time to read all pages."] if crawl.cancelled_caught else []
    return GenerateResponse(
        [replace(item, position=position) for position, item in enumerate(result.items)],
        [ReadPage(page.url, page.tag, len(page.pairs)) for page in crawler.pages],
        [*unreadable, *result.dropped][:MAX_DROPPED],
        result.notes + cut,
    )
