"""Headers with which a cache in front of the host finds and purges every response that shows an FAQ."""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from faqsvc_embed.api.fields import is_slug

MAX_LENGTH: Final = 1_000
"""Characters of tags in each header: nginx refuses a response whose head is larger than 4 kB."""

_SEPARATORS: Final = {"Cache-Groups": ", ", "Surrogate-Key": " ", "Cache-Tag": ","}
"""The names of RFC 9875, of Fastly and Varnish, and of Cloudflare and Akamai."""


def cache_tag_headers(slugs: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the headers with the tags of FAQs: name, separator and value of each.

    The tag of an FAQ is `faq-` and its slug, percent-encoded, so that no separator is in it.
    """
    tags = list(_fitting(f"faq-{quote(slug, safe='')}" for slug in slugs if is_slug(slug)))
    for name, separator in _SEPARATORS.items() if tags else ():
        own = [f'"{tag}"' if name == "Cache-Groups" else tag for tag in tags]  # RFC 9875: a list of strings
        yield name, separator, separator.join(own)


def _fitting(tags: Iterable[str]) -> Iterator[str]:
    """Yield the tags that fit into `MAX_LENGTH`."""
    room = MAX_LENGTH
    for tag in tags:
        length = len(f'"{tag}", ')
        if length <= room:
            room -= length
            yield tag
