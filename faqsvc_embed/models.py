"""The values of the service: frozen, camelCase on the wire, snake_case here (specification, Resources)."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final, Literal, Self

import msgspec
from msgspec.structs import force_setattr

from faqsvc_embed.errors import ConfigurationError, FAQError, InvalidFAQ
from faqsvc_embed.languages import is_language_tag
from faqsvc_embed.runtime.steps import Steps, finished

Source = Literal["memory", "store", "network", "none"]

DEEPEST: Final = 50
"""Levels of a `cta`, the one part of a record whose form is open: deep enough for anything that means it."""
LARGEST_INTEGER: Final = 10**100


def _clean(text: str) -> str:
    """Replace lone surrogates, which no encoder could write, with U+FFFD; of a subclass, take the text."""
    if type(text) is not str:
        text = str.__str__(text)
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


class Item(msgspec.Struct, frozen=True, gc=False):
    """One question and its answer; `position` is the zero-based place in the FAQ."""

    position: int
    question: str
    answer: str

    def __post_init__(self) -> None:
        force_setattr(self, "question", _clean(self.question))
        force_setattr(self, "answer", _clean(self.answer))


class FAQ(msgspec.Struct, frozen=True, weakref=True):
    """A published FAQ, as the read endpoint returns it.

    `items` come in the order of their positions. A `lang` that is no language tag is None, a title or
    website name that is missing is empty, and `cta` is kept as it came: the specification does not say
    what it holds. It is the record's own copy, not to be changed; `to_dict()` gives another.

    Raises:
        InvalidFAQ: an item is no Item, or `cta` is nothing that JSON could hold.
    """

    slug: str
    title: str = ""
    website_name: str = ""
    lang: str | None = None
    items: tuple[Item, ...] = ()
    cta: Any = None

    def __post_init__(self) -> None:
        items = tuple(self.items)
        for index, item in enumerate(items):
            if not isinstance(item, Item):
                raise InvalidFAQ(
                    f"items[{index}] is {type(item).__name__}, not Item; FAQ.from_dict() reads mappings",
                    path=f"items[{index}]",
                )
        force_setattr(self, "items", tuple(sorted(items, key=attrgetter("position"))))
        force_setattr(self, "slug", _clean(self.slug))
        force_setattr(self, "title", _clean(self.title))
        force_setattr(self, "website_name", _clean(self.website_name))
        lang = self.lang if is_language_tag(self.lang) else None
        force_setattr(self, "lang", None if lang is None else _clean(lang))
        if self.cta is not None:
            if not _is_json(self.cta, DEEPEST):
                raise InvalidFAQ("no FAQ record: cta: is no JSON value, or nested too deeply", path="cta")
            force_setattr(self, "cta", _copied(self.cta))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read a record from a mapping with the wire's camelCase keys; unknown keys are no error.

        Raises:
            InvalidFAQ: it is no FAQ record; `path` names the part that is wrong.
        """
        return finished(cls._from_wire(_convert(record)))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON, as UTF-8 if it is bytes.

        Raises:
            InvalidFAQ: it is no JSON, or no FAQ record; `path` names the part that is wrong.
        """
        return finished(cls.json_steps(text))

    @classmethod
    def json_steps(cls, text: str | bytes) -> Steps[Self]:
        """Read as `from_json` does, an item at a time."""
        try:
            wire = yield from _decode(text)
        except msgspec.ValidationError as error:
            raise _invalid(error) from None
        except (msgspec.DecodeError, UnicodeError):
            # The standard library reads what is rare but harmless: a byte order mark, lone surrogates.
            wire = _convert(_load_leniently(text))
        except RecursionError:
            raise InvalidFAQ("the record is nested too deeply") from None
        return (yield from cls._from_wire(wire))

    @classmethod
    def _from_wire(cls, wire: "_WireFAQ") -> Steps[Self]:
        items = list[Item]()
        for index, item in enumerate(wire.items):
            if abs(item.position or 0) > LARGEST_INTEGER:
                path = f"items[{index}].position"
                raise InvalidFAQ(f"no FAQ record: {path}: is too large", path=path)
            position = index if item.position is None else item.position
            items.append(Item(position, item.question, item.answer))
            yield
        return cls(
            slug=wire.slug,
            title=wire.title or "",
            website_name=wire.website_name or "",
            lang=wire.lang if isinstance(wire.lang, str) else None,
            items=tuple(items),
            cta=wire.cta,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record with the wire's camelCase keys; a language that is not known is left out."""
        record: dict[str, Any] = {"slug": self.slug, "title": self.title, "websiteName": self.website_name}
        if self.lang is not None:
            record["lang"] = self.lang
        record["items"] = [
            {"position": item.position, "question": item.question, "answer": item.answer}
            for item in self.items
        ]
        record["cta"] = _copied(self.cta)
        return record

    def to_json(self) -> str:
        """Return the record as JSON, in the wire's camelCase."""
        return _clean(json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":")))


class Publication(msgspec.Struct, frozen=True, rename="camel"):
    """What publishing returned: the slug, the address of the hosted page, and install hints.

    `install` holds what the service sent, by specification `npm` and `component`.
    """

    slug: str
    faq_url: str = ""
    install: dict[str, Any] = msgspec.field(default_factory=dict)


