"""Headers by which a cache in front can find, and purge, every response with an FAQ."""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from faqsvc_embed.api.slugs import is_slug

MAX_LENGTH: Final = 1_000
"""Characters of each header for the tags of FAQs: nginx refuses a response whose head is larger than 4 kB."""

_SEPARATORS: Final = {"Cache-Groups": ", ", "Surrogate-Key": " ", "Cache-Tag": ","}
"""The names of RFC 9875, of Fastly and Varnish, and of Cloudflare and Akamai."""


def cache_tag(slug: str) -> str:
    """Return the tag of an FAQ: `faq-` and its slug, percent-encoded, so that no separator is in it."""
    return f"faq-{quote(slug, safe='')}"


def with_cache_tags(headers: Iterable[tuple[str, str]], slugs: Iterable[str]) -> list[tuple[str, str]]:
    """Return headers with the tags of some FAQs, after the tags that a response has already."""
    tags = list(_fitting(cache_tag(slug) for slug in slugs if is_slug(slug)))
    present, others = dict[str, list[str]](), list[tuple[str, str]]()
    for name, value in headers:
        known = next((known for known in _SEPARATORS if known.lower() == name.lower()), None)
        if tags and known is not None:
            present.setdefault(known, []).append(value)
        else:
            others.append((name, value))
    for name, separator in _SEPARATORS.items() if tags else ():
        own = [f'"{tag}"' if name == "Cache-Groups" else tag for tag in tags]  # RFC 9875: a list of strings
        others.append((name, separator.join([*present.get(name, ()), *own])))
    return others


def _fitting(tags: Iterable[str]) -> Iterator[str]:
    room = MAX_LENGTH
    for tag in tags:
        length = len(f'"{tag}", ')
        if length <= room:
            room -= length
            yield tag
