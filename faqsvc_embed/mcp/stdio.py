"""The tool server over standard input and output.

The SDK's server ignores lines that are not messages of MCP. Here they get an error (JSON-RPC 2.0, 5.1).
"""

import json
from contextlib import suppress
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

NOTIFIED: Final = "notifications/"
"""The beginning of the names of all notifications of MCP."""
INVALID: Final = "Invalid request: the line is not a JSON-RPC 2.0 message"


async def serve(server: Server[Any], stdin: Any = None, stdout: Any = None) -> None:
    """Serve one client until its input ends, over standard input and output or the given files."""
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server(stdin, stdout) as (lines, write), anyio.create_task_group() as group:

        async def receive() -> None:
            async with to_server, lines:
                async for item in lines:
                    if isinstance(item, SessionMessage) and _is_known(item.message):
                        await to_server.send(item)
                    elif (error := _error_for(item)) is not None:
                        await write.send(SessionMessage(error))

        group.start_soon(receive)
        await server.run(from_client, write, server.create_initialization_options())
        group.cancel_scope.cancel()


def _is_known(message: types.JSONRPCMessage) -> bool:
    """Return whether a message is one of MCP, and not a request whose id has a wrong type.

    The SDK reads such a request as a notification.
    """
    return not isinstance(message, types.JSONRPCNotification) or message.method.startswith(NOTIFIED)


def _error_for(line: object) -> types.JSONRPCError | None:
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
