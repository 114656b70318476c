"""The public URLs of the service, and the mark of requests from a trusted proxy."""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import quote

from starlette.requests import Request

from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.service.http.problems import Problem

# A name, an IPv4 address or an IPv6 one in brackets, and a port (RFC 3986, 3.2.2). All of that is safe in
# a header, a page and a Markdown link.
_HOST = re.compile(r"(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True)
class PublicURLs:
    """The URLs below `base`, which has no trailing slash."""

    base: str

    @classmethod
    def of(cls, request: Request, base_url: str | None) -> Self:
        """Return the URLs below `base_url` or, if it is None, below the origin of the request.

        Raises:
            Problem: the Host header is needed and is invalid (400).
        """
        if base_url is not None:
            return cls(base_url)
        host = request.headers.get("host", "")
        if _HOST.fullmatch(host) is None:
            raise Problem(400, "bad-request", "Invalid Host header")
        return cls(f"{request.url.scheme}://{host}{request.scope.get('root_path', '')}".rstrip("/"))

    def page(self, slug: str) -> str:
        """Return the URL of the hosted page of an FAQ."""
        return f"{self.base}/faq/{quote(slug, safe='')}"

    def record(self, slug: str) -> str:
        """Return the URL of the record of an FAQ."""
        return f"{self.base}{API_PATH}/{quote(slug, safe='')}"

    def sign_in(self, token: str) -> str:
        """Return a link that signs in at the desk. Its token is in the fragment, which no log has."""
        return f"{self.base}/desk/sign-in#link={token}"


_TRUSTED: Final = "faqsvc.trusted_proxy"


def mark(scope: MutableMapping[str, Any]) -> None:
    """Mark the ASGI scope of a request from a trusted proxy."""
    scope[_TRUSTED] = True


def is_from_proxy(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request comes from a trusted proxy, so that its headers can be trusted."""
    return scope.get(_TRUSTED) is True