class FAQState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an FAQ at one moment: the answer of the hook, mirroring `useFAQ`.

    A snapshot: a refresh that ends while a page is rendered changes nothing on that page. While
    `is_loading` is true or `data` is None there is nothing to render. `error` is set when the last fetch
    failed and none is running; `data` may be there all the same, and then `is_degraded` is true.

    Raises:
        ConfigurationError: the parts contradict each other; no embed gives such a state.
    """

    data: FAQ | None = None
    error: FAQError | None = None
    is_fetching: bool = False
    """A fetch of this FAQ is running."""
    is_stale: bool = False
    """`data` is older than the service said it may be reused without asking."""
    is_degraded: bool = False
    """`data` is shown although the last refresh failed."""
    source: Source = "none"
    """Where `data` came from for this call; `network` only if this call waited for it."""
    updated_at: datetime | None = None
    """When the service last confirmed `data`, in UTC."""
    lang_requested: str | None = None

    def __post_init__(self) -> None:
        if problem := self._contradiction():
            raise ConfigurationError(f"no FAQState: {problem}")

    def _contradiction(self) -> str:
        """Say which rule is broken of those that the states of a cache follow (rules U1 to U3, U8)."""
        if self.error is not None and self.is_fetching:
            return "while is_fetching, the error of the fetch before is not repeated: error has to be None"
        if self.updated_at is not None and self.updated_at.tzinfo is None:
            return "updated_at has no time zone: a datetime in UTC is accepted"
        if self.data is not None:
            if self.is_degraded != (self.error is not None) and not self.is_fetching:
                return "is_degraded says of data that its last refresh failed: it goes with an error"
            return "data that is_degraded is_stale as well" if self.is_degraded and not self.is_stale else ""
        if self.error is None and not self.is_fetching:
            return "without data, either is_fetching is true or error says why not"
        if self.is_stale or self.is_degraded or self.source != "none" or self.updated_at is not None:
            return "without data, is_stale and is_degraded are false, source is 'none', updated_at is None"
        return ""

    @property
    def is_loading(self) -> bool:
        """No data yet, and a fetch is running."""
        return self.data is None and self.is_fetching

    @property
    def lang_served(self) -> str | None:
        """The language of `data`, which may differ from the one asked for."""
        return self.data.lang if self.data is not None else None

    @property
    def status(self) -> Literal["pending", "success", "error"]:
        """`success` with data, even if a refresh of it failed; `error` without; else `pending`."""
        if self.data is not None:
            return "success"
        return "error" if self.error is not None else "pending"

    @property
    def is_refetch_error(self) -> bool:
        """There is data, and the last attempt to refresh it failed."""
        return self.data is not None and self.error is not None

    @property
    def age(self) -> float | None:
        """Seconds since the service last confirmed `data`, never negative."""
        if self.updated_at is None:
            return None
        return max(0.0, (datetime.now(UTC) - self.updated_at).total_seconds())


class _WireItem(msgspec.Struct, gc=False):
    question: str
    answer: str
    position: int | None = None


class _WireHead(msgspec.Struct, rename="camel", kw_only=True):
    slug: str
    title: str | None = None
    website_name: str | None = None
    lang: Any = None
    cta: Any = None


class _WireFAQ(_WireHead, kw_only=True):
    items: list[_WireItem]


class _RawFAQ(_WireHead, kw_only=True):
    """A record whose items are still JSON: 10,000 of them at once would take many milliseconds."""

    items: list[msgspec.Raw]


def _decode(text: str | bytes) -> Steps[_WireFAQ]:
    raw = msgspec.json.decode(text, type=_RawFAQ)
    items = list[_WireItem]()
    for index, item in enumerate(raw.items):
        try:
            items.append(msgspec.json.decode(item, type=_WireItem))
        except msgspec.ValidationError as error:
            raise _invalid(error, f"items[{index}]") from None
        yield
    return _WireFAQ(
        slug=raw.slug,
        items=items,
        title=raw.title,
        website_name=raw.website_name,
        lang=raw.lang,
        cta=raw.cta,
    )


def _convert(record: object) -> _WireFAQ:
    if isinstance(record, Mapping):
        record = _plain(record)
    try:
        return msgspec.convert(record, _WireFAQ)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except RecursionError:
        raise InvalidFAQ("the record is nested too deeply") from None
    except UnicodeError:  # in a key, which no field of ours could be
        raise InvalidFAQ("no FAQ record: a key is no text") from None


def _is_json(value: object, levels: int) -> bool:
    """Tell whether a value could have come as JSON, and can be written as JSON again."""
    if value is None or isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return abs(value) <= LARGEST_INTEGER
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return levels > 0 and all(
            isinstance(key, str) and _is_json(inner, levels - 1) for key, inner in value.items()
        )
    return isinstance(value, list | tuple) and levels > 0 and all(_is_json(v, levels - 1) for v in value)


def _copied(value: Any) -> Any:
    """Return a JSON value that shares nothing changeable with this one."""
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list | tuple) else value


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Let `items` be any iterable of mappings, as a developer may have them at hand."""
    plain = dict(record)
    items = plain.get("items")
    if isinstance(items, Iterable) and not isinstance(items, str | bytes | Mapping):
        plain["items"] = [dict(item) if isinstance(item, Mapping) else item for item in items]
    return plain


def _load_leniently(text: str | bytes) -> object:
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidFAQ(f"not JSON: {error}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value (RFC 8259)")


def _invalid(error: msgspec.ValidationError, inside: str = "") -> InvalidFAQ:
    """Turn `Expected X, got Y - at `$.items[2].answer`` into our error, with the path of its own."""
    what, _, where = str(error).partition(" - at ")
    path = where.strip("`").removeprefix("$") if where.startswith("`$") else ""
    path = f"{inside}{path}".lstrip(".")
    if missing := re.search(r"missing required field `([^`]*)`", what):
        path = f"{path}.{missing[1]}".lstrip(".")
        what = "is missing"
    return InvalidFAQ(f"no FAQ record: {path or 'the record'}: {what}", path=path)
