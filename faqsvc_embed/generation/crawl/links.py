"""The links of a page, in the order in which they probably lead to questions and answers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

import httpx2

from faqsvc_embed.generation.extraction.patterns import LANGUAGES, any_of
from faqsvc_embed.generation.extraction.questions import announces_faq

USUAL_PATHS: Final = ("/faq", "/faqs", "/help")
"""Paths that are tried if no link leads to an FAQ."""
MAX_SCORED: Final = 120
"""Characters that are searched for words: the last ones of a path, the first ones of a link text."""
MAX_RANKED: Final = 1_500
"""Links that are ranked: those with the shortest addresses, because FAQs are rarely deep in a site."""

_HELP = any_of(language.help_links for language in LANGUAGES)
_SHOP = any_of(language.shop_links for language in LANGUAGES)
_NOT_A_PAGE = re.compile(
    r"\.(?:7z|avi|css|csv|docx?|epub|exe|gif|gz|ico|jpe?g|js|json|mov|mp[34]|pdf|png|pptx?|rar|rss|svg|tar"
    r"|webp|xlsx?|xml|zip)$",
    re.IGNORECASE,
)


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
