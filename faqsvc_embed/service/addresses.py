"""Where the public reaches the service, and an FAQ in it."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request

from faqsvc_embed.api.reading import API_PATH
from faqsvc_embed.service.problems import Problem

# A name, an IPv4 address or one of IPv6 in brackets, and a port (RFC 3986, 3.2.2): nothing that could be
# more than that in a header, a page or a Markdown link.
_HOST = re.compile(r"(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True)
class Addresses:
    """The addresses of a service; `base_url` is None if each request's own origin is believed."""

    base_url: str | None = None

    def base(self, request: Request) -> str:
        """Return what every address begins with, without a slash at its end.

        Raises:
            Problem: it is to come from the request, and its Host header is none (400).
        """
        if self.base_url is not None:
            return self.base_url
        host = request.headers.get("host", "")
        if _HOST.fullmatch(host) is None:
            raise Problem(400, "the Host header names no host")
        return f"{request.url.scheme}://{host}{request.scope.get('root_path', '')}".rstrip("/")


def page_address(base: str, slug: str) -> str:
    """Return where the hosted page of an FAQ is."""
    return f"{base}/faq/{quote(slug, safe='')}"


def record_address(base: str, slug: str) -> str:
    """Return where the record of an FAQ is."""
    return f"{base}{API_PATH}/{quote(slug, safe='')}"
