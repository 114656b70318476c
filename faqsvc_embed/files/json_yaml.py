"""Documents from JSON and YAML: the body of a publication, a record, a list of items, or a FAQPage."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.names import ANSWER_NAMES, QUESTION_NAMES, plain_name
from faqsvc_embed.files.schema_org import find_faq_page, read_faq_page
from faqsvc_embed.wire import is_item_id

MAX_DEPTH: Final = 100
"""Levels of lists and mappings in YAML; an FAQ has three."""

_FIELDS: Final = {
    "slug": "slug",
    "title": "title",
    "websiteName": "website_name",
    "websiteUrl": "website_url",
    "lang": "lang",
    "answerFormat": "answer_format",
    "items": "items",
    "cta": "cta",
    "pageUrl": "page_url",
    "draft": "draft",
    "revision": "revision",
}
"""The fields of a document, by their names in the REST contract."""
_PLAIN_FIELDS: Final = {plain_name(name): field for name, field in _FIELDS.items()}
_PLAIN_FIELDS.update(faqs="items", questions="items", language="lang")
FRONT_MATTER_NAMES: Final = frozenset({*map(plain_name, _FIELDS), "language", "website"})
"""Names of fields, as `plain_name` returns them, by which front matter is recognised."""
_OTHER_FIELDS: Final = ("website", "total", "nextoffset", "note", "faqurl", "install")
"""Fields in the output of the service and of commands, which are ignored in a file."""
_ONE_KEY: Final = "begin another item before it, or remove one"
_BOOLEANS: Final = {"true": True, "false": False}
_ITEM_FIELDS: Final = {
    *QUESTION_NAMES,
    *ANSWER_NAMES,
    "position",
    "source",
    "id",
    "section",
    "lang",
    "confidence",
    "answermarkdown",
}


def read_json(text: str) -> Document:
    """Return the FAQ in a JSON file.

    Raises:
        ValueError: it is not JSON, or not an FAQ, or an object has a key twice; the message names the line if
            that is known.
    """
    try:
        return to_document(json.loads(text, object_pairs_hook=_object))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: not JSON: {error.msg}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; the parser would keep the last of equal keys and lose the others."""
    value = dict(pairs)
    if len(value) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {quoted(key)} twice: {_ONE_KEY}")
    return value


def read_yaml(text: str) -> Document:
    """Return the FAQ in a YAML file.

    Raises:
        ValueError: as `parse_yaml` and `to_document` do.
    """
    return yaml_document(parse_yaml(text))


def yaml_document(value: object) -> Document:
    """Return the document in parsed YAML, in which numbers and booleans are text, and `cta` may be JSON."""
    document = to_document(value)
    if isinstance(document.revision, str) and re.fullmatch("[0-9]{1,9}", document.revision):
        document = replace(document, revision=int(document.revision))
    if isinstance(document.draft, str):
        document = replace(document, draft=_BOOLEANS.get(document.draft.lower(), document.draft))
    if isinstance(document.cta, str):
        with contextlib.suppress(ValueError, RecursionError):
            return replace(document, cta=json.loads(document.cta))
    return document


def write_json(document: Document) -> str:
    """Return a document as JSON on one line, in the camelCase of the REST contract."""
    return json.dumps(to_fields(document), ensure_ascii=False, separators=(",", ":")) + "\n"


def to_fields(document: Document) -> dict[str, Any]:
    """Return the fields that a document states, by their names in the REST contract."""
    fields = ((name, getattr(document, field)) for name, field in _FIELDS.items())
    return {name: value for name, value in fields if value is not None}


