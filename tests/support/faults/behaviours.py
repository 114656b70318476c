"""More behaviours of the faulty service than users need: correct but unusual responses, and broken ones."""

import gzip
from typing import Final

from faqsvc_embed.testing.chaos.behaviours import body, healthy, raw, send_slowly
from faqsvc_embed.testing.chaos.exchange import Behaviour, Exchange

_OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def gzipped(exchange: Exchange) -> None:
    """Respond well, in gzip."""
    exchange.respond(200, gzip.compress(exchange.good_body()), {"Content-Encoding": "gzip"})


def chunked(exchange: Exchange) -> None:
    """Respond well, in chunks of seven bytes with a trailer."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    content = exchange.good_body()
    chunks = (content[start : start + 7] for start in range(0, len(content), 7))
    exchange.send(b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks))
    exchange.send(b"0\r\nX-Trailer: yes\r\n\r\n")


def redirect_same_origin(exchange: Exchange) -> None:
    """Redirect to another address of this origin, and respond well there."""
    if exchange.request.target.endswith("moved=1"):
        healthy(exchange)
    else:
        joined = f"{exchange.request.target}{'&' if '?' in exchange.request.target else '?'}moved=1"
        exchange.respond(307, b"", {"Location": joined})


def raw_head(*lines: str, first: str = "HTTP/1.1 200 OK") -> Behaviour:
    """Respond with exactly this status line and these header lines, and the good body."""
    return raw("\r\n".join([first, *lines, "", "%BODY%"]).encode("latin-1"))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Use these behaviours in rotation, one for each request."""
    count = 0

    def behaviour(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        behaviours[(count - 1) % len(behaviours)](exchange)

    return behaviour


def drip_head(interval: float) -> Behaviour:
    """Send the head, one byte after each interval."""

    def behaviour(exchange: Exchange) -> None:
        content = exchange.good_body()
        send_slowly(exchange, _OK + b"Content-Length: %d\r\n\r\n" % len(content), interval)
        exchange.send(content)

    return behaviour


def drip_forever(data: bytes, interval: float, *, head: bytes = b"") -> Behaviour:
    """Send `head`, then the same data after each interval, without end."""

    def behaviour(exchange: Exchange) -> None:
        exchange.send(head)
        while True:
            exchange.pause(interval)
            exchange.send(data)

    return behaviour


until_closed: Behaviour = raw(_OK + b"Connection: close\r\n\r\n%BODY%")
"""Respond well, with the end of the connection as the end of the body."""

hang_up: Behaviour = raw(b"")
"""Close the connection without a response."""

hang_after_head: Behaviour = raw(_OK + b"Content-Length: 5000\r\n\r\n", then="hang")
"""Announce a body and never send it."""

hang_in_body: Behaviour = raw(_OK + b"Content-Length: %LENGTH%\r\n\r\n%HALF%", then="hang")
"""Send half of the body, then nothing."""

truncated_chunks: Behaviour = raw(_OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
"""Close the connection before the last chunk."""

no_gzip: Behaviour = body(b'{"coding": "identity"}', {"Content-Encoding": "gzip"})
"""Label a plain body as gzip."""

unknown_coding: Behaviour = body(b"\x0b\x02\x80{}\x03", {"Content-Encoding": "br"})
"""Respond in a content coding that was not requested."""
