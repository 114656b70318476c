"""Unusual responses that are valid all the same: a reader uses their record."""

from typing import Final

from tests.support.faults.behaviours import (
    altered,
    chunked,
    gzipped,
    raw_head,
    redirect_same_origin,
    rewritten,
    slow_head,
    until_closed,
)
from tests.support.faults.exchange import Behaviour

_LENGTH: Final = "Content-Length: %LENGTH%"
ODDITIES: Final[dict[str, Behaviour]] = {
    "gzip": gzipped,
    "chunks and a trailer": chunked,
    "body until the connection closes": until_closed,
    "byte order mark": rewritten(lambda record: b"\xef\xbb\xbf" + record),
    "slow head": slow_head(0.05),
    "redirect on the same origin": redirect_same_origin,
    "unknown fields": altered(unknown={"a": [1]}, cta={"label": "Buy", "url": "/buy"}),
    "title and language null": altered(title=None, lang=None, websiteName=None),
    "interim response first": raw_head("", "HTTP/1.1 200 OK", first="HTTP/1.1 100 Continue"),
    "no reason phrase": raw_head(_LENGTH, first="HTTP/1.1 200 "),
    "HTTP/1.0": raw_head(_LENGTH, first="HTTP/1.0 200 OK"),
    "another content type": raw_head("Content-Type: text/plain", _LENGTH),
    "malformed caching headers": raw_head("Cache-Control: =, ;, perhaps", "Age: soon"),
}
"""Unusual responses whose record a reader uses."""
