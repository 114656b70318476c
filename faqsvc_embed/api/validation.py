"""Validation of a body against a struct of the contract: every problem at once, each with its path.

A problem begins with the path of the field, such as `items[2].answer`, and says what is accepted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from faqsvc_embed.api.contract import ChangeBody, PublishBody
from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.errors import quoted

MAX_IGNORED: Final = 20
"""Unknown fields that a response names."""
MAX_IGNORED_PATH: Final = 100
"""Characters."""

_CHANGED: Final = frozenset(field.encode_name for field in msgspec.structs.fields(ChangeBody)) - {
    "lang",
    "draft",
}
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_UNKNOWN: Final = ""
"""The problem of a field that a struct does not have: none, because such fields are ignored."""


def problems_of(fields: Mapping[str, Any], struct: type[msgspec.Struct]) -> list[str]:
    """Return everything that is wrong with a body; unknown fields are ignored."""
    return field_problems("", fields, struct)


def field_problems(name: str, value: object, type_: Any) -> list[str]:
    """Return what is wrong with a single value, such as a query parameter."""
    return [f"{path} {problem}" for path, problem in _check(name, value, _inspected(type_)) if problem]


def publication_problems(fields: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a `PublishBody`. Only a file's may lack the website."""
    required = () if "revision" in fields else ("websiteUrl", "websiteName")
    missing = [f"{name} is missing" for name in required if name not in fields]
    return [*missing, *problems_of(fields, PublishBody)]


def change_problems(fields: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a `ChangeBody`, which must change something."""
    found = problems_of(fields, ChangeBody)
    if not fields.keys() & _CHANGED:
        found.insert(0, "changes is missing")
    changes = fields.get("changes")
    for index, change in enumerate(changes if isinstance(changes, list) else ()):
        if isinstance(change, Mapping) and change.get("question") is None and change.get("id") is None:
            found.append(f"changes[{index}].question is missing")
    return found


def unknown_fields(fields: Mapping[str, Any], struct: type[msgspec.Struct]) -> list[str]:
    """Return the paths of the fields of a body that it does not have, for `ignored` in the response.

    The position of an item is no such field if it is its place in the list.
    """
    checked = _check("", fields, _inspected(struct))
    return shortened(path for path, problem in checked if problem == _UNKNOWN)


def shortened(paths: Iterable[str]) -> list[str]:
    """Return the beginnings of the first paths, and how many more there are."""
    found = [path[:MAX_IGNORED_PATH] for path in paths]
    more = len(found) - MAX_IGNORED
    return [*found[:MAX_IGNORED], f"and {more} more"] if more > 0 else found


@cache
def _inspected(type_: Any) -> Any:
    return inspect.type_info(type_)


def _check(path: str, value: object, info: inspect.Type, accepted: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of each field that is wrong or unknown, and what is wrong with it.

    `accepted` says what is accepted instead of a text that does not match its pattern.
    """
    match info:
        case inspect.Metadata():
            yield from _check(path, value, info.type, (info.extra or {}).get("accepted", ""))
        case inspect.UnionType():  # of None and one other type
            if value is not None:
                yield from _check(path, value, next(t for t in info.types if t != inspect.NoneType()))
        case inspect.StructType():
            yield from _check_struct(path, value, info)
        case inspect.ListType() if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            if not value:
                yield path, "is empty"
            elif info.max_length is not None and len(value) > info.max_length:
                yield path, f"has {len(value)} elements: at most {info.max_length} are accepted"
            else:
                for index, element in enumerate(value):
                    yield from _check(f"{path}[{index}]", element, info.item_type)
        case _ if problem := _problem(value, info, accepted):
            yield path, problem


def _check_struct(path: str, value: object, info: inspect.StructType) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        names = " and ".join(field.encode_name for field in info.fields if field.required)
        yield path, f"is {quoted(value)}: an object{f' with {names}' if names else ''} is accepted"
        return
    within, known = f"{path}." if path else "", {field.encode_name: field for field in info.fields}
    for name, field in known.items():
        if name in value:
            yield from _check(within + name, value[name], field.type)
        elif field.required:
            yield within + name, "is missing"
    for name, inner in value.items():
        is_place = name == "position" and isinstance(inner, int) and 0 <= inner < MAX_ITEMS
        if name not in known and not (is_place and path.endswith(f"[{inner}]")):
            yield f"{within}{name}", _UNKNOWN


def _problem(value: object, info: inspect.Type, accepted: str) -> str:
    """Return what is wrong with a value that has no parts; empty if nothing is."""
    match info:
        case inspect.StrType() if isinstance(value, str):
            return _text_problem(value, info, accepted)
        case inspect.StrType() | inspect.ListType() if value is None:
            return "is missing"
        case inspect.StrType():
            return f"is {quoted(value)}, not text"
        case inspect.ListType():
            accepted = "an array"
        case inspect.LiteralType():
            is_valid = isinstance(value, str) and value in info.values
            accepted = "" if is_valid else f"one of {', '.join(map(str, info.values))}"
        case inspect.BoolType():
            accepted = "" if isinstance(value, bool) else "true or false"
        case inspect.IntType():
            low, high = info.ge or 0, info.le or 0
            is_valid = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
            accepted = "" if is_valid else f"a whole number from {low} to {high}"
    return f"is {quoted(value)}: {accepted} is accepted" if accepted else ""


def _text_problem(text: str, info: inspect.StrType, accepted: str) -> str:
    if info.pattern is not None and not text.strip():
        return "is empty"
    if info.max_length is not None and len(text) > info.max_length:
        return f"has {len(text):,} characters: at most {info.max_length:,} are accepted"
    if found := _UNSTORABLE.search(text):
        return f"has U+{ord(found[0]):04X} at character {found.start()}, which text cannot contain"
    if info.pattern is not None and re.fullmatch(info.pattern, text) is None:
        return f"is {quoted(text)}: {accepted or info.pattern} is accepted"
    return ""
