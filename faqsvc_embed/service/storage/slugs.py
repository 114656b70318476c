"""Slugs for new FAQs: readable, in ASCII, and hard to guess."""

import re
import secrets
import unicodedata
from typing import Final
from urllib.parse import urlsplit

from faqsvc_embed.errors import quoted
from faqsvc_embed.service.storage.values import ReservedSlug
from faqsvc_embed.text import is_name, normalized

MARKDOWN_SUFFIX: Final = ".md"
"""The end of a page's URL that selects Markdown (llmstxt.org). No new slug ends in it."""
GENERATE: Final = "generate"
"""The end of an API path that is a route of its own. No new FAQ has this slug."""
NOT_RESERVED: Final = f"one that is not {GENERATE!r} and does not end in {MARKDOWN_SUFFIX!r}"
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are invisible in fonts."""
_JOINER: Final = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d\ufe0f]")
MAX_READABLE: Final = 40
RANDOM: Final = 6

# Without digits and letters that look alike on paper.
_ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"


def new_slug(website_name: str, website_url: str) -> str:
    """Return a slug such as `acme-shop-k3x9m2`, made from the name of a website.

    If it has no Latin letters or digits, the slug is made from the host name.
    """
    readable = _ascii(website_name) or _ascii(urlsplit(website_url).hostname or "") or "faq"
    return f"{readable}-{''.join(secrets.choice(_ALPHABET) for _ in range(RANDOM))}"


def check_new(slug: str) -> None:
    """Raise ReservedSlug if a new FAQ cannot have this slug."""
    if slug == GENERATE or slug.endswith(MARKDOWN_SUFFIX):
        raise ReservedSlug(f"The slug {quoted(slug)} is reserved: choose {NOT_RESERVED}")
    if not _is_visible(slug):
        raise ReservedSlug(f"The slug {slug!a} has invisible characters, or a space at an end: remove them")


def _is_visible(slug: str) -> bool:
    """Return whether a reader sees every character of a slug, in order.

    Otherwise, two FAQs could have slugs that look the same. Not accepted are spaces at the ends, format
    characters such as those for writing directions, and characters without a glyph (Unicode, 23.2 and 23.4).
    Joiners are accepted after a letter or sign that they may join, as in Persian and in emoji.
    """
    text = _JOINER.sub("", slug)
    return (
        is_name(text)
        and slug == slug.strip()
        and not any(
            char in _BLANK
            or (char.isspace() and char != " ")
            or unicodedata.category(char) in ("Cf", "Co")
            or "VARIATION SELECTOR" in unicodedata.name(char, "")
            for char in text
        )
    )


def _ascii(text: str) -> str:
    """Return the Latin letters and digits of a text, without accents, with hyphens between words."""
    letters = normalized("NFKD", text).casefold().encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", letters))
    if len(words) <= MAX_READABLE:
        return words
    return words[: MAX_READABLE + 1].rpartition("-")[0] or words[:MAX_READABLE]
