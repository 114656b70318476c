"""Validation of a body against a struct of the contract: every problem at once, each with its path.

A problem begins with the path of the field, such as `items[2].answer`, and says what is accepted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from faqsvc_embed.api.contract import ChangeBody, PublishBody
from faqsvc_embed.errors import quoted

T = TypeVar("T", bound=msgspec.Struct)

MAX_IGNORED: Final = 20
"""Unknown fields that a response names."""
MAX_IGNORED_PATH: Final = 100
"""Characters."""

_CHANGED: Final = frozenset(field.encode_name for field in msgspec.structs.fields(ChangeBody)) - {"draft"}
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def problems_of(fields: Mapping[str, Any], struct: type[msgspec.Struct]) -> list[str]:
    """Return everything that is wrong with a body; unknown fields are ignored."""
    return list(_struct_problems("", fields, _inspected(struct)))


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
    found = [path[:MAX_IGNORED_PATH] for path in _unknown("", fields, _inspected(struct))]
    more = len(found) - MAX_IGNORED
    return [*found[:MAX_IGNORED], f"and {more} more"] if more > 0 else found


def _unknown(path: str, value: object, info: Any) -> Iterator[str]:
    if isinstance(info, inspect.Metadata):
        yield from _unknown(path, value, info.type)
    elif isinstance(info, inspect.UnionType):
        for one in info.types:
            yield from _unknown(path, value, one)
    elif isinstance(info, inspect.ListType) and isinstance(value, list):
        for index, element in enumerate(value):
            is_placed = isinstance(element, dict) and element.get("position") == index
            rest = {name: element[name] for name in element if name != "position"} if is_placed else element
            yield from _unknown(f"{path}[{index}]", rest, info.item_type)
    elif isinstance(info, inspect.StructType) and isinstance(value, Mapping):
        known = {field.encode_name: field.type for field in info.fields}
        for name, inner in value.items():
            place = f"{path}.{name}" if path else name
            if name in known:
                yield from _unknown(place, inner, known[name])
            else:
                yield place


def field_problems(name: str, value: object, type_: Any) -> list[str]:
    """Return what is wrong with a single value, such as a query parameter."""
    return list(_problems(name, value, _inspected(type_)))


@cache
def _inspected(type_: Any) -> Any:
    return inspect.type_info(type_)


def _struct_problems(path: str, value: Mapping[str, Any], info: inspect.StructType) -> Iterator[str]:
    for field in info.fields:
        name = f"{path}.{field.encode_name}" if path else field.encode_name
        if field.encode_name in value:
            yield from _problems(name, value[field.encode_name], field.type)
        elif field.required:
            yield f"{name} is missing"


def _problems(path: str, value: object, info: inspect.Type) -> Iterator[str]:
    match info:
        case inspect.Metadata():
            accepted = (info.extra or {}).get("accepted", "")
            if isinstance(info.type, inspect.StrType):
                yield from _text_problems(path, value, info.type, accepted)
            else:
                yield from _problems(path, value, info.type)
        case inspect.UnionType():  # of None and one other type
            if value is not None:
                yield from _problems(path, value, next(t for t in info.types if t != inspect.NoneType()))
        case inspect.StrType():
            yield from _text_problems(path, value, info, "")
        case inspect.LiteralType():
            if not isinstance(value, str) or value not in info.values:
                yield f"{path} is {quoted(value)}: one of {', '.join(map(str, info.values))} is accepted"
        case inspect.BoolType():
            if not isinstance(value, bool):
                yield f"{path} is {quoted(value)}: true or false is accepted"
        case inspect.IntType():
            yield from _integer_problems(path, value, info)
        case inspect.ListType():
            yield from _list_problems(path, value, info)
        case inspect.StructType():
            if isinstance(value, Mapping):
                yield from _struct_problems(path, value, info)
            else:
                names = " and ".join(field.encode_name for field in info.fields if field.required)
                accepted = f"an object with {names}" if names else "an object"
                yield f"{path} is {quoted(value)}: {accepted} is accepted"


def _text_problems(path: str, text: object, info: inspect.StrType, accepted: str) -> Iterator[str]:
    if text is None:
        yield f"{path} is missing"
    elif not isinstance(text, str):
        yield f"{path} is {quoted(text)}, not text"
    # A text with a line feed, for example, is refused below if the message can say what is accepted.
    elif info.pattern is not None and not text.strip() and not (accepted and _CONTROL.search(text)):
        yield f"{path} is empty"
    elif info.max_length is not None and len(text) > info.max_length:
        yield f"{path} has {len(text):,} characters: at most {info.max_length:,} are accepted"
    elif found := _UNSTORABLE.search(text):
        yield f"{path} has U+{ord(found[0]):04X} at character {found.start()}, which text cannot contain"
    elif info.pattern is not None and re.fullmatch(info.pattern, text) is None:
        yield f"{path} is {quoted(text)}: {accepted or info.pattern} is accepted"


def _integer_problems(path: str, value: object, info: inspect.IntType) -> Iterator[str]:
    low, high = info.ge, info.le
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or not ((low is None or low <= value) and (high is None or value <= high))
    ):
        yield f"{path} is {quoted(value)}: a whole number from {low} to {high} is accepted"


def _list_problems(path: str, value: object, info: inspect.ListType) -> Iterator[str]:
    if value is None:
        yield f"{path} is missing"
    elif not isinstance(value, Sequence) or isinstance(value, str | bytes):
        yield f"{path} is {quoted(value)}: an array is accepted"
    elif not value:
        yield f"{path} is empty"
    elif info.max_length is not None and len(value) > info.max_length:
        yield f"{path} has {len(value)} elements: at most {info.max_length} are accepted"
    else:
        for index, element in enumerate(value):
            yield from _problems(f"{path}[{index}]", element, info.item_type)
