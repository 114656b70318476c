"""Headers with which a cache in front of the host finds and purges every response that shows an FAQ."""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from faqsvc_embed.api.slugs import is_slug

MAX_LENGTH: Final = 1_000
"""Characters of tags in each header: nginx refuses a response whose head is larger than 4 kB."""

_SEPARATORS: Final = {"Cache-Groups": ", ", "Surrogate-Key": " ", "Cache-Tag": ","}
"""The names of RFC 9875, of Fastly and Varnish, and of Cloudflare and Akamai."""


def cache_tag(slug: str) -> str:
    """Return the tag of an FAQ: `faq-` and its slug, percent-encoded, so that no separator is in it."""
    return f"faq-{quote(slug, safe='')}"


def with_cache_tags(headers: Iterable[tuple[str, str]], slugs: Iterable[str]) -> list[tuple[str, str]]:
    """Return the headers of a response with the tags of its FAQs, after the tags that it has already."""
    tags = list(_fitting(cache_tag(slug) for slug in slugs if is_slug(slug)))
    if not tags:
        return list(headers)
    present, others = dict[str, list[str]](), list[tuple[str, str]]()
    for name, value in headers:
        tag_header = next((known for known in _SEPARATORS if known.lower() == name.lower()), None)
        if tag_header is not None:
            present.setdefault(tag_header, []).append(value)
        else:
            others.append((name, value))
    for name, separator in _SEPARATORS.items():
        own = [f'"{tag}"' if name == "Cache-Groups" else tag for tag in tags]  # RFC 9875: a list of strings
        others.append((name, separator.join([*present.get(name, ()), *own])))
    return others


def _fitting(tags: Iterable[str]) -> Iterator[str]:
    """Yield the tags that fit into `MAX_LENGTH`."""
    room = MAX_LENGTH
    for tag in tags:
        length = len(f'"{tag}", ')
        if length <= room:
            room -= length
            yield tag
