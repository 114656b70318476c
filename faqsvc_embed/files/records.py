"""Documents from parsed JSON, YAML, TOML and CSV: a record, a list of items, groups of them, or a FAQPage."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks, says_faq
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import (
    ANSWER_FIELDS,
    DOCUMENT_FIELDS,
    GROUP_NAMES,
    QUESTION_FIELDS,
    SECTION_FIELDS,
    find_columns,
    find_field,
    is_general,
    language_of,
    plain_name,
)
from faqsvc_embed.files.markup import as_one_format
from faqsvc_embed.files.schema_org import find_faq_page, read_faq_page
from faqsvc_embed.wire import is_item_id

_PLAIN_FIELDS: Final = {plain_name(name): field for name, field in DOCUMENT_FIELDS.items()}
_PLAIN_FIELDS.update(faqs="items", questions="items", language="lang", intro="introduction")
FRONT_MATTER_NAMES: Final = frozenset({*map(plain_name, DOCUMENT_FIELDS), "language", "website"})
"""Names of fields, as `plain_name` returns them, by which front matter is recognised."""
_OTHER_FIELDS: Final = ("website", "total", "nextoffset", "note", "faqurl", "install")
"""Fields in the output of the service and of commands, which are ignored in a file."""
_ITEM_FIELDS: Final = ("position", "source", "id", "lang", "confidence", "answermarkdown")
"""Fields of an item that are read elsewhere, or need no place in an FAQ."""
_CONTAINERS: Final = frozenset(("items", "faq", "faqs", "questions", "data", "entries", "list", "mainentity"))
_IDENTIFIER: Final = re.compile("[a-z0-9_.-]*")
_LANGUAGE_NAMES: Final = 2, 3, 5
"""Lengths of the names of languages."""


@dataclass(slots=True)
class _Found:
    """The items that were found in a value."""

    items: list[Any] = field(default_factory=list)
    positions: list[str] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    """The names of the fields of questions and answers."""
    categories: dict[str, None] = field(default_factory=dict)
    """The names of the fields of sections."""
    asking: int = 0

    def without_identifiers(self) -> None:
        """Leave out sections that are identifiers, such as `customer-care`, and not words."""
        sections = [item.get("section") for item in self.items if isinstance(item, dict)]
        identifiers = sum(_IDENTIFIER.fullmatch(str(section or "")) is not None for section in sections)
        if self.categories and identifiers * 5 > len(sections) * 4:
            for item in self.items:
                item.pop("section", None)
            self.unknown |= self.categories


def to_document(value: object, title: str = "") -> Document:
    """Return the document in a parsed file; unknown fields are listed in `unknown` and otherwise ignored.

    `title` is a title from outside `value`, such as that of a page around it.

    Raises:
        ValueError: it is neither an object nor a list, or has no question; the message says what was found.
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
    fields["unknown"] = [str(key) for key in value if plain_name(key) not in {*_PLAIN_FIELDS, *_OTHER_FIELDS}]
    for name in ("title", "introduction"):
        if name in fields:
            fields[name] = _text(fields[name], fields.get("lang"))
    return _with_items(value, fields, title)


def _with_items(value: Mapping[str, Any], fields: dict[str, Any], title: str) -> Document:
    """Return the document with the items of a mapping, wherever in it they are."""
    lang = fields.get("lang")
    found = _Found()
    holders = _holders(value)
    for key, inner in holders:
        named = len(holders) > 1 and plain_name(key) not in _CONTAINERS
        _collect(inner, str(key) if named else None, found, _Context(lang, _labels(value)))
    weak = any(map(is_general, found.names))
    says = says_faq(f"{title} {fields.get('title', '')}") or any(says_faq(str(key)) for key, _ in holders)
    if found.items and not (weak and not says and found.asking * 2 < len(found.items)):
        found.without_identifiers()
        used = {plain_name(key) for key, _ in holders}
        fields["unknown"] = [name for name in fields["unknown"] if plain_name(name) not in used]
        fields["unknown"] += [f"items[].{name}" for name in found.unknown]
        fields["items"], fields["positions"] = _ordered(found.items, found.positions)
        if lang is None and (language := language_of(*found.names)):
            fields["lang"] = language
        if {"slug", "cta"} <= value.keys():  # what the service returns, which leaves out the format of text
            fields.setdefault("answer_format", "text")
        return as_one_format(Document(**fields))
    if "items" in fields:
        items = fields["items"]
        if isinstance(items, list) and items and all(isinstance(one, Mapping) for one in items):
            keys = ", ".join(dict.fromkeys(str(key) for one in items for key in one))
            raise ValueError(f"no question and answer in the items, whose fields are {quoted(keys[:100])}")
        fields["items"] = items
        return Document(**fields)
    return Document(**fields)


