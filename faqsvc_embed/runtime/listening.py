"""The address on which a server will listen."""

import socket
import threading
import time
from collections.abc import Callable


def free_address(host: str, port: int) -> tuple[str, int]:
    """Return the address of a host and a port; port 0 picks a free one.

    Raises:
        OSError: it is in use, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as probe:
        found = probe.getsockname()
    return found[0], found[1]


def when_open(address: tuple[str, int] | str, call: Callable[[], object]) -> None:
    """Call a function, in a thread, when something listens on an address or on the path of a Unix socket."""
    threading.Thread(target=_wait, args=(address, call), name="faqsvc-address", daemon=True).start()


def _wait(address: tuple[str, int] | str, call: Callable[[], object]) -> None:
    is_unix = isinstance(address, str)
    family = socket.AF_UNIX if is_unix else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    while True:
        with socket.socket(family) as probe:
            probe.settimeout(1)
            if probe.connect_ex(address) == 0:
                break
        time.sleep(0.02)
    call()
