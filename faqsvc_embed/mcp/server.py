"""The tools as an MCP server, on the official SDK.

It uses the SDK's low-level server, because the definitions must be exact: schemas without additional
properties, and arguments by their wire names.
"""

import signal
from functools import partial
from importlib.metadata import version
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from faqsvc_embed.client import FAQClient
from faqsvc_embed.mcp.clients import Call, Clients
from faqsvc_embed.mcp.definitions import INSTRUCTIONS, TOOLS
from faqsvc_embed.mcp.results import ToolError, shorten
from faqsvc_embed.mcp.stdio import open_stdio
from faqsvc_embed.mcp.tools import HANDLERS, answer

DAY: Final = 86_400_000
"""Milliseconds for which a client may cache the tools, which change only with a release."""


def create_server(client: FAQClient | None = None, *, is_remote: bool = False) -> Server[Any]:
    """Return a server that uses a client, which the caller closes.

    Without `client`, clients are created from environment variables when a tool first needs one. With
    `is_remote`, the API key of the environment is not used: each HTTP request brings its own.
    """
    hint = CacheHint(ttl_ms=DAY, scope="public")
    return Server(
        "faqsvc",
        version=version("faqsvc-embed"),
        title="FAQs",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": hint, "server/discover": hint},
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, Clients(client, is_remote=is_remote)),
    )


async def _list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in TOOLS])


async def _call_tool(
    clients: Clients, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    if params.name not in HANDLERS:
        message = f"Unknown tool: {shorten(params.name, 100)!r}; the tools are {', '.join(HANDLERS)}"
        raise MCPError(code=types.INVALID_PARAMS, message=message)
    writing = partial(clients.writing, context.request.headers if context.request is not None else {})
    try:
        return await answer(Call(params.name, params.arguments or {}, clients.reading, writing))
    except ToolError as error:
        return error.result()


async def serve(server: Server[Any], stdin: Any = None, stdout: Any = None) -> None:
    """Serve one client until its input ends, over standard input and output or the given files."""
    async with open_stdio(stdin, stdout) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    """Run the server over standard input and output; the log goes to standard error."""
    # A thread waits for the next line and cannot be interrupted: Ctrl-C ends the process, as SIGTERM does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(serve, create_server())
    except* BrokenPipeError:
        pass  # the client is gone
