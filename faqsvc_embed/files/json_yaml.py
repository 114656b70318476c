"""Documents from JSON and YAML, and documents as JSON."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import DOCUMENT_FIELDS
from faqsvc_embed.files.records import to_document

MAX_DEPTH: Final = 100
"""Levels of lists and mappings in YAML; an FAQ has three."""

MAX_ALIASED: Final = 100_000
"""Values of a YAML file, those of aliases included."""
_ONE_KEY: Final = "begin another item before it, or remove one"
_WANTED: Final = "a list of items with question and answer is read"
_BOOLEANS: Final = {"true": True, "false": False}


def read_json(text: str) -> Document:
    """Return the FAQ in a JSON file.

    Raises:
        ValueError: it is not JSON, or not an FAQ, or an object has a key twice; the message names the line if
            that is known.
    """
    try:
        return _with_questions(to_document(json.loads(text, object_pairs_hook=_object)), text)
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
    return _with_questions(yaml_document(parse_yaml(text)), text)


def _with_questions(document: Document, text: str) -> Document:
    """Return a document that has items; raise ValueError that says what was found if it has none."""
    if document.items is None:
        found = ", ".join(document.unknown) or " ".join(text.split())
        raise ValueError(f"line 1: no questions found, but {quoted(found[:100])}: {_WANTED}")
    return document


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
    fields = ((name, getattr(document, field)) for name, field in DOCUMENT_FIELDS.items())
    return {name: value for name, value in fields if value is not None}


class _Mapping(dict[str, Any]):
    """A mapping of YAML with its line in the file."""

    line = 0


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML document, in which every scalar stays text: `no`, `1.10` and dates too.

    Raises:
        ValueError: it is not YAML, has a key twice or too many aliases, or is nested too deeply.
    """
    import yaml

    try:
        events = yaml.parse(text, Loader=yaml.BaseLoader)
        next(events)  # the start of the stream
        if isinstance(next(events), yaml.StreamEndEvent):
            return None
        value = _Builder(events).build(next(events))
        next(events)  # the end of the document
        if not isinstance(next(events), yaml.StreamEndEvent):
            raise ValueError("the file has more than one document: write each FAQ in a file of its own")
        return value
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or error
        raise ValueError(f"{place}not YAML: {problem}: quote a text with special characters") from None


class _Builder:
    """Makes values of events; an alias is the value of its anchor, which is not copied."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors = dict[str, tuple[Any, int]]()
        self._size = 0

    def build(self, event: Any, depth: int = 1) -> Any:
        """Return the value that begins with an event, to a depth that is not too slow to parse."""
        import yaml

        if isinstance(event, yaml.AliasEvent):
            value, size = self._anchors.get(str(event.anchor), (None, 0))
            self._size += size
            if not size or self._size > MAX_ALIASED:
                why = "has too many aliases" if size else f"the alias *{event.anchor} has no value above it"
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ValueError(f"line {line}: {why}: write the value in each place")
            return value
        size = self._size
        self._size += 1
        value = self._value(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._size - size
        return value

    def _value(self, event: Any, depth: int) -> Any:
        import yaml

        if isinstance(event, yaml.ScalarEvent):
            return event.value.rstrip("\n") if event.style in ("|", ">") else event.value
        if depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.SequenceStartEvent):
            return [self.build(inner, depth + 1) for inner in self._inner()]
        mapping = _Mapping()
        mapping.line = event.start_mark.line + 1
        for inner in self._inner():
            key = str(self.build(inner, depth + 1))
            if key in mapping:
                raise ValueError(
                    f"line {inner.start_mark.line + 1}: the key {quoted(key)} is there twice: {_ONE_KEY}"
                )
            mapping[key] = self.build(next(self._events), depth + 1)
        return mapping

    def _inner(self) -> Iterator[Any]:
        """Yield the events that begin the parts of a list or mapping, while the caller reads each part."""
        import yaml

        while not isinstance(event := next(self._events), yaml.CollectionEndEvent):
            yield event
