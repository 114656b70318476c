"""The tool server over streamable HTTP: stateless, as an ASGI application or on a port of its own.

Each request must send its API key, in `X-Plugin-Key` or as a bearer token, so an open port does not give
others write access. The protocol is the streamable HTTP transport of MCP (modelcontextprotocol.io).
"""

import ipaddress
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from faqsvc_embed.client import FAQClient
from faqsvc_embed.mcp.server import create_server
from faqsvc_embed.runtime.serving import Address, serve

PATH: Final = "/mcp"
MAX_BODY: Final = 2_000_000
"""Bytes of a request, twice the largest publication."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


class ToolServerApp:
    """The tool server at the path where it is mounted, and at `/mcp` below it."""

    def __init__(self, client: FAQClient | None, security: TransportSecuritySettings | None) -> None:
        self._server = create_server(client, is_remote=True)
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the lifespan."""
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
        elif scope["type"] != "http":
            return
        elif scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") not in ("", PATH):
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        elif scope["method"] == "GET":  # a server without sessions needs no stream
            told = "This is a server for MCP clients, which send POST requests"
            await PlainTextResponse(told, 405, {"Allow": "POST"})(scope, receive, send)
        else:
            # Each request has a manager, because frameworks do not run the lifespan of a mounted application.
            manager = StreamableHTTPSessionManager(
                self._server,
                stateless=True,
                security_settings=self._security,
                max_request_body_size=MAX_BODY,
            )
            async with manager.run():
                await manager.handle_request(scope, receive, send)


def create_app(client: FAQClient | None = None) -> ToolServerApp:
    """Return the tool server as an ASGI application, to be mounted or served alone.

    Each request brings its own API key, in the header `X-Plugin-Key` or as a bearer token. Without `client`,
    FAQSVC_BASE_URL names the service, and FAQSVC_API_KEY is not used. Requests without a key
    use the key of a given `client`: then the host must decide who may send requests.
    """
    return ToolServerApp(client, None)


def serve_http(address: Address, allowed_hosts: Sequence[str], announce: Callable[[], object]) -> None:
    """Serve on an address until SIGINT or SIGTERM; `announce` is called when it accepts connections.

    On an address of this machine, only requests that name this machine are accepted, so that no website can
    reach the server through a browser (DNS rebinding); or one of `allowed_hosts`, as behind a proxy.
    """
    security = None
    if allowed_hosts or ipaddress.ip_address(address.host).is_loopback:
        hosts = [*_LOOPBACK, *allowed_hosts]
        security = TransportSecuritySettings(
            allowed_hosts=[*allowed_hosts, *(f"{host}:*" for host in hosts)],
            allowed_origins=[
                *(f"http://{host}:*" for host in _LOOPBACK),
                *(f"https://{host}{port}" for host in allowed_hosts for port in ("", ":*")),
            ],
        )
    serve(partial(ToolServerApp, None, security), address, announce)
