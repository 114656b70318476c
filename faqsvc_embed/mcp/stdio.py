"""Standard input and output for the server, over the SDK's own streams.

The SDK's server ignores malformed lines, and drops requests that are still running when the input ends.
Here both get a response.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

GRACE: Final = 2.0
"""Seconds that running requests may take after the input has ended."""

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def open_stdio(stdin: Any = None, stdout: Any = None) -> AsyncIterator[Streams]:
    """Open the streams of messages for a server, over standard input and output or the given files.

    A line that is not a message gets an error response (JSON-RPC 2.0, 5.1). When the input ends, running
    requests get their responses before the stream of messages ends.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    running = _Requests()

    async with stdio_server(stdin, stdout) as (lines, write), lines:

        async def receive() -> None:
            async with to_server:
                async for item in lines:
                    if isinstance(item, SessionMessage):
                        running.receive(item.message)
                        await to_server.send(item)
                    elif (error := error_for(item)) is not None:
                        await write.send(SessionMessage(error))
                with anyio.move_on_after(GRACE):
                    await running.finished()

        async def send() -> None:
            async with write, from_server:
                async for item in from_server:
                    await write.send(item)
                    running.send(item.message)

        async with from_client, anyio.create_task_group() as group:
            group.start_soon(receive)
            group.start_soon(send)
            yield from_client, to_client


def error_for(exception: Exception) -> types.JSONRPCError | None:
    """Return the response to a line that is not a message, or None for an empty line."""
    request_id: str | int | None = None
    code, message = types.INVALID_REQUEST, "Invalid request: the line is not a JSON-RPC 2.0 message"
    details = exception.errors() if isinstance(exception, ValidationError) else []
    inputs = [detail["input"] for detail in details]
    if any(detail["type"] == "json_invalid" for detail in details):
        line = str(inputs[0])
        if not line.strip():
            return None
        code, message = types.PARSE_ERROR, "Parse error: the line is not JSON"
        inputs = [_lenient_json(line)]  # accepts lone surrogates, to find the id of the request
    fields = next((value for value in inputs if isinstance(value, dict)), {})
    if isinstance(fields.get("id"), str | int) and not isinstance(fields["id"], bool):
        request_id = fields["id"]
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def _lenient_json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class _Requests:
    """The requests that have no response yet."""

    def __init__(self) -> None:
        self._ids = set[object]()
        self._changed = anyio.Event()

    def receive(self, message: types.JSONRPCMessage) -> None:
        """Record a message of the client."""
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))  # it gets no response

    def send(self, message: types.JSONRPCMessage) -> None:
        """Record a message of the server."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._remove(message.id)

    def _remove(self, request_id: object) -> None:
        if isinstance(request_id, str | int):
            self._ids.discard(request_id)
        self._changed.set()
        self._changed = anyio.Event()

    async def finished(self) -> None:
        """Wait until every request has its response."""
        while self._ids:
            await self._changed.wait()
