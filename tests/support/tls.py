"""A FAQ service with TLS, and everything that can be wrong with it."""

import datetime
import socket
import ssl
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import trustme

from faqsvc_embed.testing.behaviours import raw
from faqsvc_embed.testing.exchange import Behaviour, Exchange, Gone
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.server import FaultyServer, healthy

Secure = Callable[[socket.socket], socket.socket]

HOST = "127.0.0.1"


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process trust the authority of these tests."""
    path = Path(tempfile.gettempdir()) / f"faqsvc-tests-{id(_authority())}.pem"
    _authority().cert_pem.write_to_path(str(path))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


def _with(certificate: trustme.LeafCert, **changes: object) -> Secure:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    for name, value in changes.items():
        setattr(context, name, value)
    return lambda connection: context.wrap_socket(connection, server_side=True)


@cache
def _good() -> Secure:
    return _with(_authority().issue_cert(HOST))


class SecureServer(FaultyServer):
    """A faulty service that can also fail before anything is said in HTTP."""

    def behave(self, behaviour: Behaviour) -> None:
        """Meet every later request, or every later connection, with this behaviour."""
        self.secure = _TROUBLES.get(behaviour, _good())
        super().behave(behaviour)
        self._hang_up()


def secure_service() -> SecureServer:
    """Return a service that answers well for every slug."""
    return SecureServer(answers_all=True, secure=_good())


_TROUBLES: dict[Behaviour, Secure] = {}


def _trouble(name: str, secure: Secure, *, holds: bool = False) -> Fault:
    def behaviour(exchange: Exchange) -> None:
        healthy(exchange)  # what a client gets that does not look

    _TROUBLES[behaviour] = secure
    return Fault(name, behaviour, holds=holds)


def _expired() -> trustme.LeafCert:
    return _authority().issue_cert(HOST, not_after=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))


def _says(data: bytes) -> Secure:
    def secure(connection: socket.socket) -> socket.socket:
        connection.recv(65_536)
        connection.sendall(data)
        raise Gone

    return secure


def _hangs(connection: socket.socket) -> socket.socket:
    while connection.recv(65_536):
        pass
    raise Gone


def _hangs_in_the_middle(connection: socket.socket) -> socket.socket:
    connection.recv(65_536)
    connection.sendall(b"\x16\x03\x03\x40\x00\x02")  # the head of a long message
    return _hangs(connection)


TLS_FAULTS = [
    _trouble("self-signed", _with(trustme.CA().issue_cert(HOST))),
    _trouble("expired", _with(_expired())),
    _trouble("of another host", _with(_authority().issue_cert("faq.example"))),
    _trouble("plain text on the port of TLS", lambda connection: connection),
    _trouble("a plain answer to the handshake", _says(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    _trouble("garbage in the handshake", _says(b"\x16\x03\x03\x00\x05garbage" * 100)),
    _trouble("an alert in the handshake", _says(b"\x15\x03\x03\x00\x02\x02\x28")),
    _trouble("a handshake that is cut", _says(b"")),
    _trouble("a handshake that hangs", _hangs, holds=True),
    _trouble("a handshake that hangs in the middle", _hangs_in_the_middle, holds=True),
    _trouble("a protocol too old", _says(b"\x15\x03\x01\x00\x02\x02\x46")),
    _trouble(
        "asking for a certificate of ours",
        _with(_authority().issue_cert(HOST), verify_mode=ssl.CERT_REQUIRED),
    ),
    Fault("cut behind the handshake", raw(b"")),
    Fault("cut in the head, in TLS", raw(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    Fault(
        "hanging in the body, in TLS",
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", hangs=True),
        holds=True,
    ),
]
"""What can be wrong with TLS, and what is wrong behind it."""
