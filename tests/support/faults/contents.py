"""Responses with status 200 whose body is not a record of the requested FAQ."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.support.faults.behaviours import altered, body, rewritten
from tests.support.faults.exchange import Behaviour
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
        "JSON true": b"true",
        "JSON number": b"42",
        "JSON string": b'"pricing"',
        "JSON array": b"[]",
        "empty JSON object": b"{}",
        "the word undefined": b"undefined",
        "XML": b'<?xml version="1.0"?><faq slug="pricing"/>',
        "zero bytes": b"\x00" * 1000,
        "random bytes": bytes(range(256)) * 8,
        "JSON error with 200": b'{"error": {"code": 500, "message": "no"}}',
        "maintenance note with 200": b'{"status": "maintenance", "retryAfter": 60}',
    }
    for name, content in bodies.items():
        yield Fault(name, body(content))
    yield Fault("login page labelled as JSON", body(b"<!doctype html><h1>Sign in</h1>"))
    yield Fault("single-page application", body(b"<!doctype html><div id=app></div>" * 500, _HTML))


def _broken_json() -> Iterator[Fault]:
    yield Fault("half a record", rewritten(lambda record: record[: len(record) // 2]))
    yield Fault("two records", rewritten(lambda record: record + record))
    yield Fault("text after the record", rewritten(lambda record: record + b" ok"))
    yield Fault("trailing comma", rewritten(lambda record: record[:-1] + b",}"))
    yield Fault("comment before the record", _wrapped("/* cached */%s"))
    yield Fault("PHP warning before the record", _wrapped("<br />\n<b>Warning</b>: 1\n%s"))
    yield Fault("single quotes", rewritten(lambda record: record.replace(b'"', b"'")))
    yield Fault("two byte order marks", _wrapped("\ufeff\ufeff%s"))
    yield Fault("JSONP", _wrapped("callback(%s);"))
    yield Fault("JSON hijacking prefix", _wrapped(")]}',\n%s"))
    yield Fault("record in an array", _wrapped("[%s]"))
    yield Fault("record in an envelope", _wrapped('{"data": %s}'))
    yield Fault("record in a string", rewritten(lambda record: json.dumps(record.decode()).encode()))
    yield Fault("deep nesting, unclosed", body(b'{"cta":' + b"[" * 100_000))
    yield Fault("NaN", rewritten(lambda record: record[:-1] + b', "cta": NaN}'))
    yield Fault("Infinity", rewritten(lambda record: record[:-1] + b', "more": -Infinity}'))
    yield Fault("position of 5,001 digits", rewritten(_with_long_position))


def _with_long_position(record: bytes) -> bytes:
    return record.replace(b'"position": 0', b'"position": 1' + b"0" * 5000)


def _wrong_records() -> Iterator[Fault]:
    fields: dict[str, dict[str, Any]] = {
        "slug: null": {"slug": None},
        "slug: number": {"slug": 7},
        "slug: array": {"slug": ["pricing"]},
        "slug with a space": {"slug": "pricing "},
        "slug in capitals": {"slug": "PRICING"},
        "no slug": {"slug": ...},
        "items: null": {"items": None},
        "items: string": {"items": "none"},
        "items: number": {"items": 3},
        "items: object": {"items": {"0": {"question": "Q?", "answer": "A."}}},
        "no items": {"items": ...},
        "item: null": {"items": [None]},
        "item: string": {"items": ["What does it cost?"]},
        "item: array": {"items": [["Q?", "A."]]},
        "item with wrong types": {"items": [{"question": 1, "answer": ["x"]}]},
        "title: object": {"title": {"en": "Pricing"}},
        "title: number": {"title": 5},
        "website name: array": {"websiteName": ["Tea"]},
    }
    for name, changes in fields.items():
        yield Fault(name, altered(**changes))
    for field in ("question", "answer"):
        yield Fault(f"item without {field}", _with_item(**{field: ...}))
        for kind, value in {"null": None, "number": 1, "array": ["a"], "object": {"en": "a"}}.items():
            yield Fault(f"{field}: {kind}", _with_item(**{field: value}))


CONTENTS: Final = [*_not_records(), *_broken_json(), *_wrong_records()]
"""Bodies that are not a record of the requested FAQ."""
