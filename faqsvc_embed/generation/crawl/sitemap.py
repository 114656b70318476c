"""The pages and further sitemaps that a sitemap lists (sitemaps.org)."""

import html
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The locations in a sitemap: pages, and the best of the sitemaps in a sitemap index."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parse_sitemap(body: bytes) -> Sitemap:
    """Parse a sitemap or a sitemap index, which may be compressed with gzip. Invalid ones are empty."""
    text = _decompressed(body).decode("utf-8", "replace")
    texts = (match[1].strip() for match in islice(_LOCATION.finditer(text), MAX_LOCATIONS))
    locations = [html.unescape(text.removeprefix("<![CDATA[").removesuffix("]]>").strip()) for text in texts]
    return Sitemap(
        pages=tuple(location for location in locations if location and not _SITEMAP.search(location)),
        sitemaps=best_sitemaps(location for location in locations if _SITEMAP.search(location)),
    )


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
