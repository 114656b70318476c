"""Run an ASGI application under granian, in one worker process or several."""

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
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Final

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from starlette.types import ASGIApp

from faqsvc_embed.runtime.listening import free_address, when_open
from faqsvc_embed.service.http.threads import open_file_limit
from faqsvc_embed.service.server.middleware import GRACE, BehindProxies, GracefulShutdown, LingeringClose

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
