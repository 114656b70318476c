"""The fields of what is published or generated: their limits, and all that is wrong with one of them.

The specification states no limits. Ours keep a record within the 1 MiB that clients accept; client and
service share them, so that what is refused here is what would be refused there.
"""

import re
from collections.abc import Iterator
from typing import Final

from faqsvc_embed.api.reading import MAX_SLUG, is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import LANGUAGES

MAX_BODY: Final = 1_000_000
"""Bytes."""
MAX_ITEMS: Final = 1_000
MAX_QUESTION: Final = 1_000
MAX_ANSWER: Final = 20_000
MAX_NAME: Final = 200
MAX_URL: Final = 2_000

WEB_ADDRESS: Final = (
    r"^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9._~\u00a1-\u1fff\u3040-\ud7ff-]+"
    r"(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"([/?#][^\u0000-\u0020\u007f-\u00a0\u2028\u2029]*)?$"
)
"""A host by name, in any script, without user and password; behind it no white space and no controls."""

_WEB_ADDRESS = re.compile(WEB_ADDRESS)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def text_problems(path: str, text: object, longest: int) -> Iterator[str]:
    """Tell what is wrong with a text that has to be there."""
    if text is None:
        yield f"{path} is missing"
    elif not isinstance(text, str):
        yield f"{path} is {quoted(text)}, not text"
    elif not text.strip():
        yield f"{path} is empty"
    elif len(text) > longest:
        yield f"{path} has {len(text)} characters: at most {longest} are accepted"
    elif found := _UNSTORABLE.search(text):
        yield f"{path} has U+{ord(found[0]):04X} at character {found.start()}, which no text can hold"


def url_problems(url: object) -> Iterator[str]:
    """Tell what is wrong with the address of a website."""
    texts = list(text_problems("websiteUrl", url, MAX_URL))
    yield from texts
    if not texts and _WEB_ADDRESS.fullmatch(str(url)) is None:
        yield f"websiteUrl is {quoted(url)}: an address such as https://www.example.com is accepted"


def title_problems(title: object) -> Iterator[str]:
    """Tell what is wrong with a title, which may be left out."""
    if title is not None:
        yield from text_problems("title", title, MAX_NAME)


def lang_problems(lang: object) -> Iterator[str]:
    """Tell what is wrong with a language, which may be left out."""
    if lang is not None and not (isinstance(lang, str) and lang in LANGUAGES):
        yield f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted"


def slug_problems(slug: object) -> Iterator[str]:
    """Tell what is wrong with a slug, which may be left out."""
    if slug is not None and not is_slug(slug):
        yield (
            f"slug is {quoted(slug)}: 1 to {MAX_SLUG} characters without control characters, '/' and '\\' "
            "are accepted, but not '.' and '..'"
        )
