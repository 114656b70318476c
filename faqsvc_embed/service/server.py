"""The service under granian: its address, worker processes, proxies in front, and graceful shutdown.

Another ASGI server can also run `create_app()`. That server, or the proxy in front, must then protect against
slow clients, and trust `X-Forwarded-*` headers only from known proxies: otherwise clients can choose the
address by which they are rate-limited.
"""

import asyncio
import gc
import logging
import multiprocessing
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import ip_address, ip_network
from multiprocessing.connection import Connection
from typing import Final

from faqsvc_embed.api.requests import FEED_PATH
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from faqsvc_embed.runtime import serving
    from faqsvc_embed.runtime.serving import GRACE, Address
    from faqsvc_embed.service.http.requests import mark_as_from_proxy
    from faqsvc_embed.service.http.responses import Problem
    from faqsvc_embed.service.http.threads import open_file_limit

__all__ = ["Address", "check_proxies", "serve"]

SWITCH_INTERVAL: Final = 0.001
"""Seconds after which a thread lets another one run."""

MakeApp = Callable[[], ASGIApp]

logger: Final = logging.getLogger("faqsvc_embed.service")


def serve(
    make_app: MakeApp,
    address: Address,
    *,
    workers: int = 1,
    proxies: Sequence[str] = (),
    announce: Callable[[], object],
) -> None:
    """Serve until SIGINT or SIGTERM; requests then have `GRACE` seconds to finish.

    Each worker process calls `make_app`, which must be picklable. `X-Forwarded-For` and `X-Forwarded-Proto`
    are used only in requests over a Unix socket or from `proxies`, which are addresses or networks.
    `announce` is called when the first worker accepts connections.
    """
    theirs, ours = multiprocessing.Pipe(duplex=False)
    load = partial(_load, make_app, tuple(proxies), (theirs, ours))
    limits = {"workers": workers, "respawn_failed_workers": True, "backpressure": open_file_limit() // 2}
    serving.serve(load, address, announce, ours.close, **limits)


def _load(make_app: MakeApp, proxies: Sequence[str], pipe: tuple[Connection, Connection]) -> ASGIApp:
    """Return the application of a worker process."""
    theirs, ours = pipe
    ours.close()  # only the main process has it open, and closes it to stop the workers
    app = GracefulShutdown(BehindProxies(make_app(), proxies), theirs)
    # A thread that computes, such as one that renders a page, hands over to a short request sooner.
    sys.setswitchinterval(SWITCH_INTERVAL)
    # Modules and routes are no garbage; to look at them would stop all requests for about 50 ms.
    gc.collect()
    gc.freeze()
    return app


def check_proxies(proxies: Sequence[str]) -> None:
    """Raise ConfigurationError if a proxy is neither an IP address nor a network."""
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise ConfigurationError(
                f"trusted proxy {quoted(proxy)}: expected an IP address, or a network such as 10.0.0.0/8;"
                " FAQSVC_TRUSTED_PROXIES separates several with blanks"
            ) from None


class BehindProxies:
    """ASGI middleware that takes client and scheme from `X-Forwarded-For` and `X-Forwarded-Proto`.

    They are used only in requests from a trusted proxy, or over a Unix socket. The last address that is not
    a trusted proxy is the client, because a client can forge the addresses before it. Such requests are
    marked, because the desk takes the name of a person from them as well (`--sign-in-header`).
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str] = ()) -> None:
        self._app = app
        self._networks = [ip_network(proxy) for proxy in proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as its client has sent it."""
        if scope["type"] == "http":
            host = (scope.get("client") or ("",))[0]
            if not host:  # a Unix socket
                scope["client"] = None
            if not host or self._is_trusted(host):
                self._translate(scope)
        await self._app(scope, receive, send)

    def _is_trusted(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        # On a socket for IPv6 and IPv4, the address of a proxy with IPv4 is ::ffff:10.0.0.5.
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._networks)

    def _translate(self, scope: Scope) -> None:
        mark_as_from_proxy(scope)
        headers = Headers(scope=scope)
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        hosts = [_host(part) for part in forwarded.split(",") if part.strip()]
        if hosts:
            strangers = (host for host in reversed(hosts) if not self._is_trusted(host))
            scope["client"] = (next(strangers, hosts[0]), 0)
        scheme = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme


def _host(text: str) -> str:
    """Return the address in a part of X-Forwarded-For, to which some proxies add brackets or a port."""
    text = text.strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.partition(":")
    return host if colon and port.isdigit() else text


class GracefulShutdown:
    """ASGI middleware of a worker process, which ends its requests when the other end of a pipe is closed.

    The main process has that end. It closes it to stop its workers, and so does its own death.
    """

    def __init__(self, app: ASGIApp, pipe: Connection) -> None:
        self._app = app
        self._pipe = pipe
        self._requests: dict[asyncio.Task[object] | None, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; when it is cancelled before the response has begun, respond with 503."""
        if scope["type"] != "http":
            threading.Thread(target=self._wait, args=(asyncio.get_running_loop(),), daemon=True).start()
            await self._app(scope, receive, send)
            return
        task = asyncio.current_task()
        self._requests[task] = scope["path"]
        has_started = False

        async def tracked_send(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, tracked_send)
        except asyncio.CancelledError:
            if not has_started:
                headers = {"retry-after": "1", "connection": "close"}
                detail = "The service is shutting down; try again"
                problem = Problem(503, "unavailable", detail, headers=headers)
                await problem.response()(scope, receive, send)
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
        finally:
            del self._requests[task]

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait in a thread until the other end is closed: the event loop of Windows watches no pipes."""
        with suppress(EOFError, OSError):
            self._pipe.recv()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._cancel, {FEED_PATH})
            loop.call_soon_threadsafe(loop.call_later, GRACE, self._cancel, None)

    def _cancel(self, paths: set[str] | None) -> None:
        for task, path in list(self._requests.items()):
            if task is not None and (paths is None or path in paths):
                task.cancel()
