"""Observes each request: its id, its route, its status, how long it took, and its line in the log."""

import json
import logging
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.errors import masked

HEADER: Final = "x-request-id"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
UNKNOWN_ROUTE: Final = "(none)"

_HEADER: Final = HEADER.encode()
_SECRETS: Final = (b"faq_preview", b"link")
"""Query parameters with a preview token or a sign-in link."""
_ACCEPTED: Final = re.compile(rb"[A-Za-z0-9._~+/=:-]{1,128}")

request_id: Final = ContextVar[str | None]("faqsvc_request_id", default=None)
"""The id of the current request, for log lines; also in the worker threads of the request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One request with its response."""

    id: str
    method: str
    path: str
    """The path and the query as they were sent, without preview tokens and sign-in links."""
    route: str
    """The path of the route, such as `/api/v1/faq/{slug}`, of which there are few."""
    client: str | None
    user_agent: str
    key_id: str | None
    """The id of the API key, if it is a valid one."""
    status: int
    """0 if the client closed the connection before the response began."""
    sent_bytes: int
    seconds: float


Observer = Callable[[Exchange], object]


class ObservedRequests:
    """ASGI middleware that gives each request an id, and reports each exchange to observers.

    A valid X-Request-ID of a request is kept and returned. A new id is not put into public responses, because
    caches would give it to other clients. `routes` has the path of each endpoint.
    """

    def __init__(
        self, app: ASGIApp, *, observers: Sequence[Observer] = (), routes: Mapping[Any, str] | None = None
    ) -> None:
        self._app = app
        self._observers = observers
        self._routes = routes or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = _first(scope, _HEADER)
        is_kept = _ACCEPTED.fullmatch(given) is not None
        id_ = given.decode() if is_kept else secrets.token_hex(8)
        started = time.perf_counter()
        status = sent_bytes = 0

        async def observed_send(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                if is_kept or not _is_public(message["headers"]):
                    headers = [*message["headers"], (_HEADER, id_.encode())]  # a new list: others share it
                    message = {**message, "headers": headers}
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        request_id.set(id_)  # never reset, because the server may log an exception later
        try:
            await self._app(scope, receive, observed_send)
        except Exception:
            status = status or 500  # sent by the middleware around this one
            raise
        finally:
            if self._observers:
                exchange = Exchange(
                    id=id_,
                    method=scope["method"] if scope["method"] in METHODS else "other",
                    path=_path_of(scope),
                    route=self._routes.get(scope.get("endpoint"), UNKNOWN_ROUTE),
                    client=scope["client"][0] if scope.get("client") else None,
                    user_agent=_first(scope, b"user-agent").decode("latin-1"),
                    key_id=scope.get("state", {}).get("faqsvc_key_id"),
                    status=status,
                    sent_bytes=sent_bytes,
                    seconds=time.perf_counter() - started,
                )
                for observe in self._observers:
                    observe(exchange)


def _is_public(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"cache-control" and value.startswith(b"public") for name, value in headers)


def _path_of(scope: Scope) -> str:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    if query:
        query = b"&".join(map(_without_secret, query.split(b"&")))
    return (path + b"?" + query if query else path).decode("latin-1")


def _without_secret(field: bytes) -> bytes:
    name = field.partition(b"=")[0]  # as it was sent, which may be percent-encoded
    return name + b"=..." if unquote_to_bytes(name) in _SECRETS else field


def _first(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")


LogFormat = Literal["text", "json"]

MAX_FIELD: Final = 500
"""Characters of a path or a user agent in a line."""

access_logger: Final = logging.getLogger("faqsvc_embed.service.access")


def configure_logging(log_format: LogFormat = "text") -> None:
    """Send all log lines of this process to stderr. Only a command, which owns its process, may call this."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("faqsvc_embed").setLevel(logging.INFO)


def log_access(exchange: Exchange) -> None:
    """Log a request, in a form close to the combined log of web servers."""
    fields = {
        "method": exchange.method,
        "path": masked(exchange.path)[:MAX_FIELD],
        "status": exchange.status,
        "client": exchange.client,
        "user_agent": masked(exchange.user_agent)[:MAX_FIELD],
        "key": exchange.key_id,
        "bytes": exchange.sent_bytes,
        "ms": round(exchange.seconds * 1000, 2),
    }
    access_logger.info(
        "%s %s %s %d %d %.2fms %s%s",
        exchange.client or "unix",
        exchange.method,
        _line(fields["path"]),
        exchange.status,
        exchange.sent_bytes,
        exchange.seconds * 1000,
        json.dumps(fields["user_agent"]),
        f" key {exchange.key_id}" if exchange.key_id else "",
        extra={"http": fields},
    )


class TextFormatter(logging.Formatter):
    """Time, level and message in one line, with the id of the request; a traceback follows."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        id_ = request_id.get()
        request = f" [{id_}]" if id_ else ""
        line = f"{_time(record)} {record.levelname} {record.name}{request} {_line(record.getMessage())}"
        return line if record.exc_info is None else f"{line}\n{self.formatException(record.exc_info)}"


class JSONFormatter(logging.Formatter):
    """One JSON object a line, for collectors of logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id_ := request_id.get():
            entry["request_id"] = id_
        if http := getattr(record, "http", None):
            entry["http"] = http
        if record.exc_info is not None:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)  # ASCII only, so that no character in a record can end the line


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _line(text: object) -> str:
    """Return text that cannot end its line or steer a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(text))
