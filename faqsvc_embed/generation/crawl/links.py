"""The links of a site, in the order in which they probably lead to questions and answers.

Its sitemaps (sitemaps.org) list pages, and further sitemaps.
"""

import html
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import Final

import httpx2

from faqsvc_embed.generation.crawl.fetcher import MAX_BYTES
from faqsvc_embed.generation.extraction.patterns import LANGUAGES, any_of
from faqsvc_embed.generation.extraction.questions import announces_faq

USUAL_PATHS: Final = ("/faq", "/faqs", "/help")
"""Paths that are tried if no link leads to an FAQ."""
MAX_SCORED: Final = 120
"""Characters that are searched for words: the last ones of a path, the first ones of a link text."""
MAX_RANKED: Final = 1_500
"""Links that are ranked: those with the shortest addresses, because FAQs are rarely deep in a site."""
MAX_LOCATIONS: Final = 5_000
"""Locations of a sitemap that are read."""
MAX_SITEMAPS: Final = 3
"""Sitemaps of a site that are read."""

_HELP = any_of(language.help_links for language in LANGUAGES)
_SHOP = any_of(language.shop_links for language in LANGUAGES)
_NOT_A_PAGE = re.compile(
    r"\.(?:7z|avi|css|csv|docx?|epub|exe|gif|gz|ico|jpe?g|js|json|mov|mp[34]|pdf|png|pptx?|rar|rss|svg|tar"
    r"|webp|xlsx?|xml|zip)$",
    re.IGNORECASE,
)
# Only one element matters: a pattern finds it, without the vulnerabilities of XML parsers.
_LOCATION = re.compile(r"<(?:\w{1,20}:)?loc>((?:[^<]|<!\[CDATA\[){1,2000})<", re.ASCII)
_SITEMAP = re.compile(r"\.xml(?:\.gz)?$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its text, and the language of its target if the page states it."""

    url: str
    text: str = ""
    lang: str | None = None


def rank_links(links: Iterable[Link], site: str, lang: str | None, limit: int) -> list[str]:
    """Return the URLs of the best links to pages of a site, without fragments."""
    home = httpx2.URL(site)
    scores: dict[str, float] = {}
    leads_to_faq = False
    for link in nsmallest(MAX_RANKED, links, key=lambda link: len(link.url)):
        url = _page_url(link.url, home)
        if url is not None:
            key = str(url)
            scores[key] = max(scores.get(key, -1.0), _score(url, link, lang))
            leads_to_faq = leads_to_faq or announces_faq(url.path)
    if not leads_to_faq:
        scores |= {str(home.join(path)): 2.0 for path in USUAL_PATHS}
    return sorted(scores, key=lambda url: -scores[url])[:limit]


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


def parse_sitemap(body: bytes) -> tuple[list[str], tuple[str, ...]]:
    """Return the pages in a sitemap and the best sitemaps in an index; either may be compressed by gzip."""
    text = _decompressed(body).decode("utf-8", "replace")
    texts = (match[1].strip() for match in islice(_LOCATION.finditer(text), MAX_LOCATIONS))
    found = (html.unescape(text.removeprefix("<![CDATA[").removesuffix("]]>").strip()) for text in texts)
    locations = list(filter(None, found))
    pages = [location for location in locations if not _SITEMAP.search(location)]
    return pages, best_sitemaps(location for location in locations if _SITEMAP.search(location))


def best_sitemaps(sitemaps: Iterable[str]) -> tuple[str, ...]:
    """Return the `MAX_SITEMAPS` best sitemaps: first those about FAQs, then those of pages."""
    ranked = sorted(sitemaps, key=lambda location: (not announces_faq(location), "page" not in location))
    return tuple(ranked[:MAX_SITEMAPS])


def _decompressed(body: bytes) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, MAX_BYTES)
    except zlib.error:
        return b""
