"""Serves public reads from memory, before routing, until what they show changes."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qsl
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.http.changes import Changes
from faqsvc_embed.service.http.operation import Operation
from faqsvc_embed.service.http.responses import MAX_HEADER, is_current, language_for, media_type_for
from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.storage.logs import LoggedChange
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.text import normalized

MAX_BYTES: Final = 32_000_000
OVERHEAD: Final = 2_000
"""Estimated bytes of a response without its body."""
REFRESH_TIMEOUT: Final = 0.5
"""Seconds for the query of changes. After that, the database counts as down."""
AT_ONCE: Final = 4
"""Maximum number of responses that a route makes at a time; its other requests wait."""
AVAILABLE: Final = "faqsvc.available"
"""The key in the scope under which a handler leaves the languages that it has chosen from."""

_EMPTY: Final[Message] = {"type": "http.response.body", "body": b""}
_ETAG: Final = b"if-none-match"
_HEADERS: Final = frozenset({b"accept", b"accept-language", b"host", _ETAG})
"""The request headers that are read for every route."""
_NOT_IN_304: Final = frozenset({b"content-length", b"content-type"})

Key = tuple[object, ...]
"""Its first value is the slug, or None for a list of FAQs."""

_EQUIVALENT: Final[Mapping[str, Callable[[str], object]]] = {
    "lang": lambda lang: lookup(lang) or lang,
    "lang:page": lookup,
    PREVIEW_PARAMETER: lambda token: token or None,
}
"""Functions that return one value for all equivalent values of a query parameter."""


class _Route:
    """The parts of a request that the responses of an operation depend on. The cache key consists of them."""

    def __init__(self, operation: Operation) -> None:
        self.media_types = operation.media_types
        self.parameters = {name.partition(":")[0]: _EQUIVALENT.get(name, str) for name in operation.query}
        self.headers = [name.lower().encode() for name in operation.headers]
        self.uses_host = operation.uses_host
        self.slots = asyncio.Semaphore(AT_ONCE)

    def values(self, query_string: bytes) -> list[tuple[str, object]] | None:
        """Return the parameters that matter; None if one is repeated, which the endpoint refuses."""
        pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)
        pairs = [(name, value) for name, value in pairs if name in self.parameters]
        query = dict(pairs)
        if len(query) < len(pairs):
            return None
        found = ((name, read(query[name])) for name, read in self.parameters.items() if name in query)
        return [(name, value) for name, value in found if value is not None]


class _Stored(NamedTuple):
    """A response that is kept, as its messages."""

    start: Message
    not_modified: Message
    body: Message
    etag: str
    lifetime: int
    endpoint: object
    available: tuple[str, ...] | None
    """The languages from which `Accept-Language` chooses; None if it does not matter."""


class _Read(NamedTuple):
    """A request whose response may come from the cache."""

    key: Key
    headers: dict[bytes, bytes]
    is_head: bool
    slots: asyncio.Semaphore

    def key_in(self, available: tuple[str, ...]) -> Key:
        """Return the key of the response in the language that the client prefers."""
        accepted = self.headers.get(b"accept-language", b"").decode("latin-1")
        return (*self.key, language_for(accepted, available))


class ResponseCache:
    """ASGI middleware with the cache of one process, for `operations`.

    Cached responses do not count against the rate limit: they cost less than a 429. With `has_base_url`,
    responses do not depend on the Host header.
    """

    def __init__(
        self, app: ASGIApp, changes: Changes, operations: Iterable[Operation], has_base_url: bool
    ) -> None:
        self._app = app
        self._changes = changes
        self._routes = {operation.path.replace(":path", ""): _Route(operation) for operation in operations}
        self._has_base_url = has_base_url
        self._entries = OrderedDict[Key, _Stored]()
        self._locks = WeakValueDictionary[Key, asyncio.Lock]()
        self._forgotten = 0
        """How often responses were dropped: one that is made meanwhile may be outdated."""
        self._size = 0
        self._listed: str | None = None
        self._confirmed_at = 0.0
        changes.listen(self._forget)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond from the cache, or pass the request on and keep the response if it is public."""
        request = self._read(scope) if scope["type"] == "http" else None
        if request is None:
            await self._app(scope, receive, self._watched(scope, send))
            return
        age = await self._age()
        stored, messages = self._find(request, age), list[Message]()
        if stored is None and age:  # the database is down
            await self._app(scope, receive, send)
            return
        if stored is None:
            stored, messages = await self._make_once(request, scope, receive)
        if stored is not None:
            scope["endpoint"] = stored.endpoint  # for the access log
            messages = _messages(stored, request, age)
        for message in messages:
            await send(message)

    def _watched(self, scope: Scope, send: Send) -> Send:
        """Return a `send` that looks for changes again before it sends the response to a write."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            return send

        async def send_later(message: Message) -> None:
            self._changes.expect()
            await send(message)

        return send_later

    def _read(self, scope: Scope) -> _Read | None:
        """Return what the response depends on; None unless it is a plain read of one of the routes."""
        if scope["method"] not in ("GET", "HEAD"):
            return None
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        route, slug = self._routes.get(path), None
        if route is None:
            prefix, _, last = path.rpartition("/")
            route = self._routes.get(f"{prefix}/{{slug}}")
            if route is None or not last:
                return None
            path = normalized("NFC", path)
            slug = path[len(prefix) + 1 :].removesuffix(MARKDOWN_SUFFIX)
        headers = dict[bytes, bytes]()
        for name, value in scope["headers"]:
            if name in _HEADERS or name in route.headers:
                headers[name] = headers[name] + b", " + value if name in headers else value
        values = route.values(scope["query_string"]) if scope["query_string"] else []
        if values is None:
            return None
        accept = headers.get(b"accept", b"")[:MAX_HEADER].decode("latin-1")
        media_type = media_type_for(accept, route.media_types)
        root, origin = scope.get("root_path"), None
        if route.uses_host and not self._has_base_url:
            origin = (scope["scheme"], headers.get(b"host"))
        sent = [headers.get(name) for name in route.headers]
        key = (slug, path, *values, media_type, root, origin, *sent)
        return _Read(key, headers, scope["method"] == "HEAD", route.slots)

    async def _age(self) -> float:
        """Return for how many seconds the database has not responded; 0 if the cache is up to date."""
        if not self._changes.is_unchanged():
            try:
                await asyncio.wait_for(self._changes.refresh(), REFRESH_TIMEOUT)
            except (StorageUnavailable, TimeoutError):
                return max(time.monotonic() - self._confirmed_at, 1e-3)
            if self._changes.listed != self._listed:
                self._listed = self._changes.listed
                self._forget(None)
        self._confirmed_at = time.monotonic()
        return 0.0

    def _find(self, request: _Read, age: float) -> _Stored | None:
        """Return a response that was current `age` seconds ago, if it may still be used."""
        key, stored = request.key, self._entries.get(request.key)
        if stored is not None and stored.available is not None:
            self._entries.move_to_end(key)
            stored = self._entries.get(key := request.key_in(stored.available))
        if stored is None or age > stored.lifetime:
            return None
        self._entries.move_to_end(key)  # the least recently used response is dropped first
        return stored

    async def _make_once(
        self, request: _Read, scope: Scope, receive: Receive
    ) -> tuple[_Stored | None, list[Message]]:
        """Return what `_make` returns, while equal misses wait for the first one."""
        lock = self._locks.setdefault(request.key, asyncio.Lock())
        is_first = not lock.locked()
        async with lock:
            if (stored := self._find(request, 0.0)) is not None:
                return stored, []
            if is_first:
                return await self._make(request, scope, receive)
        return await self._make(request, scope, receive)  # it cannot be cached, so nobody waits for it

    async def _make(
        self, request: _Read, scope: Scope, receive: Receive
    ) -> tuple[_Stored | None, list[Message]]:
        """Pass a request on, as a GET without condition, and keep the response if it is public."""
        messages: list[Message] = []

        async def capture(message: Message) -> None:
            messages.append(message)

        headers = [header for header in scope["headers"] if header[0] != _ETAG]
        inner = {**scope, "method": "GET", "headers": headers}
        async with request.slots:
            forgotten = self._forgotten
            await self._app(inner, receive, capture)
        scope["endpoint"] = inner.get("endpoint")
        stored = _stored(inner, messages)
        if stored is not None and stored.lifetime and self._forgotten == forgotten:
            self._keep(request, stored)
        if request.is_head:
            messages = [{**message, "body": b""} if "body" in message else message for message in messages]
        return stored, messages

    def _keep(self, request: _Read, stored: _Stored) -> None:
        """Keep a response, and its languages under the key without a language, which is looked up first."""
        keys = [request.key] if stored.available is None else [request.key, request.key_in(stored.available)]
        for key in keys:
            self._drop(key)
            self._entries[key] = stored
            self._size += _size(stored)
        while self._size > MAX_BYTES:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        if (stored := self._entries.pop(key, None)) is not None:
            self._size -= _size(stored)

    def _forget(self, changes: Sequence[LoggedChange] | None) -> None:
        """Drop the responses about the FAQs that were changed, and the lists of FAQs."""
        self._forgotten += 1
        slugs = {None, *(change.slug for change in changes or ())}
        for key in [key for key in self._entries if changes is None or key[0] in slugs]:
            self._drop(key)


def _size(stored: _Stored) -> int:
    return OVERHEAD + len(stored.body["body"])


def _stored(scope: Scope, messages: list[Message]) -> _Stored | None:
    """Return a complete response that caches may keep; None for any other."""
    if len(messages) != 2 or messages[0].get("status") != 200:
        return None
    start, body = messages
    headers = dict(start["headers"])
    control = headers.get(b"cache-control", b"").decode("latin-1")
    lifetime = re.search(r"max-age=(\d{1,9})", control)
    if not control.startswith("public") or lifetime is None or b"etag" not in headers:
        return None
    kept = [header for header in start["headers"] if header[0] not in _NOT_IN_304]
    not_modified = {**start, "status": 304, "headers": kept}
    etag = headers[b"etag"].decode("latin-1")
    endpoint, available = scope.get("endpoint"), scope.get(AVAILABLE)
    return _Stored(start, not_modified, body, etag, int(lifetime[1]), endpoint, available)


def _messages(stored: _Stored, request: _Read, age: float) -> list[Message]:
    """Return the messages of a response or, if the client has it, of a 304."""
    start, body = stored.start, _EMPTY if request.is_head else stored.body
    known = request.headers.get(_ETAG)
    if known is not None and is_current(known.decode("latin-1"), stored.etag):
        start, body = stored.not_modified, _EMPTY
    if age:  # RFC 9111, 5.1
        start = {**start, "headers": [*start["headers"], (b"age", str(int(age)).encode())]}
    return [start, body]
