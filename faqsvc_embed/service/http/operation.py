"""The operations of the API: each is declared at its handler, and dispatched by the endpoint of its path."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar, cast

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from faqsvc_embed.api import contract
from faqsvc_embed.api.contract import DEFAULT_LIMIT, MAX_LIMIT
from faqsvc_embed.api.fields import MAX_BODY, Lang, Slug, invalid_slug, is_slug
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.context import PublicURLs, ServiceContext
from faqsvc_embed.service.http.requests import (
    RateLimiter,
    authenticate,
    drain,
    read_body,
    require_empty,
    require_json,
    require_known_parameters,
    require_single_parameters,
)
from faqsvc_embed.service.http.responses import Problem, preconditions
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import NOBODY, Access, Preconditions
from faqsvc_embed.text import normalized

FAQ_PATH: Final = API_PATH + "/{slug}"


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


Handler = Callable[[Call], Any]
"""Returns the response. It runs in a worker thread, unless it is a coroutine function."""
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True)
class Operation:
    """Declares an operation as a decorator of its handler: parameters, responses and errors.

    The name of the handler is that of the operation, and the first line of its docstring the summary. With a
    `scope`, only requests with such an API key reach it. With `is_cached`, its responses are cached: they
    may depend only on the declared query parameters and headers. With `uses_host`, they also depend on the
    Host header, which may be invalid (400). With `reads_body`, the handler itself reads the body. `problems`
    are the statuses of its problems that do not follow from the other fields.

    A write with a parameter that is not in `query` is refused, and so is a body if `body` is None: whoever
    sends one expects it to be used. A probe has no rate limit: a flood of requests must not look like an
    outage.
    """

    method: str
    path: str
    problems: tuple[int, ...] = ()
    _: KW_ONLY
    statuses: tuple[int, ...] = (200,)
    scope: contract.Scope | None = None
    body: type[msgspec.Struct] | None = None
    max_body: int = MAX_BODY
    reads_body: bool = False
    response: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    note: str = ""
    is_cached: bool = False
    uses_host: bool = False
    is_probe: bool = False
    handler: Any = None
    """The decorated `Handler`."""

    @property
    def single_parameters(self) -> list[str]:
        """The query parameters that must not be repeated."""
        return [name.partition(":")[0] for name in self.query if not name.endswith(":list")]

    def __call__(self, handler: H) -> H:
        """Register the operation with its handler."""
        statuses = (*self.statuses, 304) if self.is_cached else self.statuses
        problems = tuple(sorted({*self.problems, *self._usual_problems()}))
        OPERATIONS.append(replace(self, statuses=statuses, problems=problems, handler=handler))
        return handler

    def _usual_problems(self) -> Iterator[int]:
        yield from (405,) if self.is_probe else (405, 429)
        if self.uses_host or self.single_parameters:
            yield 400
        if self.scope is not None:
            yield from (401, 403, 404, 410, 422, 503)
        if self.scope is not None and self.method != "get":
            yield from (400, 408, 413)  # it may have a body
        if self.body is not None and not self.reads_body:
            yield from (406, 415)  # the body must be JSON
        if "If-Match" in self.headers:
            yield from (409, 412)


OPERATIONS: Final[list[Operation]] = []
"""All operations, as the modules of `routes` declare them."""


Respond = Callable[[Request], Awaitable[Response]]
ErrorResponse = Callable[[Request, Problem], Response]


def responder(service: ServiceContext, operation: Operation) -> Respond:
    """Return the function that checks the requests of an operation and calls its handler."""

    async def respond(request: Request) -> Response:
        call = Call(service, request)
        require_single_parameters(request, operation.single_parameters)
        if operation.scope is not None:
            call = replace(call, access=await authenticate(service, request, operation.scope))
        if operation.method != "get" and not operation.reads_body:
            require_known_parameters(request, operation.query)
            if operation.body is not None:
                require_json(request)
            call = replace(call, body=await read_body(request, operation.max_body))
            if operation.body is None:
                require_empty(call.body)
        if iscoroutinefunction(operation.handler):
            return await operation.handler(call)  # type: ignore[no-any-return]
        if operation.scope is None:
            return await run_blocking(operation.handler, call)
        if operation.method == "get":
            return await service.browse(request, operation.handler, call)
        return await run_blocking(operation.handler, call, limiter=service.writers)

    return respond


# Without Access-Control-Allow-Credentials, browsers send no cookies and accept `*` everywhere (Fetch
# standard, CORS protocol).
_ORIGIN: Final = "access-control-allow-origin"
_CORS: Final = {_ORIGIN: "*", "access-control-expose-headers": "ETag, FAQ-Revision, Retry-After"}
_PREFLIGHT: Final = {
    _ORIGIN: "*",
    # Tracing libraries add headers such as `traceparent` to every request of a page.
    "access-control-allow-headers": "*",
    "access-control-max-age": "86400",
}


def allow_any_origin(
    request: Request, response: Response, methods: Collection[str] = ("GET", "HEAD")
) -> None:
    """Let pages of any origin read the response to one of these methods, and to no other.

    Errors are included: otherwise a script could not tell a 404 from a broken network.
    """
    if request.method in methods and _ORIGIN not in response.headers:
        response.headers.update(_CORS)


def problem_document(_: Request, problem: Problem) -> Response:
    """Return the response of an API to an error."""
    return problem.response()


class Endpoint:
    """An ASGI application for one path, which also handles HEAD, OPTIONS and methods that are not allowed.

    `handlers` are by method. `limiter` counts the requests of each client network before anything else is
    done. If `is_public`, pages of any origin may read the responses to GET, and to POST, which then reads,
    too. Errors become responses by `error_response`.
    """

    def __init__(
        self,
        handlers: Mapping[str, Respond],
        limiter: RateLimiter,
        *,
        is_public: bool = False,
        error_response: ErrorResponse = problem_document,
    ) -> None:
        self._handlers = dict(handlers)
        if "GET" in handlers:
            self._handlers["HEAD"] = handlers["GET"]
        self._reads = [method for method in ("GET", "HEAD", "POST") if method in self._handlers]
        self._handlers["OPTIONS"] = self._options
        self._allow = ", ".join(self._handlers)
        self._limiter = limiter
        self._is_public = is_public
        self._error_response = error_response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        finally:
            await drain(request)
        if self._is_public:
            allow_any_origin(request, response, self._reads)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            if request.method != "OPTIONS":  # refusing a preflight would cost as much as responding
                self._limiter.enforce(request)
            handler = self._handlers.get(request.method)
            if handler is None:
                headers = {"allow": self._allow}
                raise Problem(405, "method-not-allowed", f"Allowed methods: {self._allow}", headers=headers)
            return await handler(request)
        except (Problem, FAQError) as error:
            return self._error_response(request, Problem.of(error))

    async def _options(self, request: Request) -> Response:
        methods = {"access-control-allow-methods": ", ".join(self._reads)}
        preflight = _PREFLIGHT | methods if self._is_public else {}
        return Response(status_code=204, headers={"allow": self._allow, **preflight})
