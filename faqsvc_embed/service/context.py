"""The state that all routes share, and its configuration by arguments, environment variables or defaults."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

import anyio
from starlette.requests import Request

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.service.http.changes import ChangeFeed
from faqsvc_embed.service.http.requests import PublicURLs
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import editor_outages, run_blocking
from faqsvc_embed.service.storage import DEFAULT_URL, Storage
from faqsvc_embed.settings import validators

if TYPE_CHECKING:
    from faqsvc_embed.service.generator import Generator

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """The storage and the public URL of one application.

    `max_generations` limits those of each site at once; None is no limit. `writers` limits the threads that
    write to the storage; `editors`, `searches` and `previews` those that read for the owners of sites, for
    all routes together, so that public reads always find a free one. `base_url` is None if the public URL is
    the origin of each request. `sign_in_header` is the header in which a trusted proxy names the person at
    the desk.
    """

    storage: Storage
    max_generations: int | None
    writers: anyio.CapacityLimiter
    editors: anyio.CapacityLimiter
    searches: anyio.CapacityLimiter
    previews: anyio.CapacityLimiter
    feed: ChangeFeed
    generator: "Generator | None"
    base_url: str | None = None
    sign_in_header: str | None = None

    async def browse(self, request: Request, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call a function that reads for the owner of a site in a worker thread, and return its result.

        Searches, previews and the other reads of owners have one thread each, so that a long search delays
        only searches. More threads would slow down public reads, because such reads mostly use the processor.
        """
        is_search = request.query_params.get("q")
        limiter = self.previews if request.method == "POST" else self.searches if is_search else self.editors
        return await run_blocking(function, *args, limiter=limiter, outages=editor_outages)

    def installed_generator(self) -> "Generator":
        """Return the generator; raises Problem (501) if the extra `generation` is not installed."""
        if self.generator is None:
            detail = "This service cannot read websites: pip install 'faqsvc-embed[generation]'"
            raise Problem(501, "generation-failed", detail)
        return self.generator

    def urls(self, request: Request) -> PublicURLs:
        """Return the public URLs of the service, as `PublicURLs.of` does."""
        return PublicURLs.of(request, self.base_url)


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
