"""One path with its methods: who may read it from elsewhere, and how its errors are told."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.limits import RateLimit, address_of
from faqsvc_embed.service.lingering import Incoming, lingering
from faqsvc_embed.service.problems import Problem

Handler = Callable[[Request], Awaitable[Response]]

# Never together with Access-Control-Allow-Credentials: what is public is so without cookies.
READABLE_ANYWHERE: Final = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Retry-After",
}
_PREFLIGHT: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "Accept, Content-Type, If-None-Match",
    "access-control-max-age": "86400",
}

logger = logging.getLogger("faqsvc_embed.service")


class Resource:
    """An ASGI application for one path, which answers HEAD, OPTIONS and 405 from the methods it has.

    With `public`, pages of any origin may read it with GET and HEAD (Fetch standard, CORS protocol);
    its errors too, or their scripts could not tell a 404 from a broken network.
    """

    def __init__(
        self,
        *,
        get: Handler | None = None,
        post: Handler | None = None,
        public: bool = False,
        limit: RateLimit | None = None,
    ) -> None:
        """`limit` is how often one address may ask."""
        handlers = {"GET": get, "HEAD": get, "POST": post, "OPTIONS": self._options}
        self._handlers = {method: handler for method, handler in handlers.items() if handler is not None}
        self._allow = ", ".join(self._handlers)
        self._public = public
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = Incoming(scope, receive)
        request = Request(scope, incoming)
        response = await self._respond(request)
        if self._public and request.method in ("GET", "HEAD"):
            response.headers.update(READABLE_ANYWHERE)
        if incoming.is_long:
            response.headers["connection"] = "close"
            send = lingering(incoming, send)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            if request.method != "OPTIONS":  # which costs no more than to refuse it, and asks for nothing yet
                self._count(request)
            handler = self._handlers.get(request.method)
            if handler is None:
                raise Problem(405, f"this address takes {self._allow}", headers={"allow": self._allow})
            return await handler(request)
        except Problem as problem:
            return problem.response()
        except StorageUnavailable as error:
            logger.error("%s", error)  # the operator learns why, the public does not
            return Problem(
                503, "the storage does not answer; try again", headers={"retry-after": "1"}
            ).response()

    def _count(self, request: Request) -> None:
        if self._limit is not None and (address := address_of(request)) is not None:
            self._limit.count(address)

    async def _options(self, request: Request) -> Response:
        headers = {"allow": self._allow, **(_PREFLIGHT if self._public else {})}
        return Response(status_code=204, headers=headers)
