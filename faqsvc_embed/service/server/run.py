"""Run an ASGI application on a socket: in this thread, in another one, or in worker processes."""

import errno
import gc
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from faqsvc_embed.service.http.open_files import open_file_limit
from faqsvc_embed.service.server import shutdown
from faqsvc_embed.service.server.protocol import TimeoutH11Protocol
from faqsvc_embed.service.server.proxies import BehindProxies

BACKLOG: Final = 2048
"""Maximum number of connections that wait to be accepted."""
SEND_TIMEOUT: Final = 60.0
"""Seconds in which a client must acknowledge some of the data that was sent to it."""


def listen(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 picks a free one.

    Raises:
        OSError: the address is in use, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # Connections inherit both options. Without the first, which asyncio only sets on sockets that it opened
    # itself, a response of two packets takes 40 ms longer.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SEND_TIMEOUT * 1000))
    return listening


@contextmanager
def listen_unix(path: str) -> Iterator[socket.socket]:
    """Lend a listening Unix socket, for a proxy on the same machine; its file is removed when the block ends.

    A socket that a killed process has left is replaced.

    Raises:
        OSError: the file exists and is not a socket, or a process listens on it.
    """
    file = Path(path)
    with suppress(FileNotFoundError):
        if not file.is_socket() and file.exists():
            raise FileExistsError(errno.EEXIST, "the file exists and is not a socket", path)
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(path) == 0:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), path)
        file.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        file.chmod(0o666)  # the permissions of the folder decide who can connect, as with other servers
        listening.listen(BACKLOG)
        try:
            yield listening
        finally:
            file.unlink(missing_ok=True)


def url_of(listening: socket.socket) -> str:
    """Return the http URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listening: socket.socket, proxies: Sequence[str] = ()) -> None:
    """Serve until SIGINT or SIGTERM; requests then have `shutdown.GRACE` seconds to finish.

    `X-Forwarded-For` and `X-Forwarded-Proto` are used only in requests over a Unix socket or from `proxies`,
    which are addresses or networks.
    """
    _freeze()
    _server(BehindProxies(app, proxies)).run(sockets=[listening])


def serve_workers(
    make_app: Callable[[], ASGIApp], listening: socket.socket, workers: int, proxies: Sequence[str] = ()
) -> None:
    """Serve from several processes, as `serve` does. Each calls `make_app`, which must be picklable.

    Unlike those of `uvicorn --workers`, the connections have TCP_NODELAY set (see `listen`).
    """
    config = _config(partial(_make, make_app, tuple(proxies)), factory=True, workers=workers)
    Multiprocess(config, sockets=[listening]).run()


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve in a background thread while the block runs; yields the URL."""
    listening = listen(host, port)
    server = _server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="faqsvc-service")
    thread.start()  # clients can connect already: the socket listens
    try:
        yield url_of(listening)
    finally:
        server.should_exit = True
        thread.join()


def _server(app: ASGIApp) -> uvicorn.Server:
    return uvicorn.Server(_config(shutdown.GracefulShutdown(app)))


def _make(make_app: Callable[[], ASGIApp], proxies: Sequence[str]) -> ASGIApp:
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), name="faqsvc-parent", daemon=True).start()
    app = make_app()
    _freeze()
    return shutdown.GracefulShutdown(BehindProxies(app, proxies))


def _freeze() -> None:
    """Exclude modules and routes from garbage collection, which would stop all requests for about 50 ms."""
    gc.collect()
    gc.freeze()


def _end_after(parent: BaseProcess) -> None:
    """End this worker after its parent, which may have been killed; nobody else would restart or stop it."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _config(
    app: ASGIApp | Callable[[], ASGIApp], *, factory: bool = False, workers: int = 1
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        http=TimeoutH11Protocol,
        # asyncio accepts up to this many connections at once, before the protocol can close any of them.
        backlog=min(BACKLOG, open_file_limit() // 4),
        timeout_graceful_shutdown=shutdown.GRACE,
        log_config=None,  # the host of the process decides
        log_level="warning",
        proxy_headers=False,  # see `BehindProxies`; by default uvicorn trusts every process of this machine
        ws="none",
        server_header=False,
    )
