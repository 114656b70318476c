"""The operations of the API. Each is declared at its handler; dispatch and `/openapi.json` come from that."""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final, TypeVar

import msgspec

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.service.http.response_cache import Selection

ALWAYS: Final = (405, 429)
READS: Final = (404, 406, 410, 422, 503, *ALWAYS)
KEYED: Final = (401, 403, 404, 410, 422, 503, *ALWAYS)
WRITES: Final = (400, 409, 412, *KEYED)
BODIES: Final = (406, 408, 413, 415)
"""The statuses of problems that such requests may have."""
IF_MATCH: Final = (
    "With the entity tag of a revision in `If-Match`, the request fails unless the newest revision has the "
    "same content."
)
FAQ_PATH: Final = API_PATH + "/{slug}"

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


@dataclass(frozen=True)
class Operation:
    """An operation: its parameters, its responses and its errors; a decorator of its handler.

    The name of the handler is that of the operation, and the first line of its docstring the summary. It
    takes the `ServiceContext` and the request. With a `scope`, only requests with such an API key
    reach it, and it takes their access rights, too. `cached` says that its responses are kept, and by what.
    A probe has a rate limit of its own: a flood of other requests must not look like an outage.
    """

    method: str
    path: str
    problems: tuple[int, ...]
    _: KW_ONLY
    statuses: tuple[int, ...] = (200,)
    scope: Scope | None = None
    body: type[msgspec.Struct] | None = None
    response: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    note: str = ""
    cached: Selection | None = None
    is_probe: bool = False

    def __call__(self, handler: Handler) -> Handler:
        """Register the operation with its handler."""
        operation = self
        if self.cached is not None:
            operation = replace(self, statuses=(200, 304), media_types=self.cached.media_types)
        OPERATIONS.append((operation, handler))
        return handler

    @property
    def order(self) -> int:
        """Its place among the operations of its path: reads first."""
        return ("get", "post", "put", "patch", "delete").index(self.method)


OPERATIONS: Final[list[tuple[Operation, Callable[..., Awaitable[Any]]]]] = []
"""All operations, each with its handler, as the modules of `routes` declare them."""
