"""Standard input and output for the server, over the SDK's own streams.

The SDK's server ignores malformed lines, and drops requests that are still running when the input ends.
Here both get a response.
"""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from faqsvc_embed.mcp.server import create_server

GRACE: Final = 2.0
"""Seconds that running requests may take after the input has ended."""
INTERVAL: Final = 0.02
"""Seconds between two checks whether they have ended."""
NOTIFIED: Final = "notifications/"
"""The beginning of the names of all notifications of MCP."""
INVALID: Final = "Invalid request: the line is not a JSON-RPC 2.0 message"

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


def main() -> None:
    """Run the server over standard input and output; the log goes to standard error."""
    # A thread waits for the next line and cannot be interrupted: Ctrl-C ends the process, as SIGTERM does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(serve, create_server())
    except* BrokenPipeError:  # the client is gone
        os._exit(0)  # at a usual end, Python would complain that it cannot write what is left


async def serve(server: Server[Any], stdin: Any = None, stdout: Any = None) -> None:
    """Serve one client until its input ends, over standard input and output or the given files."""
    async with open_stdio(stdin, stdout) as (read, write):
        await server.run(read, write, server.create_initialization_options())


@asynccontextmanager
async def open_stdio(stdin: Any = None, stdout: Any = None) -> AsyncIterator[Streams]:
    """Open the streams of messages for a server, over standard input and output or the given files.

    A line that is not a message gets an error response (JSON-RPC 2.0, 5.1). When the input ends, running
    requests get their responses before the stream of messages ends.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    running = set[Any]()
    """The ids of requests that have no response yet; a cancelled one gets none."""

    async with stdio_server(stdin, stdout) as (lines, write), lines:

        async def receive() -> None:
            async with to_server:
                async for item in lines:
                    if isinstance(item, SessionMessage) and _is_valid(item.message, running):
                        await to_server.send(item)
                    elif (error := error_for(item)) is not None:
                        await write.send(SessionMessage(error))
                with anyio.move_on_after(GRACE):
                    while running:
                        await anyio.sleep(INTERVAL)

        async def send() -> None:
            async with write, from_server:
                async for item in from_server:
                    await write.send(item)
                    if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                        running.discard(item.message.id)

        async with from_client, anyio.create_task_group() as group:
            group.start_soon(receive)
            group.start_soon(send)
            yield from_client, to_client


def _is_valid(message: types.JSONRPCMessage, running: set[Any]) -> bool:
    """Return whether a line is a message of MCP, and note in `running` a request that begins or ends."""
    match message:
        case types.JSONRPCNotification(method=name) if not name.startswith(NOTIFIED):
            return False  # the SDK takes a request for a notification if its id is of another type
        case types.JSONRPCRequest(id=request_id):
            running.add(request_id)
        case types.JSONRPCNotification(
            method="notifications/cancelled", params={"requestId": str() | int() as request_id}
        ):
            running.discard(request_id)
    return True


def error_for(line: object) -> types.JSONRPCError | None:
    """Return the response to a line that is not a message, or None for an empty line."""
    request_id: str | int | None = None
    code, message = types.INVALID_REQUEST, INVALID
    details = line.errors() if isinstance(line, ValidationError) else []
    inputs = [detail["input"] for detail in details]
    if any(detail["type"] == "json_invalid" for detail in details):
        text = str(inputs[0])
        if not text.strip():
            return None
        code, message = types.PARSE_ERROR, "Parse error: the line is not JSON"
        with suppress(ValueError, RecursionError):
            inputs = [json.loads(text)]  # accepts lone surrogates, to find the id of the request
    fields = next((value for value in inputs if isinstance(value, dict)), {})
    if isinstance(fields.get("id"), str | int) and not isinstance(fields["id"], bool):
        request_id = fields["id"]
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
