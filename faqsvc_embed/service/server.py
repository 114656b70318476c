"""The service under granian: its address, worker processes, proxies in front, and graceful shutdown.

Another ASGI server can also run `create_app()`. That server, or the proxy in front, must then protect against
slow clients, and trust `X-Forwarded-*` headers only from known proxies: otherwise clients can choose the
address by which they are rate-limited.
"""

import asyncio
import errno
import gc
import multiprocessing
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Final

from faqsvc_embed.api.event_stream import FEED_PATH
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.runtime.extras import needs_extra
from faqsvc_embed.runtime.listening import free_address, when_open

with needs_extra("service"):
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from faqsvc_embed.service.http.problems import Problem
    from faqsvc_embed.service.http.requests import mark
    from faqsvc_embed.service.http.threads import open_file_limit

BACKLOG: Final = 2048
"""Maximum number of connections that wait to be accepted."""
HEAD_TIMEOUT: Final = 10.0
"""Seconds for the head of a request to arrive."""
MAX_HEAD: Final = 65_536
"""Bytes of the head of a request."""
SWITCH_INTERVAL: Final = 0.001
"""Seconds after which a thread lets another one run."""

MakeApp = Callable[[], ASGIApp]


@dataclass(frozen=True)
class Address:
    """Where the service listens: a host and a port, or the path of a Unix socket."""

    host: str = "127.0.0.1"
    port: int = 0
    unix: Path | None = None

    def __str__(self) -> str:
        if self.unix is not None:
            return str(self.unix)
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def checked(self) -> "Address":
        """Return the address that will be used; port 0 picks a free one.

        A Unix socket that a killed process has left is removed.

        Raises:
            OSError: it is in use, is not of this machine, or is a file that is not a socket.
        """
        if self.unix is not None:
            _remove_unused(self.unix)
            return self
        return Address(*free_address(self.host, self.port))


def serve(
    make_app: MakeApp,
    address: Address,
    *,
    workers: int = 1,
    proxies: Sequence[str] = (),
    announce: Callable[[], object] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; requests then have `GRACE` seconds to finish.

    Each worker process calls `make_app`, which must be picklable. `X-Forwarded-For` and `X-Forwarded-Proto`
    are used only in requests over a Unix socket or from `proxies`, which are addresses or networks.
    `announce` is called when the first worker accepts connections.
    """
    if sys.platform == "linux":  # where a fork shares the memory of what is imported, and starts at once
        multiprocessing.set_start_method("fork", force=True)
    theirs, ours = multiprocessing.Pipe(duplex=False)
    server = Granian(
        "faqsvc",
        address=address.host,
        port=address.port,
        uds=address.unix,
        # As with other servers, the permissions of the folder decide who can connect.
        uds_permissions=0o666,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=round(HEAD_TIMEOUT * 1000), max_buffer_size=MAX_HEAD
        ),
        websockets=False,
        workers=workers,
        workers_kill_timeout=GRACE + 2,
        respawn_failed_workers=True,
        backlog=BACKLOG,
        backpressure=open_file_limit() // 2,
        log_enabled=False,
    )

    @server.on_startup
    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            stop: Any = signal.getsignal(number)
            signal.signal(number, partial(_stop, ours, stop))
        if announce is not None:
            when_open(str(address.unix) if address.unix else (address.host, address.port), announce)

    server.serve(target_loader=partial(_load, make_app, tuple(proxies), (theirs, ours)), wrap_loader=False)


def _load(make_app: MakeApp, proxies: Sequence[str], pipe: tuple[Connection, Connection]) -> ASGIApp:
    """Return the application of a worker process."""
    theirs, ours = pipe
    ours.close()  # only the main process keeps it
    app = GracefulShutdown(LingeringClose(BehindProxies(make_app(), proxies)), theirs)
    # A thread that computes, such as one that renders a page, hands over to a short request sooner.
    sys.setswitchinterval(SWITCH_INTERVAL)
    # Modules and routes are no garbage; to look at them would stop all requests for about 50 ms.
    gc.collect()
    gc.freeze()
    return app


def _stop(
    pipe: Connection, stop: Callable[[int, FrameType | None], object], number: int, frame: FrameType | None
) -> None:
    pipe.close()  # which tells the workers
    stop(number, frame)


def _remove_unused(path: Path) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "the file exists and is not a socket", str(path))
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(str(path)) == 0:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), str(path))
        path.unlink()
    with socket.socket(socket.AF_UNIX) as probe:
        probe.bind(str(path))
    path.unlink()


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
        networks = [ip_network(proxy) for proxy in proxies]

        @lru_cache(maxsize=1024)
        def is_trusted(host: str) -> bool:
            try:
                address = ip_address(host)
            except ValueError:
                return False
            return any(address in network for network in networks)

        self._is_trusted = is_trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as its client has sent it."""
        if scope["type"] == "http":
            client = scope.get("client")
            if client is None or not client[0]:  # a Unix socket
                scope["client"] = None
                self._translate(scope)
            elif self._is_trusted(client[0]):
                self._translate(scope)
        await self._app(scope, receive, send)

    def _translate(self, scope: Scope) -> None:
        mark(scope)
        given = {b"x-forwarded-for": "", b"x-forwarded-proto": ""}
        for name, value in scope["headers"]:
            if name in given:
                given[name] += "," + value.decode("latin-1")
        hosts = [_host(part) for part in given[b"x-forwarded-for"].split(",") if part.strip()]
        if hosts:
            strangers = (host for host in reversed(hosts) if not self._is_trusted(host))
            scope["client"] = (next(strangers, hosts[0]), 0)
        scheme = given[b"x-forwarded-proto"].rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme


def _host(text: str) -> str:
    """Return the address in a part of X-Forwarded-For, to which some proxies add brackets or a port."""
    text = text.strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, colon, port = text.partition(":")
    return host if colon and port.isdigit() else text


MAX_TIME: Final = 1.0
"""Seconds in which the rest of a body is read."""
MAX_PAUSE: Final = 0.1
"""Seconds without a part of it, after which nobody seems to be sending."""
MAX_REST: Final = 32_000_000
"""Bytes of it."""

_WITH_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})


