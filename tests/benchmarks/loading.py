"""Runs a server, and sends it requests at a steady rate with the time of each."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@contextmanager
def serving(
    command: list[str], port: int, path: str = "/", environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run a server until it answers, and end it afterwards."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    with (
        TemporaryFile() as errors,  # a pipe that nobody reads would stop a server that warns
        subprocess.Popen(
            [sys.executable, *command], env=env, stdout=subprocess.DEVNULL, stderr=errors
        ) as process,
    ):
        try:
            if not _comes_up(process, port, path):
                errors.seek(0)
                error = errors.read()[-500:].decode(errors="replace")
                raise RuntimeError(f"the server does not come up: {error}")
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def _comes_up(process: subprocess.Popen[bytes], port: int, path: str) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            if get(port, path, 10).startswith(b"HTTP/1.1 200"):
                return True
        except OSError:
            time.sleep(0.05)
    return False


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