@dataclass(frozen=True, slots=True)
class _Context:
    lang: Any
    labels: Mapping[str, str]
    """Names of sections by their ids."""


def _holders(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields of a mapping that hold items."""
    return [
        (key, inner)
        for key, inner in value.items()
        if isinstance(inner, list | Mapping) and _has_items(inner)
    ]


def _has_items(value: object, depth: int = 0) -> bool:
    if depth > 6:
        return False
    if isinstance(value, Mapping):
        if _is_item(value) or _is_answers(value):
            return True
        return any(
            _has_items(inner, depth + 1) for inner in value.values() if isinstance(inner, list | Mapping)
        )
    return isinstance(value, list) and any(_has_items(one, depth + 1) for one in value)


def _is_item(value: object) -> bool:
    """Return whether a value is a mapping with a text that asks, or may ask, and an answer to it."""
    if not isinstance(value, Mapping):
        return False
    names = find_columns(map(str, value))
    if names is None:
        return any(
            isinstance(inner, str) and plain_name(key) in ("question", "q") for key, inner in value.items()
        )
    question, answer = (value.get(name) for name in names)
    if isinstance(answer, list) and any(map(_is_item, answer)):
        return False
    if is_general(names[0]) and any(
        isinstance(inner, list) and _has_items(inner) for inner in value.values()
    ):
        return False
    return _is_text(question) and (answer is None or _is_text(answer) or isinstance(answer, list | Mapping))


def _is_answers(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping has questions as its keys and answers as its values."""
    texts = [key for key, inner in value.items() if isinstance(inner, str)]
    return bool(texts) and sum(asks(str(key)) for key in texts) * 2 > len(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Mapping) and _is_translated(value))


