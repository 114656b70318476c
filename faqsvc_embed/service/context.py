"""The state that all routes share."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast

import anyio
from starlette.datastructures import QueryParams
from starlette.requests import Request

from faqsvc_embed.api.contract import DEFAULT_LIMIT, MAX_LIMIT
from faqsvc_embed.api.fields import Lang, Slug, invalid_slug, is_slug
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.http.changes import ChangeFeed
from faqsvc_embed.service.http.conditional import preconditions
from faqsvc_embed.service.http.limits import GenerationQuota
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import PublicURLs
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import NOBODY, Access, Preconditions
from faqsvc_embed.service.telemetry.outages import editor_outages
from faqsvc_embed.text import normalized

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

if TYPE_CHECKING:
    from faqsvc_embed.service.generator import Generator


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """The storage and the public URL of one application.

    `generations` counts the generations of each site at once. `writers` limits the threads that write to the
    storage; `editors`, `searches` and `previews` those that read for the owners of sites, for all routes
    together, so that public reads always find a free one. `base_url` is None if the public URL is the origin
    of each request. `sign_in_header` is the header in which a trusted proxy names the person at the desk.
    """

    storage: Storage
    generations: GenerationQuota
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


@dataclass(frozen=True)
class Call:
    """A request of the API, as its handler gets it: the rights of its key, and its JSON body.

    Its properties raise Problem if the request has an invalid value.
    """

    service: ServiceContext
    request: Request
    access: Access = NOBODY
    body: bytes = b""

    @property
    def storage(self) -> Storage:
        """The storage of the service."""
        return self.service.storage

    @property
    def urls(self) -> PublicURLs:
        """The public URLs of the service. A handler that writes reads them first, because that may raise."""
        return self.service.urls(self.request)

    @property
    def slug(self) -> str:
        """The slug in the path, in NFC, so that each spelling of a letter is the same FAQ."""
        slug = self._slug
        # PostgreSQL refuses U+0000. Servers write U+FFFD for bytes that are not UTF-8.
        if not is_slug(slug) or "\ufffd" in slug:
            raise invalid_slug(slug)
        return slug

    @property
    def new_slug(self) -> str:
        """The slug in the path, which may be a new one."""
        _checked("slug", self._slug, Slug)
        return self.slug

    @property
    def _slug(self) -> str:
        return normalized("NFC", str(self.request.path_params["slug"]))

    @property
    def lang(self) -> Lang | None:
        """The language in the query, such as `de` for `de-CH`."""
        lang = self.query.get("lang", "")
        return cast("Lang | None", _checked("lang", lookup(lang) or self.query.get("lang"), Lang | None))

    def choice(self, name: str, choices: Any) -> Any:
        """Return a parameter of the query, which is one of some literals, or None."""
        return _checked(name, self.query.get(name), choices | None)

    @property
    def number(self) -> int:
        """The revision number in the path."""
        text = str(self.request.path_params["number"])
        if re.fullmatch("[1-9][0-9]{0,8}", text) is None:
            raise Problem(404, "not-found", f"There is no revision {quoted(text)}")
        return int(text)

    @property
    def page(self) -> dict[str, Any]:
        """`limit` and the cursor `after` of a list."""
        limit = self.query.get("limit", str(DEFAULT_LIMIT))
        if re.fullmatch("[0-9]{1,9}", limit) is None or not 1 <= int(limit) <= MAX_LIMIT:
            detail = f"limit is {quoted(limit)}: expected a whole number from 1 to {MAX_LIMIT}"
            raise Problem.invalid(detail, code="invalid-parameter")
        return {"limit": int(limit), "after": self.query.get("after")}

    @property
    def query(self) -> QueryParams:
        """The parameters in the query."""
        return self.request.query_params

    @property
    def preconditions(self) -> Preconditions:
        """The preconditions in the headers."""
        return preconditions(self.request)


def _checked(name: str, value: str | None, accepted: Any) -> str | None:
    """Return a parameter, whose type must be `accepted`."""
    if problems := field_problems(name, value, accepted):
        raise Problem.invalid(*problems, code="invalid-parameter")
    return value
