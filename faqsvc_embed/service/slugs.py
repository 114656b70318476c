"""Names for new FAQs: readable, in ASCII, and not to be guessed or taken twice."""

import re
import secrets
import unicodedata
from typing import Final
from urllib.parse import urlsplit

READABLE: Final = 40
RANDOM: Final = 6

# Digits and letters that nobody takes for one another when a slug is read out or typed from paper.
_ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"


def new_slug(words: str, website_url: str) -> str:
    """Return a slug such as `acme-shop-k3x9m2`, made of `words`, or of the host if they are not Latin."""
    readable = _ascii(words) or _ascii(urlsplit(website_url).hostname or "") or "faq"
    return f"{readable}-{''.join(secrets.choice(_ALPHABET) for _ in range(RANDOM))}"


def _ascii(text: str) -> str:
    """Return the Latin letters and the digits of a text, without accents, its words joined by hyphens."""
    letters = unicodedata.normalize("NFKD", text).casefold().encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", letters))
    if len(words) <= READABLE:
        return words
    return words[: READABLE + 1].rpartition("-")[0] or words[:READABLE]
