"""The rules in a site's robots.txt (RFC 9309)."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

import httpx2
from protego import Protego

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import PRODUCT, PageFetcher
from faqsvc_embed.generation.crawl.ssrf import BlockedURL
from faqsvc_embed.generation.threads import run_in_thread

MAX_BYTES: Final = 512_000
"""Bytes of a robots.txt that are parsed (RFC 9309, 2.5, requires at least 500 KiB)."""

_USER_AGENT = re.compile(r"\s*user[\s-]*agent[\s:]*([*\w-]*)", re.IGNORECASE)


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
    lines = body[:MAX_BYTES].decode("utf-8-sig", "replace").splitlines()
    return Protego.parse("\n".join(_relevant_lines(lines)))


def _relevant_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the groups for this crawler and for all."""
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
