"""Which pages of a website are read: the one that was named, then those where answers are likely."""

import html
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

import anyio
import anyio.to_thread
import httpx2

from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.generation.extraction.questions import names_faq
from faqsvc_embed.generation.guard import Refused
from faqsvc_embed.generation.pages import Link, Page, read_page
from faqsvc_embed.generation.robots import Robots
from faqsvc_embed.generation.visiting import CONNECTIONS, MAX_BYTES, Reply, Unreachable, Visitor

MAX_PAGES: Final = 12
MAX_SITEMAPS: Final = 3
MAX_ADDRESSES: Final = 5_000
"""Of one sitemap."""
GUESSES: Final = ("/faq", "/faqs", "/help")
"""Where an FAQ often is, tried if nothing on the site leads to one."""
READERS: Final = 2
"""Threads of this process that take pages apart."""
HTML: Final = ("text/html", "application/xhtml+xml", "")

_LIKELY = re.compile(
    r"help|support|question|answer|how-to|howto|guide|knowledge|hilfe|fragen|antwort|aide|assistance|ayuda"
    r"|preguntas|dudas|고객|도움말|문의|안내|質問|ヘルプ|サポート|ガイド|帮助|問題|问题|支持",
    re.IGNORECASE,
)
_USEFUL = re.compile(
    r"shipping|delivery|return|refund|pricing|price|plan|contact|about|terms|versand|lieferung|preise|kontakt"
    r"|livraison|retour|tarif|contact|env[ií]o|devolu|precio|contacto|배송|환불|요금|送料|返品|料金|配送|退款|价格",
    re.IGNORECASE,
)
_NO_PAGE = re.compile(
    r"\.(?:7z|avi|css|csv|docx?|epub|exe|gif|gz|ico|jpe?g|js|json|mov|mp[34]|pdf|png|pptx?|rar|rss|svg|tar|webp|xlsx?|xml|zip)$",
    re.IGNORECASE,
)
_LOCATION = re.compile(r"<(?:\w{1,20}:)?loc>((?:[^<]|<!\[CDATA\[){1,2000})<", re.ASCII)

_readers = anyio.CapacityLimiter(READERS)


