"""Between standard input and the SDK, which drops what is no message, and what is unfinished at the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

GRACE: Final = 2.0
"""Seconds that requests may still take once input has ended."""

Inbound = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Inbound], MemoryObjectSendStream[SessionMessage]]


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

    def _drop(self, request_id: Any) -> None:
        self._ids.discard(request_id)
        self._fewer.set()
        self._fewer = anyio.Event()

    async def none(self) -> None:
        while self._ids:
            await self._fewer.wait()


@asynccontextmanager
async def answering_what_is_no_message(read: Any, write: Any) -> AsyncIterator[Streams]:
    """Lend streams like `read` and `write`, on which every line that is no message gets its error.

    That is -32700 for what is no JSON, and -32600 for JSON that is no message (JSON-RPC 2.0, 5.1). When
    `read` ends, requests that are under way are answered before the stream that is lent ends.
    """
    to_server, from_client = anyio.create_memory_object_stream[Inbound](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    under_way = _Open()

    async def inward() -> None:
        async with to_server:
            async for item in read:
                if isinstance(item, Exception):
                    if (error := _error(item)) is not None:
                        await write.send(SessionMessage(error))
                    continue
                under_way.asked(item.message)
                await to_server.send(item)
            with anyio.move_on_after(GRACE):
                await under_way.none()

    async def outward() -> None:
        async with write:
            async for item in from_server:
                await write.send(item)
                under_way.answered(item.message)

    async with anyio.create_task_group() as group:
        group.start_soon(inward)
        group.start_soon(outward)
        yield from_client, to_client


def _error(exception: Exception) -> types.JSONRPCError | None:
    """Return the answer to a line that is no message; None to an empty line."""
    details = exception.errors(include_url=False) if isinstance(exception, ValidationError) else []
    if any(detail["type"] == "json_invalid" for detail in details):
        if not str(details[0]["input"]).strip():
            return None
        error = types.ErrorData(code=types.PARSE_ERROR, message="Parse error: the line is not JSON")
        return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
    message = "Invalid request: the line is no JSON-RPC 2.0 message; batches are not accepted"
    error = types.ErrorData(code=types.INVALID_REQUEST, message=message)
    inputs = (detail["input"] for detail in details)
    ids = (found["id"] for found in inputs if isinstance(found, dict) and "id" in found)
    known = next((one for one in ids if isinstance(one, str | int) and not isinstance(one, bool)), None)
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=error)
