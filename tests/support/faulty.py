"""The faulty service of the package's own chaos kit, under the names that these tests use."""

from faqsvc_embed.testing.behaviours import (
    altered,
    body,
    byte_order_mark,
    chunked,
    gzipped,
    held_until,
    redirect,
    redirect_same_origin,
    slow_head,
    status,
    until_closed,
)
from faqsvc_embed.testing.connections import (
    BOMB_BYTES,
    aborted,
    bomb,
    drip,
    drip_head,
    gzip_bomb,
    hang,
    hang_after_head,
    hang_in_body,
    header_flood,
    oversize,
    oversize_chunked,
    reset,
    too_long,
    truncated,
    truncated_chunks,
)
from faqsvc_embed.testing.exchange import Behaviour, Exchange, Gone, Received, as_json
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.faults import FAULTS, ODDITIES
from faqsvc_embed.testing.server import FaultyServer, healthy, refuse
from faqsvc_embed.testing.statuses import redirect_loop, redirect_other_origin

_json = as_json
no_gzip = body(b'{"said": "to be gzip"}', {"Content-Encoding": "gzip"})
unknown_coding = body(b"\x0b\x02\x80{}\x03", {"Content-Encoding": "br"})


def garbage(exchange: Exchange) -> None:
    """Speak no HTTP."""
    exchange.send(b"\x00\xff\x16\x03\x01 this is not the protocol \r\n\r\n" * 4)
    exchange.cut()


__all__ = [
    "BOMB_BYTES",
    "FAULTS",
    "ODDITIES",
    "Behaviour",
    "Exchange",
    "Fault",
    "FaultyServer",
    "Gone",
    "Received",
    "_json",
    "aborted",
    "altered",
    "body",
    "bomb",
    "byte_order_mark",
    "chunked",
    "drip",
    "drip_head",
    "garbage",
    "gzip_bomb",
    "gzipped",
    "hang",
    "hang_after_head",
    "hang_in_body",
    "header_flood",
    "healthy",
    "held_until",
    "no_gzip",
    "oversize",
    "oversize_chunked",
    "redirect",
    "redirect_loop",
    "redirect_other_origin",
    "redirect_same_origin",
    "refuse",
    "reset",
    "slow_head",
    "status",
    "too_long",
    "truncated",
    "truncated_chunks",
    "unknown_coding",
    "until_closed",
]
