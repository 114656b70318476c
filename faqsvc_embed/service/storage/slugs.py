"""Slugs for new FAQs: the words of their titles, in ASCII."""

import re
import secrets
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.models.element_ids import ascii_words
from faqsvc_embed.service.storage.errors import ReservedSlug
from faqsvc_embed.text import is_name

MARKDOWN_SUFFIX: Final = ".md"
"""The end of a page's URL that selects Markdown (llmstxt.org). No new slug ends in it."""
GENERATE: Final = "generate"
"""The end of an API path that is a route of its own. No new FAQ has this slug."""
NOT_RESERVED: Final = f"one that is not {GENERATE!r} and does not end in {MARKDOWN_SUFFIX!r}"
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are invisible in fonts."""
_JOINER: Final = re.compile(
    "(?<=[^\x00-\x7f])[\u200c-\u200d\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    "|(?<=[\u1820-\u18aa])[\u180b-\u180e]|(?<=[\u3400-\u9fff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
    "|(?<=\U0001f3f4)[\U000e0030-\U000e007a]+\U000e007f"
)
MAX_NEW: Final = 100
"""Characters of a slug that is made from a title, without the number that may follow."""
_COUNTED: Final = 9
"""Numbers that are tried one by one before larger ones are drawn."""


def proposed_slug(title: str, website_name: str) -> str:
    """Return the words of a title as a slug; without any in Latin letters, those of the website's name."""
    return ascii_words(title, MAX_NEW) or ascii_words(website_name, MAX_NEW) or "faq"


def numbered(slug: str) -> Iterator[str]:
    """Yield a slug, and then the slug with numbers, for as long as the ones before are taken."""
    if slug != GENERATE:
        yield slug
    yield from (f"{slug}-{number}" for number in range(2, _COUNTED + 1))
    for digits in count(2):  # one random number of two digits, one of three, and so on
        yield f"{slug}-{secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1)}"


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
    Joiners and variation selectors are accepted after a letter or sign that they may join or vary, as in
    Persian, Mongolian, Japanese names, keys and flags.
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
