"""Caches responses to public reads in memory until the content changes."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import PREVIEW_HEADER
from faqsvc_embed.service.http.conditional import not_modified
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable

MAX_BYTES: Final = 32_000_000
MAX_ENTRIES: Final = 10_000
VERSION_TIMEOUT: Final = 0.5
"""Seconds for the query of the version. After that, the database counts as down."""
OVERHEAD: Final = 2_000
"""Estimated bytes of an entry without its request and its body."""

# What a public response depends on, beside the database.
_HEADERS: Final = frozenset({b"accept", b"accept-language", b"host", PREVIEW_HEADER.lower().encode()})
_NOT_IN_304: Final = frozenset({"content-length", "content-type"})

Version = int | tuple[int, str | None, str | None]
Handler = Callable[[Request], Awaitable[Response]]


class ContentVersion:
    """A value that changes with the public content, whichever process changes it.

    For SQLite, it is the version of the file, which takes microseconds to read. For PostgreSQL, it is the
    number of the last change and the list of listed sites, which one query reads for all waiting requests.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._running: asyncio.Future[Version] | None = None
        self._waiting: asyncio.Future[Version] | None = None

    async def get(self) -> Version | None:
        """Return the version as of this call or later, or None if the database does not respond."""
        if self._storage.database.is_sqlite:
            return self._storage.database.data_version()
        if self._waiting is None:
            self._waiting = asyncio.ensure_future(self._query(self._running))
            self._waiting.add_done_callback(_ignore_outage)
        try:
            return await asyncio.wait_for(asyncio.shield(self._waiting), VERSION_TIMEOUT)
        except (StorageUnavailable, TimeoutError):
            return None

    async def _query(self, previous: "asyncio.Future[Version] | None") -> Version:
        if previous is not None:
            await asyncio.wait([previous])
        self._running, self._waiting = self._waiting, None  # later requests need a later response
        return await run_blocking(self._storage.changes.version)


class ResponseCache:
    """The cache of one process, used in its event loop only."""

    def __init__(self, storage: Storage) -> None:
        self._current = ContentVersion(storage)
        self._responses = OrderedDict[tuple[object, ...], Response]()
        self._size = 0
        self._version: Version | None = None
        self._confirmed_at = 0.0

    async def respond(self, request: Request, handler: Handler) -> Response:
        """Return the response to a GET or HEAD from the cache or from the handler; a public one is cached.

        While the database does not respond, a cached response is returned for its own lifetime, with `Age`
        (RFC 9111, 5.1).

        Raises:
            Problem, StorageUnavailable: as the handler does.
        """
        version = await self._current.get()
        if version is not None and version != self._version:
            self._responses.clear()
            self._size, self._version = 0, version
        if version is not None:
            self._confirmed_at = time.monotonic()
        age = time.monotonic() - self._confirmed_at if version is None else 0.0
        scope = request.scope
        headers = tuple(header for header in scope["headers"] if header[0] in _HEADERS)
        key = (scope["path"], scope["query_string"], scope["scheme"], scope.get("root_path"), headers)
        if (cached := self._fresh(key, age)) is not None:
            return _conditional(request, cached)
        # A 304 is cached for requests with the same `If-None-Match`.
        with_tags = (*key, *request.headers.getlist("if-none-match"))
        if (cached := self._fresh(with_tags, age)) is not None:
            return cached
        response = await handler(request)
        if version is not None and version == self._version:
            self._store(key if response.status_code == 200 else with_tags, response)
        return response

    def _fresh(self, key: tuple[object, ...], age: float) -> Response | None:
        """Return a cached response that was current `age` seconds ago, if it may still be used."""
        cached = self._responses.get(key)
        if cached is None or not age:
            return cached
        lifetime = re.search(r"max-age=(\d+)", cached.headers["cache-control"])
        if lifetime is None or age > int(lifetime[1]):
            return None
        return Response(cached.body, cached.status_code, {**cached.headers, "age": str(int(age))})

    def _store(self, key: tuple[object, ...], response: Response) -> None:
        is_public = response.headers.get("cache-control", "").startswith("public")
        if response.status_code not in (200, 304) or not is_public:
            return
        self._responses[key] = response
        self._size += _size(key, response)
        while self._size > MAX_BYTES or len(self._responses) > MAX_ENTRIES:
            self._size -= _size(*self._responses.popitem(last=False))


def _ignore_outage(version: "asyncio.Future[Version]") -> None:
    """Retrieve the exception of a query without waiting requests; `run_blocking` has reported it."""
    if not version.cancelled():
        version.exception()


def _size(key: tuple[object, ...], response: Response) -> int:
    """Return about how many bytes an entry takes; a client may send long addresses and headers."""
    return OVERHEAD + len(repr(key)) + len(response.body)


def _conditional(request: Request, response: Response) -> Response:
    """Return a cached response, or 304 if the request has `If-None-Match` with its entity tag."""
    if not not_modified(request, response.headers["etag"].strip('"')):
        return response
    headers = {name: value for name, value in response.headers.items() if name not in _NOT_IN_304}
    return Response(None, 304, headers)
