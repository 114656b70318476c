"""The four tools as an MCP server on the official SDK, in both eras of the protocol.

The SDK's low-level server is used, for the definitions are exact: schemas that allow nothing else, and
arguments by their wire names. It speaks the protocol; what it does not do by itself is done here.
"""

import io
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import without_keys
from faqsvc_embed.mcp.definitions import INSTRUCTIONS, TOOLS
from faqsvc_embed.mcp.results import MOST_MESSAGE, Refusal, shortened
from faqsvc_embed.mcp.tools import Tools
from faqsvc_embed.mcp.wire import messages

NAMES: Final = [tool["name"] for tool in TOOLS]
DAY: Final = 86_400_000
"""Milliseconds: the tools change with a release only."""


def create_server(client: FAQClient | None = None) -> Server[Any]:
    """Return the server over a client, by default one of the environment's settings made at the first call.

    The client is closed when the server ends.
    """
    tools = Tools(client)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await tools.aclose()

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in TOOLS])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in NAMES:
            message = f"Unknown tool: {shortened(params.name, 100)!r}; there are {', '.join(NAMES)}"
            raise MCPError(code=types.INVALID_PARAMS, message=message)

        async def report(seconds: float, message: str) -> None:
            await context.session.report_progress(seconds, message=message)

        try:
            answer = await tools.call(params.name, params.arguments or {}, report)
        except Refusal as refusal:
            message = shortened(without_keys(str(refusal)), MOST_MESSAGE)
            return types.CallToolResult(content=[_text(message)], is_error=True)
        notes = [_text(answer.note)] if answer.note else []
        return types.CallToolResult(content=[_text(answer.text), *notes], structured_content=answer.content)

    hint = CacheHint(ttl_ms=DAY, scope="public")
    return Server(
        "faqsvc",
        version=_version(),
        title="FAQs",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        cache_hints={"tools/list": hint, "server/discover": hint},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _version() -> str:
    try:
        return version("faqsvc-embed")
    except PackageNotFoundError:  # run from its source, without being installed
        return ""


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


async def serve() -> None:
    """Serve one client over standard input and output until it closes its end."""
    server = create_server()
    lines = anyio.wrap_file(open(0, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115
    # The SDK is to guard standard output; it is given nothing to read.
    async with (
        stdio_server(stdin=anyio.wrap_file(io.StringIO())) as (nothing, output),
        nothing,
        messages(lines, output) as (read, write),
    ):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    """Run the tool server; standard output is the protocol's, all else goes to standard error."""
    # A thread waits for the next line, which nothing can interrupt: Ctrl-C ends the process as SIGTERM does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(serve)
    except* BrokenPipeError:
        pass  # the client is gone