class Site:
    """A visit to a website; `pages` grows while it goes on, so that a deadline leaves what was read."""

    def __init__(self, visitor: Visitor, url: str, lang: str | None, *, max_pages: int = MAX_PAGES) -> None:
        self.pages: list[Page] = []
        self._visitor = visitor
        self._robots = Robots(visitor)
        self._url = url
        self._lang = lang
        self._max_pages = max_pages
        self._seen = set[str]()

    async def visit(self) -> None:
        """Read the page that was named, then the likeliest others of its site.

        Raises:
            Refused: the page that was named may not be read.
            Unreachable: it gave no page.
        """
        start = await self._read(self._url)
        self._note(start)
        origin = httpx2.URL(start.url)
        delay = await self._robots.delay(origin)
        places = iter(await self._likeliest(start, origin))
        if delay:
            for place in places:
                await anyio.sleep(delay)
                await self._add(place)
        else:
            async with anyio.create_task_group() as tasks:
                for _ in range(CONNECTIONS):
                    tasks.start_soon(self._add_all, places)

    async def _add_all(self, places: Iterable[str]) -> None:
        for place in places:
            await self._add(place)

    async def _add(self, place: str) -> None:
        if len(self._seen) >= self._max_pages or place in self._seen:
            return
        self._seen.add(place)
        with suppress(Refused, Unreachable):  # it is one page of many
            self._note(await self._read(place))

    def _note(self, page: Page) -> None:
        self._seen.add(page.url)
        if all(page.url != other.url for other in self.pages):
            self.pages.append(page)

    async def _read(self, url: str) -> Page:
        reply = await self._visitor.get(url, permit=self._robots.check)
        if reply.status != 200:
            raise Unreachable(f"{quoted(reply.url)} answers {reply.status}: an address of a page is accepted")
        if reply.media_type not in HTML:
            raise Unreachable(
                f"{quoted(reply.url)} is {quoted(reply.media_type)}: a page in HTML is accepted"
            )
        return await anyio.to_thread.run_sync(read_page, reply, abandon_on_cancel=True, limiter=_readers)

    async def _likeliest(self, start: Page, origin: httpx2.URL) -> list[str]:
        """Return addresses of the same site, the likeliest first."""
        links = [*start.links, *(Link(url, "") for url in await self._sitemap(origin))]
        scores: dict[str, float] = {}
        for link in links:
            if (place := self._place(link.url, origin)) is not None:
                scores[place] = max(scores.get(place, -1.0), self._score(place, link))
        if not any(names_faq(httpx2.URL(place).path) for place in scores):
            scores |= {str(origin.join(guess)): 2.0 for guess in GUESSES}
        return sorted(scores, key=lambda place: -scores[place])[: 3 * self._max_pages]

    def _place(self, url: str, origin: httpx2.URL) -> str | None:
        """Return an address if it is another page of the site."""
        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError):
            return None
        if (
            parsed.scheme not in ("http", "https")
            or _NO_PAGE.search(parsed.path)
            or not _same_site(parsed, origin)
        ):
            return None
        return str(parsed.copy_with(fragment=None))

    def _score(self, place: str, link: Link) -> float:
        url = httpx2.URL(place)
        words = f"{re.sub(r'[-_/.+]', ' ', url.path)} {url.host.partition('.')[0]} {link.text}"
        score = 8.0 * names_faq(words) + 4.0 * bool(_LIKELY.search(words)) + 1.0 * bool(_USEFUL.search(words))
        if self._lang is not None and link.lang is not None:
            score += 10.0 if link.lang == self._lang else -10.0
        return score - 0.1 * url.path.count("/") - 0.5 * bool(url.query)

    async def _sitemap(self, origin: httpx2.URL) -> list[str]:
        waiting = await self._robots.sitemaps(origin) or [str(origin.copy_with(raw_path=b"/sitemap.xml"))]
        found: list[str] = []
        for _ in range(MAX_SITEMAPS):
            if not waiting:
                break
            place = waiting.pop(0)
            for location in await self._locations(origin, place):
                (waiting if re.search(r"\.xml(?:\.gz)?$", location) else found).append(location)
            waiting.sort(key=lambda place: (not names_faq(place), "page" not in place))
        return found[:MAX_ADDRESSES]

    async def _locations(self, origin: httpx2.URL, place: str) -> list[str]:
        """Return what a sitemap lists, nothing if it is none."""
        try:
            reply = await self._visitor.get(
                str(origin.join(place)), accept="application/xml", permit=self._robots.check
            )
        except (FAQError, httpx2.InvalidURL, ValueError):
            return []
        if reply.status != 200:
            return []
        return await anyio.to_thread.run_sync(_listed, reply, abandon_on_cancel=True, limiter=_readers)


def _listed(reply: Reply) -> list[str]:
    """Return the addresses in a sitemap."""
    # Two tags of a flat file: no parser of XML, and none of what can be done to one.
    text = _unpacked(reply).decode("utf-8", "replace")
    found = (location[1].strip() for location in islice(_LOCATION.finditer(text), MAX_ADDRESSES))
    plain = (one.removeprefix("<![CDATA[").removesuffix("]]>").strip() for one in found)
    return [html.unescape(one) for one in plain if one]


def _unpacked(reply: Reply) -> bytes:
    if not reply.body.startswith(b"\x1f\x8b"):
        return reply.body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(reply.body, MAX_BYTES)
    except zlib.error:
        return b""


def _same_site(url: httpx2.URL, origin: httpx2.URL) -> bool:
    """Tell whether two addresses are of one site: of one host, with `www.` or below it."""
    host, home = url.host.removeprefix("www."), origin.host.removeprefix("www.")
    if (url.port or 0) != (origin.port or 0):
        return False
    return host == home or host.endswith(f".{home}")
