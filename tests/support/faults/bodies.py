"""Bodies that are no record of the requested FAQ: other contents, wrong encodings, too large."""

import gzip
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.support.faults.behaviours import altered, body, raw, rewritten
from tests.support.faults.exchange import Behaviour, Exchange, as_json
from tests.support.faults.kinds import Fault

_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


def _wrapped(outer: str) -> Behaviour:
    """Respond with `outer`, in which the good record replaces `%s`."""
    return rewritten(lambda record: outer.encode().replace(b"%s", record))


def _with_item(**changes: object) -> Behaviour:
    """Respond with a record of two items: a good one, and one with these changes; `...` removes a field."""
    good: dict[str, Any] = {"position": 0, "question": "Good?", "answer": "Good."}
    changed = {key: value for key, value in {**good, **changes}.items() if value is not ...}
    return altered(items=[good, changed])


def _not_records() -> Iterator[Fault]:
    bodies = {
        "empty body": b"",
        "spaces": b" \r\n\t " * 100,
        "JSON null": b"null",
        "JSON number": b"42",
        "JSON array": b"[]",
        "empty JSON object": b"{}",
        "XML": b'<?xml version="1.0"?><faq slug="pricing"/>',
        "zero bytes": b"\x00" * 1000,
        "JSON error with 200": b'{"error": {"code": 500, "message": "no"}}',
    }
    for name, content in bodies.items():
        yield Fault(name, body(content))
    yield Fault("login page labelled as JSON", body(b"<!doctype html><h1>Sign in</h1>"))
    yield Fault("single-page application", body(b"<!doctype html><div id=app></div>" * 500, _HTML))


