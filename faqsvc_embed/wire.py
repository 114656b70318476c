"""Records as they are on the wire: decoded from JSON or a mapping, and checked.

An invalid record raises `InvalidFAQ` with the path of the invalid part.
"""

import codecs
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.text import clean_text

MAX_CTA: Final = 65_536
"""Bytes."""
MAX_CTA_DEPTH: Final = 50
MAX_SHORT: Final = 200
"""Bytes of a language or a format; a longer value counts as absent."""
MAX_DEPTH: Final = 100
"""Levels of nested arrays and objects in a record, because parsers have different limits."""
MAX_INTEGER: Final = 10**100
MAX_SECTION: Final = 200
"""Characters."""
MAX_URL: Final = 2_000
ITEM_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
ITEM_ID_FORM: Final = (
    "an id of up to 100 ASCII letters, digits, '.', '_' and '-' that begins with a letter or digit"
)

_NULL: Final = msgspec.Raw(b"null")
_LONE_SURROGATE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
"""The escape of a lone surrogate, in JSON without escaped backslashes."""
_STRING: Final = re.compile(rb'"[^"]*"')
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))


class WireItem(msgspec.Struct, gc=False):
    """One question and its answer."""

    question: str
    answer: str
    position: int | None = None
    section: Any = None
    id: Any = None


class WireFAQ(msgspec.Struct, rename="camel", kw_only=True):
    """A record, with the wire's camelCase keys; unknown keys are ignored."""

    slug: str
    title: str | None = None
    website_name: str | None = None
    lang: Any = None
    answer_format: Any = None
    website_url: Any = None
    page_url: Any = None
    items: list[WireItem]
    cta: Any = None


class _JSONItem(WireItem, gc=False):
    """One question and its answer in JSON."""

    section: msgspec.Raw = _NULL
    id: msgspec.Raw = _NULL


class _JSONFAQ(WireFAQ, rename="camel", kw_only=True):
    """A record in JSON. Fields of any type stay undecoded until their size is checked."""

    lang: msgspec.Raw = _NULL
    answer_format: msgspec.Raw = _NULL
    website_url: msgspec.Raw = _NULL
    page_url: msgspec.Raw = _NULL
    items: list[_JSONItem]  # type: ignore[assignment]  # a list is invariant, and this one is only read
    cta: msgspec.Raw = _NULL


def decode(text: str | bytes) -> WireFAQ:
    """Read a record from JSON, in UTF-8 if it is bytes; a byte order mark is ignored."""
    if not isinstance(text, str | bytes):
        raise InvalidFAQ(f"not JSON: text or bytes are accepted, not {type(text).__name__}")
    json_bytes = text if isinstance(text, bytes) else clean_text(text).encode()
    json_bytes = json_bytes.removeprefix(codecs.BOM_UTF8)
    _check_depth(json_bytes)
    try:
        return _checked(_decode(json_bytes))
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidFAQ(f"not JSON: {error}") from None
    except RecursionError:
        raise InvalidFAQ("the record is nested too deeply") from None


def _decode(json_bytes: bytes) -> WireFAQ:
    try:
        record = msgspec.json.decode(json_bytes, type=_JSONFAQ)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # JSON may contain escaped lone surrogates (RFC 8259, 8.2), which no encoder can write.
        cleaned = _LONE_SURROGATE.sub(rb"\\ufffd", json_bytes.replace(rb"\\", rb"\u005c"))
        record = msgspec.json.decode(cleaned, type=_JSONFAQ)
    if len(record.cta) > MAX_CTA:
        raise InvalidFAQ(f"cta: has {len(record.cta)} bytes; at most {MAX_CTA} are accepted", path="cta")
    return WireFAQ(
        slug=record.slug,
        title=record.title,
        website_name=record.website_name,
        lang=_short(record.lang),
        answer_format=_short(record.answer_format),
        # Every character may be an escape.
        website_url=_short(record.website_url, 6 * MAX_URL + 2),
        page_url=_short(record.page_url, 6 * MAX_URL + 2),
        items=[_decode_item(item) for item in record.items],
        cta=_decode_any(record.cta),
    )


def _decode_item(item: _JSONItem) -> WireItem:
    section = _short(item.section, 6 * MAX_SECTION + 2)
    return WireItem(item.question, item.answer, item.position, section, _short(item.id))


def _short(json_bytes: msgspec.Raw, limit: int = MAX_SHORT) -> Any:
    if json_bytes is _NULL:
        return None
    return _decode_any(json_bytes) if len(json_bytes) <= limit else None


