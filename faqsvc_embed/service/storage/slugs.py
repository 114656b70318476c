"""Slugs for new FAQs: readable, in ASCII, and hard to guess."""

import re
import secrets
from typing import Final
from urllib.parse import urlsplit

from faqsvc_embed.text import normalized

MARKDOWN_SUFFIX: Final = ".md"
"""At the end of a page's URL, it selects Markdown (llmstxt.org). No new slug ends in it."""
GENERATE: Final = "generate"
"""At the end of the API's path, it selects a route of its own. No new FAQ has this slug."""
NOT_RESERVED: Final = f"one that is not {GENERATE!r} and does not end in {MARKDOWN_SUFFIX!r}"
MAX_READABLE: Final = 40
RANDOM: Final = 6

# Without digits and letters that look alike on paper.
_ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"


def new_slug(words: str, website_url: str) -> str:
    """Return a slug such as `acme-shop-k3x9m2`, made from `words`.

    If they have no Latin letters or digits, the slug is made from the host name.
    """
    readable = _ascii(words) or _ascii(urlsplit(website_url).hostname or "") or "faq"
    return f"{readable}-{''.join(secrets.choice(_ALPHABET) for _ in range(RANDOM))}"


def _ascii(text: str) -> str:
    """Return the Latin letters and digits of a text, without accents, with hyphens between words."""
    letters = normalized("NFKD", text).casefold().encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", letters))
    if len(words) <= MAX_READABLE:
        return words
    return words[: MAX_READABLE + 1].rpartition("-")[0] or words[:MAX_READABLE]
