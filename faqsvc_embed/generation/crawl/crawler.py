"""Crawls a website: the given page first, then those that probably have questions and answers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Final

import anyio

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import MAX_CONNECTIONS, FetchError, PageFetcher
from faqsvc_embed.generation.crawl.links import rank_links
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.crawl.page_process import PageReader
from faqsvc_embed.generation.crawl.robots import RobotsPolicy
from faqsvc_embed.generation.crawl.ssrf import BlockedURL
from faqsvc_embed.generation.threads import run_in_thread

MAX_PAGES: Final = 12
HTML: Final = ("text/html", "application/xhtml+xml", "")


class PageNotFound(FetchError):
    """A page does not exist (404, 410)."""


class Crawler:
    """Reads the pages of a site.

    `pages` and `failures` grow during the crawl, and stay if the crawl is cancelled. `failures` has the URLs
    that could not be read, with the reasons. `report` is called with each page as soon as it is read.
    """

    def __init__(
        self,
        fetcher: PageFetcher,
        url: str,
        *,
        lang: str | None = None,
        max_pages: int = MAX_PAGES,
        report: Callable[[Page], None] = lambda page: None,
    ) -> None:
        self.pages: list[Page] = []
        self.failures: dict[str, str] = {}
        self._report = report
        self._fetcher = fetcher
        self._reader = PageReader()
        self._robots = RobotsPolicy(fetcher)
        self._url = url
        self._lang = lang
        self._max_pages = max_pages
        self._requested = set[str]()

    async def crawl(self) -> None:
        """Read the given page, then the best links of its site; pages in `lang` are preferred.

        Raises:
            BlockedURL: the given page must not be requested.
            FetchError: the given page cannot be read.
        """
        async with aclosing(self._reader):
            await self._crawl()

    async def _crawl(self) -> None:
        start = await self._read(self._url)
        self._add(start)
        if self._max_pages == 1:
            return
        # Three times as many as are read: some will be missing, or redirect to pages that were read already.
        rank = partial(rank_links, start.links, start.url, self._lang, 3 * self._max_pages)
        urls = self._unrequested(await run_in_thread(rank))
        async with anyio.create_task_group() as tasks:
            for _ in range(MAX_CONNECTIONS):
                tasks.start_soon(self._read_links, urls)

    def _unrequested(self, urls: Iterable[str]) -> Iterator[str]:
        for url in urls:
            if len(self._requested) >= self._max_pages:
                return
            if url not in self._requested:
                self._requested.add(url)
                yield url

    async def _read_links(self, urls: Iterator[str]) -> None:
        """Read pages one after the other."""
        for url in urls:
            try:
                self._add(await self._read(url))
            except PageNotFound:
                continue  # links are often out of date, and `USUAL_PATHS` are guesses
            except (BlockedURL, FetchError) as error:
                self.failures[url] = str(error)

    def _add(self, page: Page) -> None:
        self._requested.add(page.url)
        if all(page.url != other.url for other in self.pages):
            self.pages.append(page)
            self._report(page)

    async def _read(self, url: str) -> Page:
        """Return the page of a URL; raises FetchError if it is not HTML with status 200."""
        response = await self._fetcher.fetch(url, check=self._robots.check)
        if response.status in (404, 410):
            raise PageNotFound(f"{quoted(response.url)} does not exist ({response.status})")
        if response.status != 200:
            raise FetchError(f"{quoted(response.url)} has status {response.status}, not 200")
        if response.media_type not in HTML:
            raise FetchError(f"{quoted(response.url)} is {quoted(response.media_type)}, not HTML")
        return await self._reader.read(response)