def _decode_any(json_bytes: msgspec.Raw) -> Any:
    """Decode any value. `json` takes a fraction of the time that msgspec takes for some numbers."""
    try:
        return json.loads(bytes(json_bytes).decode())
    except ValueError as error:
        raise InvalidFAQ(f"not JSON: {error}") from None


def convert(record: object) -> WireFAQ:
    """Read a record from a mapping."""
    if isinstance(record, Mapping):
        record = _plain(record)
    try:
        return _checked(msgspec.convert(record, WireFAQ))
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except RecursionError:
        raise InvalidFAQ("the record is nested too deeply") from None


def _checked(wire: WireFAQ) -> WireFAQ:
    for index, item in enumerate(wire.items):
        if abs(item.position or 0) > MAX_INTEGER:
            path = f"items[{index}].position"
            raise InvalidFAQ(f"{path}: is too large", path=path)
    return wire


def _check_depth(json_bytes: bytes) -> None:
    """Raise InvalidFAQ if arrays and objects are nested more deeply than a record may be."""
    if json_bytes.count(b"[") + json_bytes.count(b"{") <= MAX_DEPTH:
        return
    structure = json_bytes.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NOT_STRUCTURE)
    depth = 0
    for byte in _STRING.sub(b"", structure.replace(b'""', b"")):
        depth += 1 if byte in b"[{" else -1
        if depth > MAX_DEPTH:
            raise InvalidFAQ("the record is nested too deeply")


def section_of(item: WireItem) -> str | None:
    """Return the section of an item; one that is no text, or too long, counts as absent."""
    section = item.section
    return section if isinstance(section, str) and len(section) <= MAX_SECTION else None


def is_item_id(value: object) -> bool:
    """Return whether a value can be the id of an item."""
    return isinstance(value, str) and re.fullmatch(ITEM_ID, value) is not None


def web_address(value: object) -> str | None:
    """Return an http or https URL; any other value counts as absent."""
    is_short = isinstance(value, str) and len(value) <= MAX_URL
    if not is_short or re.match(r"(?i)https?://[^\s/?#\\@]", str(value)) is None:
        return None
    return clean_text(str(value)) if re.search(r"[\s\x00-\x1f\x7f\\]", str(value)) is None else None


def is_json(value: object, levels: int = MAX_CTA_DEPTH) -> bool:
    """Return whether a value could have come as JSON, and can be written as JSON again."""
    if value is None or isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return abs(value) <= MAX_INTEGER
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return levels > 0 and all(
            isinstance(key, str) and is_json(inner, levels - 1) for key, inner in value.items()
        )
    return isinstance(value, list | tuple) and levels > 0 and all(is_json(v, levels - 1) for v in value)


def copied(value: Any) -> Any:
    """Return a deep copy of a JSON value that can be encoded."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(key): copied(inner) for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list | tuple) else value


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known fields of a mapping as a dict; its `items` may be any iterable of mappings."""
    plain = _fields(record, WireFAQ)
    items = plain.get("items")
    if isinstance(items, Iterable) and not isinstance(items, str | bytes | Mapping):
        plain["items"] = [_fields(item, WireItem) if isinstance(item, Mapping) else item for item in items]
    return plain


def _fields(mapping: Mapping[str, Any], struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: mapping[name] for name in struct.__struct_encode_fields__ if name in mapping}


def _invalid(error: msgspec.ValidationError) -> InvalidFAQ:
    """Convert `Expected X, got Y - at `$.items[2].answer`` to our error, with the path as an attribute."""
    what, _, where = str(error).partition(" - at ")
    path = where.strip("`").removeprefix("$").lstrip(".") if where.startswith("`$") else ""
    if missing := re.search(r"missing required field `([^`]*)`", what):
        path = f"{path}.{missing[1]}".lstrip(".")
        what = "is missing"
    return InvalidFAQ(f"{path or 'the record'}: {what}", path=path)


def json_schema(title: str) -> dict[str, Any]:
    """Return the JSON Schema of a record, as the read endpoint returns it."""
    text = {"type": "string"}
    item = {
        "type": "object",
        "properties": {
            "position": {"type": "integer"},
            **dict.fromkeys(("question", "answer", "section", "id"), text),
        },
        "required": ["question", "answer"],
    }
    return {
        "title": title,
        "type": "object",
        "properties": {
            "slug": text,
            "title": text,
            "websiteName": text,
            "lang": text,
            "answerFormat": {"type": "string", "enum": ["text", "markdown"], "default": "text"},
            "websiteUrl": text,
            "pageUrl": text,
            "items": {"type": "array", "items": item},
            "cta": {},
        },
        "required": ["slug", "items"],
    }
