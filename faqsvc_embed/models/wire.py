"""Records as they are on the wire: read from JSON or a mapping, and checked.

An invalid record raises `InvalidFAQ` with the path of the invalid part.
"""

import codecs
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

import msgspec

from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.text import clean_text

MAX_CTA: Final = 65_536
"""Bytes."""
MAX_CTA_DEPTH: Final = 50
MAX_INTEGER: Final = 10**100
MAX_POSITION: Final = 2**53
"""The largest integer that every reader of JSON reads exactly (RFC 8259, 6)."""
MAX_SHORT: Final = 200
"""Characters of a language, a format or an id."""
MAX_INTRODUCTION: Final = 5_000
"""Characters of the text between the title and the first question."""
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


class WireItem(msgspec.Struct, gc=False):
    """One question and its answer."""

    question: str
    answer: str
    position: Annotated[int, msgspec.Meta(ge=-MAX_POSITION, le=MAX_POSITION)] | None = None
    section: msgspec.Raw = _NULL
    id: msgspec.Raw = _NULL


class WireFAQ(msgspec.Struct, rename="camel", kw_only=True):
    """A record, with the wire's camelCase keys; unknown keys are ignored.

    A field that may be of any type stays undecoded: decoding 1 MB of brackets or exponents takes too long.
    """

    slug: str
    title: str | None = None
    website_name: str | None = None
    lang: msgspec.Raw = _NULL
    answer_format: msgspec.Raw = _NULL
    website_url: msgspec.Raw = _NULL
    page_url: msgspec.Raw = _NULL
    introduction: msgspec.Raw = _NULL
    items: list[WireItem]
    cta: msgspec.Raw = _NULL


# At import, not when it is first used: a child that is forked in between has half of it, and crashes.
_decoder: Final = msgspec.json.Decoder(WireFAQ)


def decode(text: str | bytes) -> tuple[WireFAQ, Any]:
    """Read a record and its call to action from JSON, in UTF-8 if it is bytes."""
    record = _decode(text)
    if len(record.cta) > MAX_CTA:
        raise InvalidFAQ(f"cta: has {len(record.cta)} bytes; at most {MAX_CTA} are accepted", path="cta")
    try:
        return record, json.loads(bytes(record.cta))  # msgspec takes much longer for some numbers
    except (ValueError, RecursionError) as error:
        raise InvalidFAQ(f"cta: {error}", path="cta") from None


def _decode(text: str | bytes) -> WireFAQ:
    if not isinstance(text, str | bytes):
        raise InvalidFAQ(f"not JSON: text or bytes are accepted, not {type(text).__name__}")
    json_bytes = text if isinstance(text, bytes) else clean_text(text).encode()
    json_bytes = json_bytes.removeprefix(codecs.BOM_UTF8)
    try:
        try:
            return _decoder.decode(json_bytes)
        except msgspec.DecodeError as error:
            if isinstance(error, msgspec.ValidationError) or b"\\u" not in json_bytes:
                raise
        # JSON may contain escaped lone surrogates (RFC 8259, 8.2), such as a half of an emoji.
        # The replacement is a function, because other threads can run between its calls.
        cleaned = _LONE_SURROGATE.sub(lambda _: rb"\ufffd", json_bytes.replace(rb"\\", rb"\u005c"))
        return _decoder.decode(cleaned)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidFAQ(f"not JSON: {error}") from None
    except RecursionError:
        raise InvalidFAQ("the record is nested too deeply") from None


def convert(record: object) -> tuple[WireFAQ, Any]:
    """Read a record and its call to action from a mapping, whose `items` may be any iterable of mappings."""
    cta = None
    if isinstance(record, Mapping):
        record = _fields(record, WireFAQ)
        cta = record.pop("cta", None)
        items = record.get("items")
        if isinstance(items, Iterable) and not isinstance(items, str | bytes | Mapping):
            record["items"] = [
                _fields(item, WireItem) if isinstance(item, Mapping) else item for item in items
            ]
    try:
        # A value that JSON cannot express becomes an object, which the decoder refuses as text.
        text = json.dumps(record, ensure_ascii=False, skipkeys=True, default=lambda _: {})
    except (ValueError, RecursionError):
        raise InvalidFAQ("the record is nested too deeply") from None
    return _decode(text), cta