def to_document(value: object) -> Document:
    """Return the document in a parsed file; unknown fields are listed in `unknown` and otherwise ignored.

    Raises:
        ValueError: it is neither an object nor a list.
    """
    page = find_faq_page(value)
    if page is not None:
        return read_faq_page(page)
    if isinstance(value, list):
        value = {"items": value}
    if not isinstance(value, Mapping):
        raise ValueError(f"expected an object with items, or a list of items, not {quoted(value)}")
    fields = {
        _PLAIN_FIELDS[name]: inner
        for key, inner in value.items()
        if (name := plain_name(key)) in _PLAIN_FIELDS and inner not in (None, "")
    }
    website = value.get("website")
    if isinstance(website, str) and website:
        is_address = website.startswith(("http://", "https://"))
        fields.setdefault("website_url" if is_address else "website_name", website)
    fields["unknown"] = _unknown(value, {*_PLAIN_FIELDS, *_OTHER_FIELDS})
    items = fields.get("items")
    if isinstance(items, list):
        names = dict.fromkeys(name for item in items for name in _unknown(item, _ITEM_FIELDS))
        fields["unknown"] += [f"items[].{name}" for name in names]
        ordered = _ordered(items)
        fields["items"] = [_item(item) for _, item in ordered]
        fields["positions"] = [
            f"line {line}" if (line := getattr(item, "line", None)) else f"items[{index}]"
            for index, item in ordered
        ]
    return Document(**fields)


def _unknown(value: object, known: Collection[str]) -> list[str]:
    return [str(key) for key in value if plain_name(key) not in known] if isinstance(value, Mapping) else []


def _item(item: object) -> object:
    """Return an item with `question`, `answer`, `section` and `id`, under whichever names the file has.

    An `id` of another form, such as a number, belongs to another system, and is left out.
    """
    if not isinstance(item, Mapping):
        return item
    named = {plain_name(key): value for key, value in item.items()}
    optional = {"section": named.get("section"), "id": named["id"] if is_item_id(named.get("id")) else None}
    return {
        "question": next((named[name] for name in QUESTION_NAMES if name in named), None),
        "answer": next((named[name] for name in ANSWER_NAMES if name in named), None),
        **{name: value for name, value in optional.items() if value not in (None, "")},
    }


def _ordered(items: list[Any]) -> list[tuple[int, Any]]:
    """Return items with their indexes; if each has a position, sorted by it as in a record."""
    try:
        positions = [int(item["position"]) for item in items]  # a text in YAML
    except (KeyError, TypeError, ValueError, OverflowError):
        return list(enumerate(items))
    return sorted(enumerate(items), key=lambda indexed: positions[indexed[0]])


class _Mapping(dict[str, Any]):
    """A mapping of YAML with its line in the file."""

    line = 0


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML document, in which every scalar stays text: `no`, `1.10` and dates too.

    Raises:
        ValueError: it is not YAML, has aliases or a key twice, or is nested too deeply.
    """
    import yaml

    try:
        events = yaml.parse(text, Loader=yaml.BaseLoader)
        next(events)  # the start of the stream
        if isinstance(next(events), yaml.StreamEndEvent):
            return None
        value = _build(next(events), events)
        next(events)  # the end of the document
        if not isinstance(next(events), yaml.StreamEndEvent):
            raise ValueError("the file has more than one document: write each FAQ in a file of its own")
        return value
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or error
        raise ValueError(f"{place}not YAML: {problem}: quote a text with special characters") from None


def _build(event: Any, events: Iterator[Any], depth: int = 1) -> Any:
    """Return the value that begins with `event`. Its depth is limited, because deep YAML is slow to parse."""
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        return event.value.rstrip("\n") if event.style in ("|", ">") else event.value
    if isinstance(event, yaml.AliasEvent):
        raise ValueError("aliases (*name) are not accepted: write the value in each place")
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(event, yaml.SequenceStartEvent):
        return [_build(inner, events, depth + 1) for inner in _inner(events)]
    mapping = _Mapping()
    mapping.line = event.start_mark.line + 1
    for inner in _inner(events):
        key = str(_build(inner, events, depth + 1))
        if key in mapping:
            raise ValueError(
                f"line {inner.start_mark.line + 1}: the key {quoted(key)} is there twice: {_ONE_KEY}"
            )
        mapping[key] = _build(next(events), events, depth + 1)
    return mapping


def _inner(events: Iterator[Any]) -> Iterator[Any]:
    """Yield the events that begin the parts of a list or mapping, while the caller reads each part."""
    import yaml

    while not isinstance(event := next(events), yaml.CollectionEndEvent):
        yield event