def _is_translated(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping has one text in several languages."""
    return bool(value) and all(
        isinstance(inner, str)
        and len(str(key)) in _LANGUAGE_NAMES
        and str(key)[:2].isalpha()
        and str(key)[:2].islower()
        for key, inner in value.items()
    )


def _collect(value: object, section: str | None, found: _Found, context: _Context) -> None:
    """Collect the items in a value."""
    if isinstance(value, list):
        known = any(map(_is_item, value))
        for index, one in enumerate(value):
            if isinstance(one, Mapping) and not _is_item(one) and _has_items(one):
                _collect(one, section, found, context)
            elif known:
                _add(one, index, section, found, context)
    elif isinstance(value, Mapping) and _is_item(value):
        _add(value, len(found.items), section, found, context)
    elif isinstance(value, Mapping) and _is_answers(value):
        for question, answer in value.items():
            _add({"question": question, "answer": answer}, len(found.items), section, found, context)
    elif isinstance(value, Mapping):
        holders = _holders(value)
        name = find_field([str(key) for key, inner in value.items() if _is_text(inner)], GROUP_NAMES)
        own = _text(value[name], context.lang) if name is not None else section
        for key, inner in holders:
            named = plain_name(key) not in _CONTAINERS and len(holders) > 1
            _collect(inner, str(key) if named else own, found, context)
        used = {*(key for key, _ in holders), name}
        found.unknown.update(
            (str(key), None)
            for key, inner in value.items()
            if key not in used and inner not in (None, "", [])
        )


def _add(item: object, index: int, section: str | None, found: _Found, context: _Context) -> None:
    """Add an item with `question`, `answer`, `section` and `id`, under whichever names the file has.

    An `id` of another form, such as a number, belongs to another system, and is left out.
    """
    line = getattr(item, "line", None)
    found.positions.append(line if isinstance(line, str) else f"line {line}" if line else f"items[{index}]")
    if not isinstance(item, Mapping):
        found.items.append(item)
        return
    names = [str(key) for key in item]
    columns = find_columns(names)
    question_name = columns[0] if columns else find_field(names, QUESTION_FIELDS)
    answer_name = (
        columns[1]
        if columns
        else find_field((name for name in names if name != question_name), ANSWER_FIELDS)
    )
    rest = [name for name in names if name not in (question_name, answer_name)]
    section_name = find_field([name for name in rest if _is_text(item[name])], SECTION_FIELDS)
    used = {question_name, answer_name, section_name}
    found.names.update((name, None) for name in (question_name, answer_name) if name)
    found.unknown.update(
        (name, None)
        for name in names
        if name not in used and plain_name(name) not in _ITEM_FIELDS and item[name] not in (None, "", [], {})
    )
    question = _text(item[question_name], context.lang) if question_name else None
    own = _text(item[section_name], context.lang) if section_name else None
    found.categories.update({section_name: None} if section_name and own not in context.labels else {})
    own = context.labels.get(own, own) if isinstance(own, str) else own
    optional = {
        "section": own if own not in (None, "") else section,
        "id": item["id"] if is_item_id(item.get("id")) else None,
        "position": item.get("position"),
    }
    found.asking += isinstance(question, str) and asks(question)
    found.items.append(
        {
            "question": question,
            "answer": _answer(item.get(answer_name), context.lang) if answer_name else None,
            **{name: value for name, value in optional.items() if value not in (None, "")},
        }
    )


def _text(value: Any, lang: Any) -> Any:
    """Return a text; of one in several languages, that of the document, else in English, else the first."""
    if isinstance(value, Mapping) and _is_translated(value):
        return next((value[key] for key in (lang, "en") if key in value), next(iter(value.values())))
    return value


def _answer(value: Any, lang: Any) -> Any:
    """Return an answer as text: a list becomes a list of Markdown, a mapping with one text that text."""
    value = _text(value, lang)
    if isinstance(value, Mapping):
        texts = [inner for inner in value.values() if isinstance(inner, str)]
        name = find_field([str(key) for key, inner in value.items() if isinstance(inner, str)], ANSWER_FIELDS)
        return value[name] if name else "\n\n".join(texts) if len(texts) == len(value) and texts else value
    if isinstance(value, list) and value:
        parts = [_answer(one, lang) for one in value]
        if all(isinstance(part, str) for part in parts):
            is_prose = all(len(part) > 200 or part.endswith((".", "。", "!", "?")) for part in parts)
            return "\n\n".join(parts) if is_prose else "\n".join(f"- {part}" for part in parts)
    return value


def _labels(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of sections in lists beside the items, by their ids."""
    labels = dict[str, str]()
    for inner in value.values():
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, Mapping) and not _has_items(one):
                name = find_field(map(str, one), ("label", "title", "name", "text"))
                key = next(
                    (one[key] for key in ("id", "key", "slug", "value") if isinstance(one.get(key), str)),
                    None,
                )
                if name is not None and key is not None and isinstance(text := _text(one[name], "en"), str):
                    labels[key] = text
    return labels


def _ordered(items: list[Any], positions: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Return items with their places; if each has a position, sorted by it as in a record."""
    order = list(range(len(items)))
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError):
        numbers = [int(item["position"]) for item in items]  # a text in YAML
        order.sort(key=numbers.__getitem__)
    for item in items:
        if isinstance(item, dict):
            item.pop("position", None)
    return [items[index] for index in order], [positions[index] for index in order]
