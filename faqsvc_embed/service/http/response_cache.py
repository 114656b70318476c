"""Serves public reads from memory, before routing, until what they show changes."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.service.http.changes import Changes
from faqsvc_embed.service.http.conditional import MAX_HEADER, is_current, language_for, media_type_for
from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.storage.logs import LoggedChange
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.text import normalized

MAX_BYTES: Final = 32_000_000
MAX_ENTRIES: Final = 10_000
OVERHEAD: Final = 2_000
"""Estimated bytes of a response without its body."""
REFRESH_TIMEOUT: Final = 0.5
"""Seconds for the query of changes. After that, the database counts as down."""
AT_ONCE: Final = 4
"""Maximum number of responses that a route makes at a time; its other requests wait."""
AVAILABLE: Final = "faqsvc.available"
"""Where a handler leaves the languages that it has chosen from, in the scope."""

_EMPTY: Final[Message] = {"type": "http.response.body", "body": b""}
_ETAG: Final = b"if-none-match"
_READ: Final = frozenset({b"accept", b"accept-language", b"host", _ETAG})
_NOT_IN_304: Final = frozenset({b"content-length", b"content-type"})

Key = tuple[object, ...]
"""Its first value is the slug, or None for a list of FAQs."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a request that the responses of a route depend on; only these make the cache key.

    `media_types` are the types that the route offers. `parameters` are the query parameters that its handler
    reads, each with a function that returns one value for equivalent ones. `header` is one that it reads.
    """

    media_types: tuple[str, ...]
    parameters: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    header: bytes | None = None
    has_urls: bool = True
    """Whether they have URLs of the service, which may be those of the request's Host header."""


class _Stored(NamedTuple):
    start: Message
    not_modified: Message
    body: Message
    etag: str
    lifetime: int
    endpoint: object


class _Entry:
    """The responses for one key: one, or one for each of the `available` languages."""

    def __init__(self, available: tuple[str, ...] | None) -> None:
        self.available = available
        self.by_language: dict[str | None, _Stored] = {}

    @property
    def size(self) -> int:
        return sum(OVERHEAD + len(stored.body["body"]) for stored in self.by_language.values())


class _Read(NamedTuple):
    """A request that may be answered from the cache."""

    key: Key
    headers: dict[bytes, bytes]
    is_head: bool
    slots: asyncio.Semaphore


