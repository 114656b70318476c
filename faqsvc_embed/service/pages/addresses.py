"""Addresses that people wrote, in any script, as headers and Markdown need them: in ASCII (RFC 3986)."""

from contextlib import suppress
from typing import Final
from urllib.parse import quote

import httpx2

MAX_LINKS: Final = 700
"""Characters of a Link header: nginx refuses a response whose head is larger than 4 kB."""


def ascii_url(url: str) -> str:
    """Return a URL with its host in punycode, and everything after it percent-encoded."""
    with suppress(httpx2.InvalidURL, UnicodeError):  # a URL may have a host name that cannot be registered
        url = str(httpx2.URL(url))
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~", errors="replace")


def link_header(*links: tuple[str, str]) -> str:
    """Return the value of a Link header (RFC 8288) with those URLs that fit, each with its parameters.

    A page links to the same addresses in its markup.
    """
    header = ""
    for url, parameters in links:
        longer = f"{header}, <{ascii_url(url)}>; {parameters}".removeprefix(", ")
        header = longer if len(longer) <= MAX_LINKS else header
    return header
