"""The pages and further sitemaps that a sitemap lists (sitemaps.org)."""

import html
import re
import zlib
from collections.abc import Iterable
from itertools import islice
from typing import Final

from faqsvc_embed.generation.crawl.fetcher import MAX_BYTES
from faqsvc_embed.generation.extraction.questions import announces_faq

MAX_LOCATIONS: Final = 5_000
"""Locations of a sitemap that are read."""
MAX_SITEMAPS: Final = 3
"""Sitemaps of a site that are read."""

# Only one element matters: a pattern finds it, without the vulnerabilities of XML parsers.
_LOCATION = re.compile(r"<(?:\w{1,20}:)?loc>((?:[^<]|<!\[CDATA\[){1,2000})<", re.ASCII)
_SITEMAP = re.compile(r"\.xml(?:\.gz)?$")


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
