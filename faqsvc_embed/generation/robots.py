"""robots.txt of the sites that are visited, honoured as RFC 9309 has it."""

import httpx2
from protego import Protego

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.guard import Refused
from faqsvc_embed.generation.visiting import PRODUCT, Visitor

MAX_BYTES = 512_000
"""Of a robots.txt, those that are read (RFC 9309, 2.5, asks for 500 KiB at least)."""
LONGEST_DELAY = 5.0
"""Seconds between two pages, where a site asks for more."""


class Robots:
    """What each origin of a visit allows, asked once."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._rules: dict[str, Protego] = {}

    async def check(self, url: httpx2.URL) -> None:
        """Return if this page may be read.

        Raises:
            Refused: the site's robots.txt disallows it, or cannot be read because the site fails.
            Unreachable: the site does not answer at all.
        """
        rules = await self._of(url)
        if not rules.can_fetch(str(url), PRODUCT):
            raise Refused(f"{quoted(str(url))} is not visited: robots.txt of its site disallows {PRODUCT}")

    async def sitemaps(self, url: httpx2.URL) -> list[str]:
        """Return the addresses of the sitemaps that the site names."""
        return list((await self._of(url)).sitemaps)

    async def delay(self, url: httpx2.URL) -> float:
        """Return how many seconds the site wants between two pages, five at most."""
        return min(float((await self._of(url)).crawl_delay(PRODUCT) or 0.0), LONGEST_DELAY)

    async def _of(self, url: httpx2.URL) -> Protego:
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        if origin not in self._rules:
            reply = await self._visitor.get(f"{origin}/robots.txt", accept="text/plain")
            if reply.status >= 500 or reply.status == 429:  # RFC 9309, 2.3.1.4: not to be guessed
                raise Refused(
                    f"{origin} is not visited: its robots.txt answers {reply.status}; try again later"
                )
            text = reply.body[:MAX_BYTES].decode("utf-8-sig", "replace") if reply.status == 200 else ""
            self._rules.setdefault(origin, Protego.parse(text))
        return self._rules[origin]
