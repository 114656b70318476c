"""Connections that fail: refused, closed, reset, hanging or slow at every stage of an exchange."""

from typing import Final

from tests.support.faults.behaviours import (
    drip_forever,
    drip_head,
    hang_after_head,
    hang_in_body,
    hang_up,
    raw,
    truncated_chunks,
)
from tests.support.faults.exchange import Exchange
from tests.support.faults.kinds import Fault

_HEAD: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_INTERVAL: Final = 0.05


def drip_chunks(exchange: Exchange) -> None:
    """Send the good body in chunks of one byte, one after each interval."""
    exchange.send(_CHUNKED)
    for byte in exchange.good_body():
        exchange.pause(_INTERVAL)
        exchange.send(b"1\r\n%c\r\n" % byte)


def _hanging(name: str, data: bytes) -> Fault:
    return Fault(name, raw(data, then="hang"))


CONNECTIONS: Final = [
    Fault("connection closed", hang_up),
    Fault("connection reset in the head", raw(_HEAD + b"Content-Ty", then="reset")),
    Fault("connection reset in the body", raw(_HEAD + b'Content-Length: 500\r\n\r\n{"slug"', then="reset")),
    Fault("closed in the status line", raw(b"HTTP/1.1 2")),
    Fault("closed in the head", raw(_HEAD + b"Content-Type: appl")),
    Fault("truncated chunks", truncated_chunks),
    Fault("truncated body without a length", raw(b'HTTP/1.0 200 OK\r\n\r\n{"slug": "pricing", ')),
    _hanging("hang in the status line", b"HTTP/1.1 2"),
    _hanging("hang in the head", _HEAD + b"Content-Type: appl"),
    Fault("hang after the head", hang_after_head),
    Fault("hang in the body", hang_in_body),
    _hanging("hang at the end of a body without a length", _HEAD + b"\r\n%BODY%"),
    _hanging("hang in a chunk size", _CHUNKED + b"ff"),
    _hanging("hang in a chunk", _CHUNKED + b"FFFF\r\n"),
    _hanging("hang before the last chunk", _CHUNKED + b"2\r\n{}\r\n"),
    _hanging("hang after 100 Continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
    _hanging("hang in the body of a 500", b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nx"),
    _hanging("hang in the body of a 404", b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nx"),
    _hanging("hang in the head of a redirect", b"HTTP/1.1 302 Found\r\nLocation: /"),
    Fault("drip the head", drip_head(_INTERVAL)),
    Fault("drip chunks", drip_chunks),
    Fault("drip spaces", drip_forever(b" ", _INTERVAL, head=_HEAD + b"\r\n")),
    Fault("drip interim responses", drip_forever(b"HTTP/1.1 103 Early Hints\r\n\r\n", _INTERVAL)),
]
"""Connections that fail, at every stage of an exchange."""
