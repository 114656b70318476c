"""Faults of the change feed. Under each, pages must look as they do without a feed."""

import json
from typing import Final

from tests.support.faults.behaviours import drip_forever, raw, status
from tests.support.faults.exchange import Exchange
from tests.support.faults.kinds import Fault

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_LIES: Final[tuple[dict[str, object], ...]] = (
    {},
    {"lang": "en", "revision": 1_000_000, "state": "published"},
    {"lang": "xx", "revision": -1, "state": "published"},
    {"lang": None, "revision": None, "state": "unpublished"},
)
LIE_EVERY: Final = 0.02
"""Seconds between two false reports about each FAQ."""


def lie(exchange: Exchange) -> None:
    """Report changes and deletions that never happened, until the client disconnects."""
    exchange.cut()
    exchange.send(_HEAD)
    slugs = json.loads(exchange.request.body)["slugs"]
    number = 0
    while True:
        for slug in slugs:
            number += 1
            data = json.dumps({"slug": slug, **_LIES[number % len(_LIES)]})
            exchange.send(f"id: {number}\nevent: faq\ndata: {data}\n\nevent: faq\ndata: [\n\n".encode())
        exchange.pause(LIE_EVERY)


FEEDS: Final = [
    Fault("feed refused", status(503)),
    Fault("feed cut", raw(_HEAD)),
    Fault("feed silent", raw(_HEAD, then="hang")),
    Fault("feed that lies", lie),
    Fault("feed that floods", drip_forever(b": " + b"x" * 16_000 + b"\n\n", 0.001, head=_HEAD)),
]
"""Every way in which the feed fails."""