def _fields(mapping: Mapping[str, Any], struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: mapping[name] for name in struct.__struct_encode_fields__ if name in mapping}


def short_text(json_bytes: msgspec.Raw, limit: int) -> str | None:
    """Return the text of a field of at most `limit` characters; any other value counts as absent."""
    if len(json_bytes) > 6 * limit + 2 or not bytes(json_bytes).startswith(b'"'):  # escapes have six
        return None
    text = msgspec.json.decode(json_bytes, type=str)
    return text if len(text) <= limit else None


def item_id(item: WireItem) -> str | None:
    """Return the id of an item; one that is no id counts as absent."""
    text = short_text(item.id, MAX_SHORT)
    return text if is_item_id(text) else None


def is_item_id(value: object) -> bool:
    """Return whether a value can be the id of an item."""
    return isinstance(value, str) and re.fullmatch(ITEM_ID, value) is not None


def web_address(value: object) -> str | None:
    """Return an http or https URL; any other value counts as absent."""
    is_short = isinstance(value, str) and len(value) <= MAX_URL
    if not is_short or re.match(r"(?i)https?://[^\s/?#\\@]", str(value)) is None:
        return None
    return clean_text(str(value)) if re.search(r"[\s\x00-\x1f\x7f\\]", str(value)) is None else None


def copied(value: Any, levels: int = MAX_CTA_DEPTH) -> Any:
    """Return a deep copy of a call to action, which is any JSON value that can be written again.

    Raises:
        InvalidFAQ: it is no JSON value, or nested too deeply.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping) and levels > 0 and all(isinstance(key, str) for key in value):
        return {clean_text(key): copied(inner, levels - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple) and levels > 0:
        return [copied(inner, levels - 1) for inner in value]
    is_number = isinstance(value, float) and math.isfinite(value)
    if value is None or is_number or (isinstance(value, int) and abs(value) <= MAX_INTEGER):
        return value
    raise InvalidFAQ("cta: is not a JSON value, or is nested too deeply", path="cta")


def _invalid(error: msgspec.ValidationError) -> InvalidFAQ:
    """Convert `Expected X, got Y - at `$.items[2].answer`` to our error, with the path as an attribute."""
    what, _, where = str(error).partition(" - at ")
    path = where.strip("`").removeprefix("$").lstrip(".") if where.startswith("`$") else ""
    if missing := re.search(r"missing required field `([^`]*)`", what):
        path = f"{path}.{missing[1]}".lstrip(".")
        what = "is missing"
    return InvalidFAQ(f"{path or 'the record'}: {what}", path=path)


class Publication(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a write: the slug, the URL of the hosted page, and install hints.

    `install` has the keys `npm` and `component`, for React applications, and `template`. A field that the
    service does not state is None.
    """

    slug: str
    faq_url: str = ""
    install: dict[str, Any] = msgspec.field(default_factory=dict)
    lang: str | None = None
    """The language of the written text; the service detects it if none is stated."""
    revision: int | None = None
    state: str | None = None
    """`published`, or `draft`."""
    etag: str | None = None
    """The entity tag of the revision; `if_match` of the next write."""
    ignored: tuple[str, ...] = ()
    """The fields of the request that the service does not know."""

    @property
    def template(self) -> str:
        """The line that shows the FAQ in a template of Jinja: `{{ faq("pricing") }}`."""
        quoted = json.dumps(self.slug, ensure_ascii=False).replace("{", r"\u007b").replace("}", r"\u007d")
        return f"{{{{ faq({quoted}) }}}}"

    @property
    def django_template(self) -> str:
        """The tags that show the FAQ in a template of Django: `{% load faqsvc %}{% faq "pricing" %}`."""
        quoted = self.slug.replace('"', r"\"").replace("%}", '%"|add:"}')  # no escape hides the end of a tag
        return f'{{% load faqsvc %}}{{% faq "{quoted}" %}}'
