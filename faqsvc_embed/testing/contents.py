"""Faults of the content: a good head, and behind it what is no record of the FAQ that was asked for."""

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any, Final

from faqsvc_embed.testing.behaviours import altered, body, record_of, rewritten
from faqsvc_embed.testing.exchange import Behaviour, Exchange, as_json
from faqsvc_embed.testing.fault import Fault

HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


def without(name: str) -> Behaviour:
    """Answer with the good record, without one of its fields."""

    def behaviour(exchange: Exchange) -> None:
        exchange.reply(200, as_json({key: v for key, v in record_of(exchange).items() if key != name}))

    return behaviour


def wrapped(outer: str) -> Behaviour:
    """Answer with the good record inside of something else, where `%s` stands."""
    return rewritten(lambda record: outer.encode().replace(b"%s", record))


def item_with(**changes: object) -> Behaviour:
    """Answer with the good record, with one item that is not right."""
    good: dict[str, Any] = {"position": 0, "question": "Good?", "answer": "Good."}
    broken = {key: value for key, value in {**good, **changes}.items() if value is not ...}
    return altered(items=[good, broken])


def _no_records() -> Iterator[Fault]:
    bodies = {
        "an empty body": b"",
        "spaces": b" \r\n\t " * 100,
        "JSON null": b"null",
        "JSON true": b"true",
        "a number": b"42",
        "a text": b'"pricing"',
        "a JSON array": b"[]",
        "an empty object": b"{}",
        "a word": b"undefined",
        "XML": b'<?xml version="1.0"?><faq slug="pricing"/>',
        "zero bytes": b"\x00" * 1000,
        "random bytes": bytes(range(256)) * 8,
        "an error with 200": b'{"error": {"code": 500, "message": "no"}}',
        "a maintenance note": b'{"status": "maintenance", "retryAfter": 60}',
    }
    for name, content in bodies.items():
        yield Fault(name, body(content))