class LingeringClose:
    """ASGI middleware that reads the rest of a request's body before the response is sent.

    granian closes the connection when a response is complete before the body of the request. A client or
    proxy that is still sending then gets a reset instead of the response (RFC 9112, 9.6). Caddy even stops
    sending, and drops the response, when it sees the head of one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a response that comes early waits for the body."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        names = {name for name, _ in scope["headers"]}
        if _WITH_BODY.isdisjoint(names) or b"expect" in names:  # no body, or one that is sent on request
            await self._app(scope, receive, send)
            return
        is_complete = False

        async def tracked_receive() -> Message:
            nonlocal is_complete
            message = await receive()
            is_complete = not message.get("more_body", False)
            return message

        async def read_rest() -> None:
            size = 0
            while not is_complete and size < MAX_REST:
                size += len((await asyncio.wait_for(tracked_receive(), MAX_PAUSE)).get("body", b""))

        async def send_later(message: Message) -> None:
            if not is_complete and message["type"] == "http.response.start":
                with suppress(TimeoutError):
                    await asyncio.wait_for(read_rest(), MAX_TIME)
            await send(message)

        await self._app(scope, tracked_receive, send_later)


GRACE: Final = 3
"""Seconds for requests to finish once the server is asked to stop."""


class GracefulShutdown:
    """ASGI middleware of a worker process, which stops when the other end of a pipe is closed.

    The main process holds that end. It closes it to stop its workers, and so does its own death.
    """

    def __init__(self, app: ASGIApp, pipe: Connection) -> None:
        self._app = app
        self._pipe = pipe
        self._requests: dict[asyncio.Task[object] | None, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; when it is cancelled before the response has begun, respond with 503."""
        if scope["type"] != "http":
            asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._stop)
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
        finally:
            del self._requests[task]

    def _stop(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._pipe.fileno())
        os.kill(os.getpid(), signal.SIGTERM)  # the main process may have been killed
        self._cancel({FEED_PATH})
        loop.call_later(GRACE, self._cancel, None)

    def _cancel(self, paths: set[str] | None) -> None:
        for task, path in list(self._requests.items()):
            if task is not None and (paths is None or path in paths):
                task.cancel()
