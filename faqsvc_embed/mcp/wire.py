"""Between standard input and the SDK, which drops what is no message, and what is unfinished at the end."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

GRACE: Final = 2.0
"""Seconds that requests may still take once input has ended."""
MOST_LEVELS: Final = 100
"""Of one message's values in each other: what is nested deeper, no later step need recurse into."""

Streams = tuple[MemoryObjectReceiveStream[SessionMessage], MemoryObjectSendStream[SessionMessage]]


class _Open:
    """The requests that are not answered yet."""

    def __init__(self) -> None:
        self._ids = set[Any]()
        self._fewer = anyio.Event()

    def asked(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._drop((message.params or {}).get("requestId"))  # which is never answered

    def answered(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._drop(message.id)

    def _drop(self, request_id: object) -> None:
        self._ids -= {request_id} if isinstance(request_id, str | int) else set()
        self._fewer.set()
        self._fewer = anyio.Event()

    async def none(self) -> None:
        while self._ids:
            await self._fewer.wait()


@asynccontextmanager
async def messages(lines: AsyncIterable[str], write: Any) -> AsyncIterator[Streams]:
    """Lend the streams of a session: the messages of `lines`, and one that leads to `write`.

    Every line that is no message gets its error (JSON-RPC 2.0, 5.1). When `lines` end, requests that are
    under way are answered before the stream of messages ends.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    under_way = _Open()

    async def inward() -> None:
        async with to_server:
            async for line in lines:
                if not line.strip():
                    continue
                try:
                    message = message_of(line)
                except NoMessage as no_message:
                    await write.send(SessionMessage(no_message.answer))
                    continue
                under_way.asked(message)
                await to_server.send(SessionMessage(message))
            with anyio.move_on_after(GRACE):
                await under_way.none()

    async def outward() -> None:
        async with write, from_server:
            async for item in from_server:
                await write.send(item)
                under_way.answered(item.message)

    async with from_client, anyio.create_task_group() as group:
        group.start_soon(inward)
        group.start_soon(outward)
        yield from_client, to_client


class NoMessage(Exception):
    """A line is no message; `answer` says so to who wrote it."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        error = types.ErrorData(code=code, message=message)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def message_of(line: str) -> types.JSONRPCMessage:
    """Return the message that a line is.

    A lone surrogate is let through in the arguments of a call only: its tool will say where it is.

    Raises:
        NoMessage: it is no JSON or nested too deeply (-32700), or JSON that is no message (-32600).
    """
    try:
        fields = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise NoMessage(types.PARSE_ERROR, "Parse error: the line is not JSON") from None
    if not isinstance(fields, dict):
        said = "Invalid request: a line is one JSON object; batches are not accepted"
        raise NoMessage(types.INVALID_REQUEST, said)
    request_id = fields.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int) or not _is_text(request_id):
        if "id" in fields and "method" in fields:  # the SDK would take it for a notification, never answered
            said = "Invalid request: the id of a request is text or a whole number (MCP, Messages)"
            raise NoMessage(types.INVALID_REQUEST, said)
        request_id = None
    if _is_deep(fields):  # a limit that a parser may set (RFC 8259, 9)
        said = f"Parse error: the line is nested more than {MOST_LEVELS} levels deep"
        raise NoMessage(types.PARSE_ERROR, said, request_id)
    if not _is_text({**fields, "params": _but_the_call(fields.get("params"))}):
        said = "Invalid request: a text in it has half a surrogate pair (\\ud800 to \\udfff), no character"
        raise NoMessage(types.INVALID_REQUEST, said, request_id)
    try:
        return types.jsonrpc_message_adapter.validate_python(fields, by_name=False)
    except ValidationError:
        said = "Invalid request: the line is no JSON-RPC 2.0 message"
        raise NoMessage(types.INVALID_REQUEST, said, request_id) from None


def _but_the_call(params: object) -> object:
    return {**params, "name": "", "arguments": {}} if isinstance(params, dict) else params


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        level = [inner for outer in level for inner in _values_in(outer)]
    return bool(level)


def _values_in(value: object) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_text(value: object) -> bool:
    """Tell whether a value can be written: a lone surrogate, which JSON can escape, is no character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value (RFC 8259)")
