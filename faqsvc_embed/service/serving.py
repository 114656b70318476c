"""The service on a socket: for the command, for the demo, and for tests that want a real one."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from faqsvc_embed.service import ending
from faqsvc_embed.service.connections import ImpatientProtocol, open_files

BACKLOG: Final = 2048
"""Connections that may wait to be accepted."""
ANSWER_TIMEOUT: Final = 60.0
"""Seconds in which a client must have taken something of what was sent to it."""


def listen(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a socket that takes connections; port 0 picks a free one.

    Raises:
        OSError: the address is taken, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # asyncio would do so itself if the socket named its protocol; without it an answer of two packets waits
    # 40 ms for the first to be acknowledged. Connections inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux: who does not take an answer is not kept for ever
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(ANSWER_TIMEOUT * 1000))
    return listening


def address(listening: socket.socket) -> str:
    """Return the http address of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until the process is told to end; requests have `ending.GRACE` seconds more."""
    _server(app).run(sockets=[listening])


def serve_many(make_app: Callable[[], ASGIApp], listening: socket.socket, workers: int) -> None:
    """Serve from several processes until this one is told to end; each makes the application anew.

    Prefer this to `uvicorn --workers`, whose sockets make kept-alive clients wait 40 ms (see `listen`).
    `make_app` must be what pickle can carry to them, such as a `functools.partial` of `create_app`.
    """
    config = _config(partial(_made, make_app), factory=True, workers=workers)
    Multiprocess(config, sockets=[listening]).run()


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve in a thread and lend the address; this ends as `serve` does."""
    listening = listen(host, port)
    server = _server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="faqsvc-service")
    thread.start()  # the socket listens already: who connects now waits until the server is up
    try:
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join()


def _server(app: ASGIApp) -> uvicorn.Server:
    return uvicorn.Server(_config(ending.Ending(app)))


def _made(make_app: Callable[[], ASGIApp]) -> ASGIApp:
    return ending.Ending(make_app())


def _config(
    app: ASGIApp | Callable[[], ASGIApp], *, factory: bool = False, workers: int = 1
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        http=ImpatientProtocol,
        # asyncio accepts as many at a go, before the protocol can end any: they must find files to open.
        backlog=min(BACKLOG, open_files() // 4),
        timeout_graceful_shutdown=ending.GRACE,
        log_level="warning",
        ws="none",
        server_header=False,
    )
