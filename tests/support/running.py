"""Runs an ASGI application on a socket, in a thread of this process."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


def listen(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 picks a free one."""
    listening = socket.create_server((host, port), backlog=2048)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve while the block runs; yields the URL."""
    listening = listen(host, port)
    config = uvicorn.Config(app, log_config=None, log_level="error", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="faqsvc-service")
    thread.start()  # clients can connect already: the socket listens
    try:
        yield "http://{}:{}".format(*listening.getsockname()[:2])
    finally:
        server.should_exit = True
        thread.join()
