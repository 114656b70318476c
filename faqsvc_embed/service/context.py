"""What all routes share: storage, public URLs, and the configuration by arguments and the environment."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple
from urllib.parse import quote

import anyio
from starlette.requests import Request

from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.service.http.changes import ChangeFeed
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import WRITER_THREADS, database_outages, editor_outages, run_blocking
from faqsvc_embed.service.storage import DEFAULT_URL, Storage
from faqsvc_embed.settings import validators
from faqsvc_embed.settings.validators import is_loopback_http

if TYPE_CHECKING:
    from faqsvc_embed.service.generator import Generator

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# A name, an IPv4 address or an IPv6 one in brackets, and a port (RFC 3986, 3.2.2). All of that is safe in
# a header, a page and a Markdown link.
_HOST: Final = re.compile(r"(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)
_WRONG_HOST: Final = (
    "a proxy names %s as the host, so links work on this machine only: set --base-url (FAQSVC_BASE_URL),"
    " or let the proxy pass the Host header on"
)
_log: Final = LogOnce()


@dataclass(frozen=True)
class PublicURLs:
    """The URLs below `base`, which has no trailing slash."""

    base: str

    def page(self, slug: str) -> str:
        """Return the URL of the hosted page of an FAQ."""
        return f"{self.base}/faq/{quote(slug, safe='')}"

    def record(self, slug: str) -> str:
        """Return the URL of the record of an FAQ."""
        return f"{self.base}{API_PATH}/{quote(slug, safe='')}"

    def sign_in(self, token: str) -> str:
        """Return a link that signs in at the desk. Its token is in the fragment, which no log has."""
        return f"{self.base}/desk/sign-in#link={token}"


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """The storage and the public URL of one application.

    `max_generations` limits those of each site at once; None is no limit. `writers` limits the threads that
    write to the storage; `checks` those that look up keys and sessions; `editors`, `searches` and `previews`
    those that read for the owners of sites, for all routes together, so that public reads always find a free
    one. `base_url` is None if the public URL is the origin of each request. `sign_in_header` is the header in
    which a trusted proxy names the person at the desk.
    """

    storage: Storage
    max_generations: int | None
    feed: ChangeFeed
    generator: "Generator | None"
    base_url: str | None = None
    sign_in_header: str | None = None
    writers: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(WRITER_THREADS))
    checks: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(WRITER_THREADS))
    editors: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    searches: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    previews: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    async def browse(self, request: Request, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call a function that reads for the owner of a site in a worker thread, and return its result.

        Searches, previews and the other reads of owners have one thread each, so that a long search delays
        only searches. More threads would slow down public reads, because such reads mostly use the processor.
        """
        is_search = request.query_params.get("q")
        limiter = self.previews if request.method == "POST" else self.searches if is_search else self.editors
        return await run_blocking(function, *args, limiter=limiter, outages=editor_outages)

    async def check(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call a function that looks up a key or a session in a worker thread: it may be one of a flood."""
        return await run_blocking(function, *args, limiter=self.checks, outages=database_outages)

    def installed_generator(self) -> "Generator":
        """Return the generator; raises Problem (501) if the extra `generation` is not installed."""
        if self.generator is None:
            detail = "This service cannot read websites: pip install 'faqsvc-embed[generation]'"
            raise Problem(501, "generation-failed", detail)
        return self.generator

    def urls(self, request: Request) -> PublicURLs:
        """Return the URLs below `base_url` or, without it, below the origin of the request.

        Raises Problem (400) if the Host header is needed and is invalid.
        """
        if self.base_url is not None:
            return PublicURLs(self.base_url)
        host = request.headers.get("host", "")
        try:
            is_valid, is_local = _HOST.fullmatch(host), is_loopback_http(f"http://{host}")
        except ValueError:  # no IPv6 address in the brackets
            is_valid, is_local = None, False
        if not is_valid:
            raise Problem(400, "bad-request", "Invalid Host header")
        if "x-forwarded-for" in request.headers and is_local:
            # Apache and nginx do so by default. It is logged once, not for each host: clients can send any.
            _log.warning("host", _WRONG_HOST, host)
        root = request.scope.get("root_path", "")
        return PublicURLs(f"{request.url.scheme}://{host}{root}".rstrip("/"))


def database_url(argument: str | None) -> str:
    """Return the URL of the database; FAQSVC_DATABASE_URL sets it."""
    return argument or os.environ.get("FAQSVC_DATABASE_URL") or DEFAULT_URL


def public_url(argument: str | None) -> str | None:
    """Return the public URL of the service, or None if it is not set; FAQSVC_BASE_URL sets it.

    Raises:
        ConfigurationError: it is not an http(s) URL in ASCII, or has a query or fragment.
    """
    value = argument or os.environ.get("FAQSVC_BASE_URL")
    try:
        url = validators.base_url(value) or None
    except ValueError as error:
        raise ConfigurationError(f"base_url is {quoted(value)}: {error}") from None
    if url is not None and not url.isascii():  # it is sent in headers
        raise ConfigurationError(f"base_url is {quoted(value)}: expected a URL in ASCII")
    return url


def header_name(argument: str | None) -> str | None:
    """Return the header in which a trusted proxy names who is signed in; FAQSVC_SIGN_IN_HEADER sets it."""
    value = argument or os.environ.get("FAQSVC_SIGN_IN_HEADER")
    expected = "the name of a header, such as X-Forwarded-Email"
    return _checked("sign_in_header", value, r"[A-Za-z0-9-]{1,100}", expected)


def generation_timeout() -> float:
    """Return the time limit of one generation in seconds; FAQSVC_GENERATE_TIMEOUT sets it."""
    name, number = "FAQSVC_GENERATE_TIMEOUT", r"(?=.*[1-9])[0-9]{1,4}(?:\.[0-9]{1,3})?"
    return float(_checked(name, os.environ.get(name), number, "a number of seconds above 0") or 30)


def npm_package() -> str | None:
    """Return the npm package of the operator's React component; FAQSVC_NPM_PACKAGE names it."""
    name, package = "FAQSVC_NPM_PACKAGE", r"(?:@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99}"
    return _checked(name, os.environ.get(name), package, "a name such as @heron/faq")


def _checked(name: str, value: str | None, pattern: str, expected: str) -> str | None:
    """Return a value, or None if it is empty; raise ConfigurationError if it does not match the pattern."""
    if value and re.fullmatch(pattern, value) is None:
        raise ConfigurationError(f"{name} is {quoted(value)}: expected {expected}")
    return value or None


def limit(name: str, value: int | None) -> int | None:
    """Return a limit; raise ConfigurationError if it is neither a whole number above 0 nor None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ConfigurationError(
            f"{name} is {quoted(value)}: expected a whole number above 0, or None for no limit"
        )
    return value