def _broken_json() -> Iterator[Fault]:
    yield Fault("half a record", rewritten(lambda record: record[: len(record) // 2]))
    yield Fault("two records", rewritten(lambda record: record + record))
    yield Fault("trailing comma", rewritten(lambda record: record[:-1] + b",}"))
    yield Fault("comment before the record", _wrapped("/* cached */%s"))
    yield Fault("PHP warning before the record", _wrapped("<br />\n<b>Warning</b>: 1\n%s"))
    yield Fault("single quotes", rewritten(lambda record: record.replace(b'"', b"'")))
    yield Fault("two byte order marks", _wrapped("\ufeff\ufeff%s"))
    yield Fault("JSONP", _wrapped("callback(%s);"))
    yield Fault("record in an array", _wrapped("[%s]"))
    yield Fault("record in a string", rewritten(lambda record: json.dumps(record.decode()).encode()))
    yield Fault("deep nesting, unclosed", body(b'{"cta":' + b"[" * 100_000))
    yield Fault("NaN", rewritten(lambda record: record[:-1] + b', "cta": NaN}'))
    yield Fault("position of 5,001 digits", rewritten(_with_long_position))


def _with_long_position(record: bytes) -> bytes:
    return record.replace(b'"position": 0', b'"position": 1' + b"0" * 5000)


def _wrong_records() -> Iterator[Fault]:
    fields: dict[str, dict[str, Any]] = {
        "slug: null": {"slug": None},
        "slug with a space": {"slug": "pricing "},
        "slug in capitals": {"slug": "PRICING"},
        "no slug": {"slug": ...},
        "items: null": {"items": None},
        "items: object": {"items": {"0": {"question": "Q?", "answer": "A."}}},
        "no items": {"items": ...},
        "item: null": {"items": [None]},
        "item: string": {"items": ["What does it cost?"]},
        "item with wrong types": {"items": [{"question": 1, "answer": ["x"]}]},
        "title: object": {"title": {"en": "Pricing"}},
        "website name: array": {"websiteName": ["Tea"]},
    }
    for name, changes in fields.items():
        yield Fault(name, altered(**changes))
    for field in ("question", "answer"):
        yield Fault(f"item without {field}", _with_item(**{field: ...}))
        for kind, value in {"null": None, "object": {"en": "a"}}.items():
            yield Fault(f"{field}: {kind}", _with_item(**{field: value}))


CONTENTS: Final = [*_not_records(), *_broken_json(), *_wrong_records()]
"""Bodies that are not a record of the requested FAQ."""


_GZIP: Final = {"Content-Encoding": "gzip"}


def _in_title(data: bytes) -> Behaviour:
    return rewritten(lambda record: record.replace(b'"title": "', b'"title": "' + data))


def _characters() -> Iterator[Fault]:
    yield Fault("invalid UTF-8", _in_title(b"\xff\xfe"))
    yield Fault("surrogate in UTF-8", _in_title(b"\xed\xa0\x80"))
    yield Fault("control character in a string", _in_title(b"\x01"))
    yield Fault("UTF-16", rewritten(lambda record: record.decode().encode("utf-16")))
    yield Fault("UTF-32", rewritten(lambda record: record.decode().encode("utf-32")))


def _codings() -> Iterator[Fault]:
    yield Fault("broken gzip", rewritten(lambda record: gzip.compress(record)[:-40], _GZIP))
    yield Fault("gzip with a wrong checksum", rewritten(lambda r: gzip.compress(r)[:-8] + b"\0" * 8, _GZIP))
    yield Fault("gzip of nothing", rewritten(lambda record: gzip.compress(b""), _GZIP))
    yield Fault("plain body labelled as gzip", rewritten(lambda record: record, _GZIP))
    yield Fault("gzip without Content-Encoding", rewritten(gzip.compress))
    for coding in ("br", "zstd", "gzip, gzip", "x" * 5000):
        yield Fault(
            f"content coding {coding[:20]}",
            rewritten(lambda record: b"\x0b\x02\x80{}\x03" + record, {"Content-Encoding": coding}),
        )


ENCODINGS: Final = [*_characters(), *_codings()]
"""Records in a wrong or broken encoding."""


_BLOCK: Final = 0x10000


def header_flood(exchange: Exchange) -> None:
    """Send 16 MiB of headers."""
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    for index in range(16):
        exchange.send((b"X-Flood-%d: " % index + b"a" * 1000 + b"\r\n") * 1000)
    exchange.cut()


def oversize(exchange: Exchange) -> None:
    """Respond with a valid record of 4 MiB, with its Content-Length."""
    start = as_json({**exchange.good_record(), "more": ""})[:-2]
    size = len(start) + 64 * _BLOCK + 2
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(size)})
    for part in (start, *[b"a" * _BLOCK] * 64, b'"}'):
        exchange.send(part)
    exchange.cut()


def oversize_chunked(exchange: Exchange) -> None:
    """Respond with 64 MiB of chunks."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    chunk = b"%x\r\n%b\r\n" % (_BLOCK, b" " * _BLOCK)
    for _ in range(1024):
        exchange.send(chunk)
    exchange.cut()


def oversize_error(exchange: Exchange) -> None:
    """Respond 500 with a page of 4 MiB."""
    exchange.head(500, {"Content-Type": "text/html", "Content-Length": str(64 * _BLOCK)})
    for _ in range(64):
        exchange.send(b"a" * _BLOCK)
    exchange.cut()


def oversize_string(exchange: Exchange) -> None:
    """Respond with a record whose only answer has 1.5 MiB, in a few kilobytes of gzip."""
    item = {"position": 0, "question": "Long?", "answer": "a" * 1536 * 1024}
    packed = gzip.compress(as_json({**exchange.good_record(), "items": [item]}))
    exchange.respond(200, packed, {"Content-Encoding": "gzip"})


SIZES: Final = [
    Fault("header flood", header_flood),
    Fault("header of a megabyte", raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2**20 + b"\r\n\r\n%BODY%")),
    Fault("flood of interim responses", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20_000, then="hang")),
    Fault("record of 4 MiB", oversize),
    Fault("string too large, in gzip", oversize_string),
    Fault("error page too large", oversize_error),
    Fault("chunks without end", oversize_chunked),
    Fault(
        "Content-Length of a gigabyte", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n%BODY%")
    ),
]
"""Responses that are larger than a record may be."""
