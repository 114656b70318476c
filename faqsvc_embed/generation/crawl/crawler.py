"""Crawls a website: the given page first, then those that probably have questions and answers.

No page is requested that the site's robots.txt disallows (RFC 9309).
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Final

import anyio
import httpx2
from protego import Protego

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import MAX_CONNECTIONS, PRODUCT, FetchError, PageFetcher
from faqsvc_embed.generation.crawl.page import Link, Page
from faqsvc_embed.generation.crawl.page_process import PageReader
from faqsvc_embed.generation.crawl.ssrf import BlockedURL
from faqsvc_embed.generation.extraction.patterns import any_of
from faqsvc_embed.generation.extraction.questions import announces_faq
from faqsvc_embed.generation.threads import run_in_thread

MAX_PAGES: Final = 12
HTML: Final = ("text/html", "application/xhtml+xml", "")
USUAL_PATHS: Final = ("/faq", "/faqs", "/help")
"""Paths that are tried if no link of the given page leads to an FAQ."""
MIN_SCORE: Final = 6.0
"""The score from which a link leads to an FAQ."""
MAX_SCORED: Final = 120
"""Characters that are searched for words: the last ones of a path, the first ones of a link text."""
MAX_ROBOTS: Final = 512_000
"""Bytes of a robots.txt that are parsed (RFC 9309, 2.5, requires at least 500 KiB)."""

_HELP = any_of("help_links")
_SHOP = any_of("shop_links")
_NOT_A_PAGE = re.compile(
    r"\.(?:7z|avi|css|csv|docx?|epub|exe|gif|gz|ico|jpe?g|js|json|mov|mp[34]|pdf|png|pptx?|rar|rss|svg|tar"
    r"|webp|xlsx?|xml|zip)$",
    re.IGNORECASE,
)
_USER_AGENT = re.compile(r"\s*user[\s-]*agent[\s:]*([*\w-]*)", re.IGNORECASE)


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
        self._waiting = list[str]()
        """The pages to be read, the best last."""

    async def crawl(self) -> None:
        """Read the given page, then the best links of its site; pages in `lang` are preferred.

        Raises:
            BlockedURL: the given page must not be requested.
            FetchError: the given page cannot be read.
        """
        async with aclosing(self._reader):
            start = await self._read(self._url)
            self._add(start)
            # Three times `max_pages`, because some pages do not exist, or redirect to others that were read.
            self._waiting = await self._ranked_links(start, 3 * self._max_pages)
            async with anyio.create_task_group() as tasks:
                for _ in range(MAX_CONNECTIONS):
                    tasks.start_soon(self._read_links)

    async def _read_links(self) -> None:
        """Read pages one after the other, and next those that a page without questions calls an FAQ."""
        while self._waiting and len(self._requested) < self._max_pages:
            url = self._waiting.pop()
            if url in self._requested:
                continue
            self._requested.add(url)
            try:
                page = await self._read(url)
            except PageNotFound:
                continue  # links are often out of date, and `USUAL_PATHS` are guesses
            except (BlockedURL, FetchError) as error:
                self.failures[url] = str(error)
                continue
            self._add(page)
            if not page.pairs:
                self._waiting += await self._ranked_links(page, self._max_pages, MIN_SCORE)

    async def _ranked_links(self, page: Page, limit: int, minimum: float = -math.inf) -> list[str]:
        """Return the best links of a page to pages of the site; the best is the last."""
        site = self.pages[0].url
        return await run_in_thread(partial(rank_links, page.links, site, self._lang, limit, minimum))

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
            refusal = " (it may refuse programs: save the page as a browser shows it, and read that file)"
            reason = refusal if response.status in (401, 403, 429) else ""
            raise FetchError(f"{quoted(response.url)} has status {response.status}, not 200{reason}")
        if response.media_type not in HTML:
            raise FetchError(f"{quoted(response.url)} is {quoted(response.media_type)}, not HTML")
        return await self._reader.read(response)


def rank_links(
    links: Iterable[Link], site: str, lang: str | None, limit: int, minimum: float = -math.inf
) -> list[str]:
    """Return the URLs of the best links to pages of a site, without fragments; the best is the last."""
    home = httpx2.URL(site)
    scores: dict[str, float] = {}
    leads_to_faq = False
    for link in links:
        url = _page_url(link.url, home)
        if url is not None:
            key = str(url)
            scores[key] = max(scores.get(key, -1.0), _score(url, link, lang))
            leads_to_faq = leads_to_faq or announces_faq(url.path)
    if not leads_to_faq:
        scores |= {str(home.join(path)): 2.0 for path in USUAL_PATHS}
    good = (url for url in scores if scores[url] >= minimum)
    return sorted(good, key=lambda url: -scores[url])[:limit][::-1]


def _page_url(address: str, home: httpx2.URL) -> httpx2.URL | None:
    """Return the URL of a page of the site, or None for anything else."""
    try:
        url = httpx2.URL(address.partition("#")[0])
    except (httpx2.InvalidURL, ValueError):
        return None
    is_page = url.scheme in ("http", "https") and _NOT_A_PAGE.search(url.path) is None
    return url if is_page and _is_same_site(url, home) else None


def _is_same_site(url: httpx2.URL, home: httpx2.URL) -> bool:
    """Return whether a URL has the host of the site, or a host below it, and the same port."""
    host, home_host = url.host.removeprefix("www."), home.host.removeprefix("www.")
    return url.port == home.port and (host == home_host or host.endswith(f".{home_host}"))


def _score(url: httpx2.URL, link: Link, lang: str | None) -> float:
    words = f"{re.sub(r'[-_/.+]', ' ', url.path[-MAX_SCORED:])} {url.host.partition('.')[0]} "
    words += link.text[:MAX_SCORED]
    score = 8.0 * announces_faq(words) + 4.0 * bool(_HELP.search(words)) + 1.0 * bool(_SHOP.search(words))
    if lang is not None and link.lang is not None:
        score += 10.0 if link.lang == lang else -10.0
    return score - 0.1 * url.path.count("/") - 0.5 * bool(url.query)


class RobotsPolicy:
    """The rules of the sites of one crawl. Each robots.txt is fetched once."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, Protego] = {}

    async def check(self, url: httpx2.URL) -> None:
        """Check that a URL may be requested.

        Raises:
            BlockedURL: robots.txt disallows it, or the site fails to serve its robots.txt.
            FetchError: the site does not respond.
        """
        rules = await self._rules_for(url)
        if not await run_in_thread(partial(rules.can_fetch, str(url), PRODUCT)):
            raise BlockedURL(f"{quoted(str(url))} is blocked: robots.txt of its site disallows {PRODUCT}")

    async def _rules_for(self, url: httpx2.URL) -> Protego:
        """Return the rules of the site of a URL."""
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        if origin not in self._rules:
            response = await self._fetcher.fetch(f"{origin}/robots.txt", accept="text/plain")
            if response.status >= 500 or response.status == 429:  # RFC 9309, 2.3.1.4
                raise BlockedURL(
                    f"{origin} is blocked: its robots.txt has status {response.status}; try again later"
                )
            body = response.body if response.status == 200 else b""
            self._rules.setdefault(origin, await run_in_thread(partial(parse_robots, body)))
        return self._rules[origin]


def parse_robots(body: bytes) -> Protego:
    """Parse a robots.txt, in time and memory that are linear in its size.

    Protego copies the rules of a group for every crawler that the group names. So it gets only the groups for
    this crawler and for all crawlers, each with one name.
    """
    lines = body[:MAX_ROBOTS].decode("utf-8-sig", "replace").splitlines()
    return Protego.parse("\n".join(_relevant_lines(lines)))


def _relevant_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the groups for this crawler and for all crawlers."""
    names: set[str] = set()
    in_rules = True
    for line in lines:
        if match := _USER_AGENT.match(line):
            if in_rules:
                names, in_rules = set(), False
            name = match[1].lower()
            if name in ("*", PRODUCT) and name not in names:
                names.add(name)
                yield f"User-agent: {name}"
        elif line.strip() and not line.lstrip().startswith("#"):
            in_rules = in_rules or line.lstrip()[:7].lower() != "sitemap"  # a Sitemap line is in no group
            if names:
                yield line
