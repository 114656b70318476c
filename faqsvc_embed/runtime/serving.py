"""Serves an ASGI application in worker processes, with granian."""

import errno
import multiprocessing
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
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
from granian.log import LogLevels

BACKLOG: Final = 2048
"""Maximum number of connections that wait to be accepted."""
HEAD_TIMEOUT: Final = 10.0
"""Seconds for the head of a request to arrive."""
MAX_HEAD: Final = 65_536
"""Bytes of the head of a request."""
GRACE: Final = 3
"""Seconds in which running requests may end after the server was asked to stop."""
KILL_AFTER: Final = GRACE + 2
"""Seconds after which a worker process that has not stopped is killed."""
LOGGING: Final[dict[str, Any]] = {
    "formatters": {},
    "handlers": {},
    "loggers": {"_granian": {"handlers": [], "propagate": True}, "granian.access": {"handlers": []}},
}
"""The messages of granian, such as the end of a worker, go to the handlers of the process only."""


@dataclass(frozen=True)
class Address:
    """Where a server listens: a host and a port, or the path of a Unix socket."""

    host: str = "127.0.0.1"
    port: int = 0
    unix: Path | None = None

    def __str__(self) -> str:
        if self.unix is not None:
            return str(self.unix)
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    @property
    def family(self) -> int:
        """The family of its socket."""
        if self.unix is not None:
            return socket.AF_UNIX
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    def checked(self) -> "Address":
        """Return the address that will be used; port 0 picks a free one.

        A Unix socket that a killed process has left behind is removed.

        Raises:
            OSError: the address is in use or not of this machine, or its path is a file that is not a socket.
        """
        if self.unix is not None:
            _remove_unused(self.unix)
            return self
        with socket.create_server((self.host, self.port), family=self.family) as probe:
            return Address(*probe.getsockname()[:2])

    def connect(self) -> int:
        """Connect to it, and return the number of the error; 0 if something listens there."""
        with socket.socket(self.family) as probe:
            probe.settimeout(1)
            return probe.connect_ex(str(self.unix) if self.unix else (self.host, self.port))


def _remove_unused(path: Path) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "the file exists and is not a socket", str(path))
        error = Address(unix=path).connect()
        if error in (0, errno.EAGAIN):  # there is a server, which may be too busy to accept more
            error = errno.EADDRINUSE
        if error != errno.ECONNREFUSED:
            raise OSError(error, os.strerror(error), str(path))
        path.unlink()
    with socket.socket(socket.AF_UNIX) as probe:
        probe.bind(str(path))
    path.unlink()


def reason_of(error: OSError) -> str:
    """Return why an address cannot be used, without the address."""
    return (error.strerror or str(error)).partition(" (while ")[0]  # socket.create_server repeats it


def serve(
    load: Callable[[], Any],
    address: Address,
    announce: Callable[[], object],
    stopping: Callable[[], object] | None = None,
    **options: Any,
) -> None:
    """Serve until SIGINT or SIGTERM, or until the terminal is closed (SIGHUP), unless under nohup.

    Each worker process calls `load` for its application, and ends if this process is killed. `announce` is
    called when the first one accepts connections, `stopping` when the signal arrives. `options` are other
    options of granian.
    """
    under_nohup = sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    if sys.platform == "linux":  # a fork starts at once, and shares the memory of imported modules
        multiprocessing.set_start_method("fork", force=True)
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
        workers_kill_timeout=KILL_AFTER,
        backlog=BACKLOG,
        log_level=LogLevels.warning,
        log_dictconfig=LOGGING,
        **options,
    )

    @server.on_startup
    def prepare() -> None:
        stop: Any = signal.getsignal(signal.SIGTERM)

        def handle(number: int, frame: FrameType | None) -> None:
            if stopping is not None:
                stopping()
            stop(number, frame)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handle)
        if sys.platform != "win32":  # at SIGHUP, granian would start new workers
            signal.signal(signal.SIGHUP, signal.SIG_IGN if under_nohup else handle)
        threading.Thread(target=partial(_announce, address, announce), daemon=True).start()

    server.serve(target_loader=partial(_load, load, *multiprocessing.Pipe(duplex=False)), wrap_loader=False)


def _load(load: Callable[[], Any], theirs: Connection, ours: Connection) -> Any:
    """Return the application of a worker process."""
    ours.close()  # only the main process has it open, until its death
    threading.Thread(target=_end_after, args=(theirs,), daemon=True).start()
    return load()


def _end_after(main: Connection) -> None:
    """End this worker process after its main process, even if a call hangs: nothing else would end it."""
    with suppress(EOFError):
        main.recv()
    os.kill(os.getpid(), signal.SIGTERM)
    signal.alarm(KILL_AFTER)


def _announce(address: Address, announce: Callable[[], object]) -> None:
    while address.connect() != 0:
        time.sleep(0.02)
    announce()
