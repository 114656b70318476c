"""Observes each request: its status, how long it took, and its line in the log."""

import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.errors import masked

_SECRETS: Final = (b"faq_preview", b"link")
"""Query parameters with a preview token or a sign-in link."""


class Outcome(NamedTuple):
    """The result of a request. The status is 0 if the client closed the connection before the response."""

    status: int
    sent_bytes: int
    seconds: float


Observer = Callable[[Scope, Outcome], object]


def observe(app: Starlette, *, access_log: bool, metrics: bool) -> None:
    """With `access_log`, log each request; with `metrics`, serve `/metrics`."""
    observers: list[Observer] = [log_access] if access_log else []
    if metrics:
        from faqsvc_embed.service.http.metrics import ServiceMetrics

        observers.append(ServiceMetrics(app).observe)
    if observers:
        app.add_middleware(ObservedRequests, observers=observers)


class ObservedRequests:
    """ASGI middleware that reports each request and its result to observers."""

    def __init__(self, app: ASGIApp, *, observers: Sequence[Observer]) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = sent_bytes = 0

        async def observed_send(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, observed_send)
        except Exception:
            status = status or 500  # sent by the middleware around this one
            raise
        finally:
            outcome = Outcome(status, sent_bytes, time.perf_counter() - started)
            for observe in self._observers:
                observe(scope, outcome)


def _path_of(scope: Scope) -> str:
    """Return the path and the query as they were sent, without preview tokens and sign-in links."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    if query:
        query = b"&".join(map(_without_secret, query.split(b"&")))
    return (path + b"?" + query if query else path).decode("latin-1")


def _without_secret(field: bytes) -> bytes:
    name = field.partition(b"=")[0]  # as it was sent, which may be percent-encoded
    return name + b"=..." if unquote_to_bytes(name) in _SECRETS else field


MAX_FIELD: Final = 500
"""Characters of a method, a path or a user agent in a line."""

access_logger: Final = logging.getLogger("faqsvc_embed.service.access")


def configure_logging() -> None:
    """Send all log lines of this process to stderr. Only a command, which owns its process, may call this."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("faqsvc_embed").setLevel(logging.INFO)
    # Anybody could fill the log with malformed forms.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


def log_access(scope: Scope, outcome: Outcome) -> None:
    """Log a request, in a form close to the combined log of web servers."""
    client, key_id = scope.get("client"), scope.get("state", {}).get("faqsvc_key_id")
    agent = next((value for name, value in scope["headers"] if name == b"user-agent"), b"").decode("latin-1")
    access_logger.info(
        "%s %s %s %d %d %.2fms %s%s",
        client[0] if client else "unix",
        _line(scope["method"])[:MAX_FIELD],
        _line(masked(_path_of(scope))[:MAX_FIELD]),
        outcome.status,
        outcome.sent_bytes,
        outcome.seconds * 1000,
        json.dumps(masked(agent)[:MAX_FIELD]),
        f" key {key_id}" if key_id else "",
    )


class LineFormatter(logging.Formatter):
    """Time, level and message in one line; a traceback follows."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = f"{at} {record.levelname} {record.name} {_line(record.getMessage())}"
        return line if record.exc_info is None else f"{line}\n{self.formatException(record.exc_info)}"


def _line(text: str) -> str:
    """Return a text without line breaks and control characters."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
