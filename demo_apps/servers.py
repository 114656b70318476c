"""Servers on 127.0.0.1, in threads of this process, or in processes of their own."""

import errno
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import uvicorn
from flask import Flask
from starlette.applications import Starlette
from werkzeug.serving import make_server

from faqsvc_embed.flask import faqs_from

HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Program:
    """A website that runs in a process of its own: a module that takes these arguments and a descriptor."""

    module: str
    arguments: tuple[str, ...]


App = Flask | Starlette | Program


class PortTaken(Exception):
    """Another program uses the port."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} is in use: stop the program that uses it, or choose others with --port"
        )


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Listen on a port; 0 picks a free one.

    Raises:
        PortTaken: the port is in use.
    """
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortTaken(port) from None
    # Without this, a kept-alive connection can wait 40 ms for the second packet of a response.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with listener:
        yield listener


def address_of(listener: socket.socket) -> str:
    """Return the address of a server that uses this socket."""
    return f"http://{HOST}:{listener.getsockname()[1]}"


@contextmanager
def serving(app: App, listener: socket.socket) -> Iterator[None]:
    """Serve an application until the block ends."""
    server = _server(app, listener)
    thread = threading.Thread(target=server.run, name=f"server {address_of(listener)}")
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


class _Server(Protocol):
    def run(self) -> None: ...

    def stop(self) -> None: ...


def _server(app: App, listener: socket.socket) -> _Server:
    if isinstance(app, Program):
        return _Process(app, listener)
    return _WSGIServer(app, listener) if isinstance(app, Flask) else _ASGIServer(app, listener)


class _Process:
    def __init__(self, program: Program, listener: socket.socket) -> None:
        descriptor = listener.fileno()
        command = [sys.executable, "-m", program.module, *program.arguments, str(descriptor)]
        self._process = subprocess.Popen(command, pass_fds=[descriptor])

    def run(self) -> None:
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()


class _ASGIServer:
    def __init__(self, app: Starlette, listener: socket.socket) -> None:
        config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._listener = listener

    def run(self) -> None:
        self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True


class _WSGIServer:
    def __init__(self, app: Flask, listener: socket.socket) -> None:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line for each request
        host, port = listener.getsockname()
        self._server = make_server(host, port, app, threaded=True, fd=listener.fileno())
        self._faqs = faqs_from(app)

    def run(self) -> None:
        self._server.serve_forever()
        self._server.server_close()

    def stop(self) -> None:
        self._server.shutdown()
        self._faqs.close()
