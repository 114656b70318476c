"""Connections without an HTTP client, for requests that no client would send."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    """Lend a connection to the service at a URL."""
    parsed = httpx2.URL(url)
    with socket.create_connection((parsed.host, parsed.port), timeout=60) as connection:
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything that the service sends until it closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))