def _broken_json() -> Iterator[Fault]:
    yield Fault("half a record", rewritten(lambda record: record[: len(record) // 2]))
    yield Fault("two records", rewritten(lambda record: record + record))
    yield Fault("a record and a word", rewritten(lambda record: record + b" ok"))
    yield Fault("a comma too many", rewritten(lambda record: record[:-1] + b",}"))
    yield Fault("a comment", rewritten(lambda record: b"/* cached */" + record))
    yield Fault("single quotes", rewritten(lambda record: record.replace(b'"', b"'")))
    yield Fault("two byte order marks", rewritten(lambda record: b"\xef\xbb\xbf" * 2 + record))
    yield Fault("JSONP", wrapped("callback(%s);"))
    yield Fault("a guard against inclusion", wrapped(")]}',\n%s"))
    yield Fault("a record in a list", wrapped("[%s]"))
    yield Fault("a record in an envelope", wrapped('{"data": %s}'))
    yield Fault("a record in a text", rewritten(lambda record: json.dumps(record.decode()).encode()))
    yield Fault("deep nesting", body(b'{"cta":' + b"[" * 100_000))
    yield Fault("deep nesting that ends", body(b'{"cta":' + b"[" * 50_000 + b"]" * 50_000 + b"}"))
    yield Fault("NaN", rewritten(lambda record: record[:-1] + b', "cta": NaN}'))
    yield Fault("Infinity", rewritten(lambda record: record[:-1] + b', "more": -Infinity}'))
    yield Fault("a position of 5,000 digits", rewritten(_with_long_position))


def _with_long_position(record: bytes) -> bytes:
    return record.replace(b'"position": 0', b'"position": 1' + b"0" * 5000)


def _wrong_records() -> Iterator[Fault]:
    fields: dict[str, dict[str, Any]] = {
        "another FAQ": {"slug": "another"},
        "a slug of null": {"slug": None},
        "a slug that is a number": {"slug": 7},
        "a slug in a list": {"slug": ["pricing"]},
        "a slug with a space": {"slug": "pricing "},
        "a slug in capitals": {"slug": "PRICING"},
        "items of null": {"items": None},
        "items that are a text": {"items": "none"},
        "items that are a number": {"items": 3},
        "items that are an object": {"items": {"0": {"question": "Q?", "answer": "A."}}},
        "items of a wrong shape": {"items": [{"question": 1, "answer": ["x"]}]},
        "an item that is null": {"items": [None]},
        "an item that is a text": {"items": ["What does it cost?"]},
        "an item that is a pair": {"items": [["Q?", "A."]]},
        "a title that is an object": {"title": {"en": "Pricing"}},
        "a title that is a number": {"title": 5},
        "a name that is a list": {"websiteName": ["Tea"]},
    }
    for name, changes in fields.items():
        yield Fault(name, altered(**changes))
    for name in ("slug", "items"):
        yield Fault(f"a record without {name}", without(name))
    for name in ("question", "answer"):
        yield Fault(f"an item without {name}", item_with(**{name: ...}))
        for kind, value in {"null": None, "a number": 1, "a list": ["a"], "an object": {"en": "a"}}.items():
            yield Fault(f"{name} that is {kind}", item_with(**{name: value}))


def _pages() -> Iterator[Fault]:
    yield Fault("a login page with 200", body(b"<!doctype html><h1>Sign in</h1>", HTML))
    yield Fault("the single page of an application", body(b"<!doctype html><div id=app></div>" * 500, HTML))
    yield Fault("a login page that says it is JSON", body(b"<!doctype html><h1>Sign in</h1>"))
    yield Fault("PHP's complaint before the record", wrapped("<br />\n<b>Warning</b>: 1\n%s"))


def _encodings() -> Iterator[Fault]:
    packed = {"Content-Encoding": "gzip"}
    yield Fault("no UTF-8", rewritten(lambda record: record.replace(b'"title": "', b'"title": "\xff\xfe')))
    yield Fault("Latin-1", rewritten(lambda record: record.replace(b'"title": "', b'"title": "caf\xe9')))
    yield Fault(
        "a surrogate in UTF-8", rewritten(lambda r: r.replace(b'"title": "', b'"title": "\xed\xa0\x80'))
    )
    yield Fault("UTF-16", rewritten(lambda record: record.decode().encode("utf-16")))
    yield Fault("UTF-32", rewritten(lambda record: record.decode().encode("utf-32")))
    yield Fault(
        "a control character in a text", rewritten(lambda r: r.replace(b'"title": "', b'"title": "\x01'))
    )
    yield Fault("broken gzip", rewritten(lambda record: gzip.compress(record)[:-40], packed))
    yield Fault("gzip without its end", rewritten(lambda record: gzip.compress(record)[:-4], packed))
    yield Fault("gzip with a wrong sum", rewritten(lambda r: gzip.compress(r)[:-8] + b"\0" * 8, packed))
    yield Fault("gzip of nothing", rewritten(lambda record: gzip.compress(b""), packed))
    yield Fault("gzip twice", rewritten(lambda record: gzip.compress(gzip.compress(record)), packed))
    yield Fault("not gzip at all", rewritten(lambda record: record, packed))
    yield Fault("gzip that nobody mentioned", rewritten(gzip.compress))
    yield Fault("deflate", rewritten(zlib.compress, {"Content-Encoding": "deflate"}))
    for coding in ("br", "zstd", "gzip, gzip", "x" * 5000):
        unknown = rewritten(lambda record: b"\x0b\x02\x80{}\x03" + record, {"Content-Encoding": coding})
        yield Fault(f"content coding {coding[:20]}", unknown)


CONTENTS: Final = [*_no_records(), *_broken_json(), *_wrong_records(), *_pages()]
"""A good head, and no record of this FAQ behind it."""
ENCODINGS: Final = list(_encodings())
"""A record in a coding that it should not have, or that is broken."""
