"""The tool server for MCP clients: read, generate, publish and change FAQs. It needs the extra `mcp`.

Start with `server`, which calls the functions in `reading`, `writing` and `updating`. `definitions` has the
names, schemas and descriptions of the tools; `stdio` and `http` are the transports. `faqsvc mcp` runs the
server, `create_app` returns it as an ASGI application, and `create_server` returns it for another transport.
docs/reference/command.md lists the tools.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("mcp"):
    from faqsvc_embed.mcp.http import create_app
    from faqsvc_embed.mcp.server import create_server

__all__ = ["create_app", "create_server"]
