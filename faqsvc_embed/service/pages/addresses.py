"""Addresses that people wrote, in any script, as headers and Markdown need them: in ASCII (RFC 3986)."""

import re
from typing import Final
from urllib.parse import quote

import idna

MAX_LINKS: Final = 700
"""Characters of a Link header: nginx refuses a response whose head is larger than 4 kB."""

_SAFE: Final = "%/:?#[]@!$&'()*+,;=~"


def ascii_url(url: str) -> str:
    """Return a URL with its host in punycode, and everything after it percent-encoded."""
    scheme, separator, rest = url.partition("://")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    path = quote(rest[len(authority) :], safe=_SAFE, errors="replace")
    return f"{scheme}{separator}{_ascii_authority(authority)}{path}"


def link_header(*links: tuple[str, str]) -> str:
    """Return the value of a Link header (RFC 8288) with those URLs that fit, each with its parameters.

    A page links to the same addresses in its markup.
    """
    header = ""
    for url, parameters in links:
        longer = f"{header}, <{ascii_url(url)}>; {parameters}".removeprefix(", ")
        header = longer if len(longer) <= MAX_LINKS else header
    return header


def _ascii_authority(authority: str) -> str:
    if authority.isascii():
        return quote(authority, safe=_SAFE)
    host, colon, port = authority.partition(":")
    try:
        return idna.encode(host, uts46=True).decode() + colon + port
    except idna.IDNAError:  # no such name can be registered; a URL may have it
        return quote(authority, safe=_SAFE, errors="replace")