class ResponseCache:
    """ASGI middleware with the cache of one process, for the routes in `selections`.

    What it answers counts towards no limit, because an answer costs less than a refusal. `has_base_url`
    tells that responses do not depend on the Host header.
    """

    def __init__(
        self,
        app: ASGIApp,
        changes: Changes,
        selections: Mapping[str, Selection],
        has_base_url: bool,
    ) -> None:
        self._app = app
        self._changes = changes
        self._selections = selections
        self._has_base_url = has_base_url
        self._entries = OrderedDict[Key, _Entry]()
        self._keys: dict[object, set[Key]] = {}
        self._running: dict[Key, asyncio.Future[bool]] = {}
        self._slots = {route: asyncio.Semaphore(AT_ONCE) for route in selections}
        self._size = 0
        self._listed: str | None = None
        self._confirmed_at = 0.0
        changes.listen(self._forget)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request from the cache, or pass it on and keep the response if it is public."""
        request = self._read(scope) if scope["type"] == "http" else None
        if request is None:
            await self._app(scope, receive, self._watched(scope, send))
            return
        age = await self._age()
        while (stored := self._find(request, age)) is None:
            running = self._running.get(request.key)
            if age:  # the database is down
                await self._app(scope, receive, send)
                return
            if running is None:
                await self._make(request, scope, receive, send)
                return
            if not await asyncio.shield(running):
                async with request.slots:
                    await self._app(scope, receive, send)
                return
        scope["endpoint"] = stored.endpoint  # for the access log
        await _replay(stored, request, age, send)

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
        route, slug = path, None
        if path not in self._selections:
            prefix, _, last = path.rpartition("/")
            route = f"{prefix}/{{slug}}"
            if route not in self._selections or not last or "\ufffd" in last:
                return None
            path = normalized("NFC", path)
            slug = path[len(prefix) + 1 :].removesuffix(MARKDOWN_SUFFIX)
        selection, headers = self._selections[route], dict[bytes, bytes]()
        for name, value in scope["headers"]:
            if name in _READ or name == selection.header:
                headers[name] = headers[name] + b", " + value if name in headers else value
        values: Iterable[object] = ()
        if scope["query_string"]:
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            names = selection.parameters.items()
            found = {name: read(query[name]) for name, read in names if name in query}
            values = (pair for pair in found.items() if pair[1] is not None)
        accept = headers.get(b"accept", b"")[:MAX_HEADER].decode("latin-1")
        media_type = media_type_for(accept, selection.media_types)
        origin = None
        if selection.has_urls and not self._has_base_url:
            origin = (scope["scheme"], headers.get(b"host"), scope.get("root_path"))
        sent = headers.get(selection.header) if selection.header else None
        key = (slug, path, *values, media_type, origin, sent)
        return _Read(key, headers, scope["method"] == "HEAD", self._slots[route])

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
        entry = self._entries.get(request.key)
        if entry is None:
            return None
        lang = None
        if entry.available is not None:
            lang = language_for(
                request.headers.get(b"accept-language", b"")[:MAX_HEADER].decode("latin-1"), entry.available
            )
        stored = entry.by_language.get(lang)
        if stored is None or age > stored.lifetime:
            return None
        self._entries.move_to_end(request.key)  # what nobody asks for is dropped first
        return stored

    async def _make(self, request: _Read, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as a GET without condition, and keep the response if it is public."""
        messages: list[Message] = []

        async def capture(message: Message) -> None:
            messages.append(message)

        headers = [header for header in scope["headers"] if header[0] != _ETAG]
        inner = {**scope, "method": "GET", "headers": headers}
        running = self._running[request.key] = asyncio.get_running_loop().create_future()
        stored = None
        try:
            async with request.slots:
                await self._app(inner, receive, capture)
            stored = _stored(inner, messages)
            if stored is not None and self._running.get(request.key) is running:  # else it is outdated
                self._keep(request.key, stored, inner.get(AVAILABLE))
        finally:
            if self._running.get(request.key) is running:
                del self._running[request.key]
            running.set_result(stored is not None)
        scope["endpoint"] = inner.get("endpoint")
        if stored is not None:
            await _replay(stored, request, 0.0, send)
            return
        for message in messages:
            await send({**message, "body": b""} if request.is_head and "body" in message else message)

    def _keep(self, key: Key, stored: _Stored, available: tuple[str, ...] | None) -> None:
        entry = self._entries.get(key)
        if entry is None or entry.available != available:
            self._drop(key)
            entry = self._entries[key] = _Entry(available)
            self._keys.setdefault(key[0], set()).add(key)
        lang = dict(stored.start["headers"])[b"content-language"].decode() if available else None
        self._size -= entry.size
        entry.by_language[lang] = stored
        self._size += entry.size
        while self._size > MAX_BYTES or len(self._entries) > MAX_ENTRIES:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry.size
            self._keys[key[0]].discard(key)
            if not self._keys[key[0]]:
                del self._keys[key[0]]

    def _forget(self, changes: Sequence[LoggedChange] | None) -> None:
        """Drop the responses about the FAQs that were changed, and the lists of FAQs."""
        slugs = None if changes is None else {None, *(change.slug for change in changes)}
        for key in list(self._running):
            if slugs is None or key[0] in slugs:
                del self._running[key]
        for slug in list(self._keys) if slugs is None else slugs:
            for key in list(self._keys.get(slug, ())):
                self._drop(key)


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
    return _Stored(start, not_modified, body, etag, int(lifetime[1]), scope.get("endpoint"))


async def _replay(stored: _Stored, request: _Read, age: float, send: Send) -> None:
    """Send a response or, if the client has it, 304."""
    start, body = stored.start, _EMPTY if request.is_head else stored.body
    known = request.headers.get(_ETAG)
    if known is not None and is_current(known.decode("latin-1"), stored.etag):
        start, body = stored.not_modified, _EMPTY
    if age:  # RFC 9111, 5.1
        start = {**start, "headers": [*start["headers"], (b"age", str(int(age)).encode())]}
    await send(start)
    await send(body)
