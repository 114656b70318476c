"""A FAQ service with TLS, and the faults of TLS."""

import datetime
import socket
import ssl
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.support.faults.behaviours import hang_up, healthy, raw
from tests.support.faulty import Behaviour, Exchange, Fault, FaultyServer

Secure = Callable[[socket.socket], socket.socket]

HOST = "127.0.0.1"


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def trust_authority(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let this process trust the certificate authority of these tests by a file in a folder."""
    path = folder / "authority.pem"
    _authority().cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


class _Connection(ssl.SSLSocket):
    """Closes itself if the client has gone before the handshake; `wrap_socket` would leave it open."""

    def getpeername(self) -> Any:
        try:
            return super().getpeername()
        except OSError as error:
            self.close()
            raise ConnectionAbortedError from error


def _with_certificate(certificate: trustme.LeafCert, *, asks_for_another: bool = False) -> Secure:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = _Connection
    certificate.configure_cert(context)
    if asks_for_another:
        context.verify_mode = ssl.CERT_REQUIRED
    return lambda connection: context.wrap_socket(connection, server_side=True)


@cache
def _good() -> Secure:
    return _with_certificate(_authority().issue_cert(HOST))


class SecureServer(FaultyServer):
    """A faulty service with TLS, and a sample for every slug. Some behaviours fail during the handshake."""

    _scheme = "https"

    def __init__(self) -> None:
        self.secure = _good()
        super().__init__(any_slug=True)

    def behave(self, behaviour: Behaviour) -> None:
        """Give every later connection and request this behaviour."""
        self.secure = _HANDSHAKES.get(behaviour, _good())
        super().behave(behaviour)
        self.drop_connections()

    def _begin(self, connection: socket.socket) -> socket.socket:
        secured = self.secure(connection)
        with self._changed:
            self._open.discard(connection)
            self._open.add(secured)
        return secured


_HANDSHAKES: dict[Behaviour, Secure] = {}


def _fault(name: str, secure: Secure) -> Fault:
    """Return a fault of the handshake; behind it, a client that ignores the fault gets a good response."""

    def behaviour(exchange: Exchange) -> None:
        healthy(exchange)

    _HANDSHAKES[behaviour] = secure
    return Fault(name, behaviour)


def _expired() -> trustme.LeafCert:
    return _authority().issue_cert(HOST, not_after=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))


def _sends(data: bytes) -> Secure:
    def secure(connection: socket.socket) -> socket.socket:
        connection.recv(65_536)
        connection.sendall(data)
        raise ConnectionAbortedError

    return secure


def hang_in_handshake(connection: socket.socket) -> socket.socket:
    """Read what the client sends, and send nothing."""
    while connection.recv(65_536):
        pass
    raise ConnectionAbortedError


def _hangs_in_the_middle(connection: socket.socket) -> socket.socket:
    connection.recv(65_536)
    connection.sendall(b"\x16\x03\x03\x40\x00\x02")  # the head of a long message
    return hang_in_handshake(connection)


TLS_FAULTS = [
    _fault("self-signed certificate", _with_certificate(trustme.CA().issue_cert(HOST))),
    _fault("expired certificate", _with_certificate(_expired())),
    _fault("certificate of another host", _with_certificate(_authority().issue_cert("faq.example"))),
    _fault(
        "client certificate required", _with_certificate(_authority().issue_cert(HOST), asks_for_another=True)
    ),
    _fault("plain HTTP on the TLS port", lambda connection: connection),
    _fault("plain HTTP response to the handshake", _sends(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    _fault("garbage in the handshake", _sends(b"\x16\x03\x03\x00\x05garbage" * 100)),
    _fault("alert in the handshake", _sends(b"\x15\x03\x03\x00\x02\x02\x28")),
    _fault("closed in the handshake", _sends(b"")),
    _fault("protocol version too old", _sends(b"\x15\x03\x01\x00\x02\x02\x46")),
    _fault("hang before the handshake", hang_in_handshake),
    _fault("hang in the handshake", _hangs_in_the_middle),
    Fault("TLS: closed after the handshake", hang_up),
    Fault("TLS: closed in the head", raw(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    Fault("TLS: hang in the body", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", then="hang")),
]
"""Faults of TLS, and of the connection behind it."""
