"""The tool server for MCP clients: read, generate, publish and change FAQs. It needs the extra `mcp`.

`definitions` has what a client sees, `tools` calls what `reading` and `writing` do; `server`, `stdio` and
`http` speak the protocol. `faqsvc mcp` runs the server, `create_app` returns it as an ASGI application, and
`create_server` makes one for another transport. Begin with `tools`. Specification: MCP tools.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("mcp"):
    from faqsvc_embed.mcp.http import create_app
    from faqsvc_embed.mcp.server import create_server

__all__ = ["create_app", "create_server"]
