"""Sends a server requests at a steady rate, and measures the time of each."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing


def free_port() -> int:
    """Return a port that nobody listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port: int = listening.getsockname()[1]
        return port


def get(port: int, path: str, timeout: float) -> bytes:
    """Return a whole response, head and body, by a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        parts = list[bytes]()
        while part := connection.recv(262_144):
            parts.append(part)
        return b"".join(parts)


def steadily(
    port: int, path: str, seconds: float, rate: float, timeout: float
) -> Iterator[tuple[float, float, bytes]]:
    """Send `rate` requests a second; yield when each began, the seconds it took, and its response.

    A response that does not arrive within `timeout` is empty.
    """
    began = time.perf_counter()

    def ask(number: int) -> tuple[float, float, bytes]:
        due = began + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        try:
            response = get(port, path, timeout)
        except OSError:
            response = b""
        return due - began, time.perf_counter() - due, response

    with ThreadPoolExecutor(64) as pool:
        yield from pool.map(ask, range(int(seconds * rate)))
