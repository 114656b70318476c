"""The tool server for MCP clients, over standard input and output: read, generate and publish FAQs.

Specification: MCP tools. `faqsvc mcp` and `python -m faqsvc_embed.mcp` run it; `server.create_server` makes
one for another transport. It needs the extra `mcp`.
"""
