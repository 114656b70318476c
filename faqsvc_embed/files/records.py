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
    LIST_FIELDS,
    QUESTION_FIELDS,
    SECTION_FIELDS,
    find_columns,
    find_field,
    is_general,
    language_of,
    plain_name,
)
from faqsvc_embed.files.markup import as_one_format
from faqsvc_embed.files.names import (
    answer_text,
    has_items,
    is_answers,
    is_item,
    is_text,
    only_text,
    text_in,
    usual,
)
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
    value = usual(value)
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
            fields[name] = text_in(fields[name], fields.get("lang"))
    return _with_items(value, fields, title)


def _with_items(value: Mapping[str, Any], fields: dict[str, Any], title: str) -> Document:
    """Return the document with the items of a mapping, wherever in it they are."""
    lang = fields.get("lang")
    found = _Found()
    holders = _holders(value)
    for key, inner in holders:
        _collect(inner, _group(key, inner, holders), found, _Context(lang, _labels(value)))
    weak = any(map(is_general, found.names))
    says = says_faq(f"{title} {fields.get('title', '')}") or any(says_faq(str(key)) for key, _ in holders)
    enough = len(found.items) > 1 if says else found.asking * 2 >= len(found.items)
    enough = enough and all(isinstance(item, dict) for item in found.items)
    if found.items and not (weak and not enough):
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
    if found.items and "items" in fields:
        names = quoted(", ".join(found.names))
        raise ValueError(
            f"{found.positions[0]}: few of the texts ask in the fields {names}: name them question"
        )
    if "items" in fields:
        items = fields["items"]
        if isinstance(items, list) and items and all(isinstance(one, Mapping) for one in items):
            items = [one for one in items if any(one.values())]
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
        (key, inner) for key, inner in value.items() if isinstance(inner, list | Mapping) and has_items(inner)
    ]


def _group(key: object, inner: object, holders: Sequence[object]) -> str | None:
    """Return the key that names a group of records, which is one of several."""
    is_name = len(holders) > 1 and plain_name(key) not in _CONTAINERS and not is_item(inner)
    return str(key) if is_name else None


def _collect(value: object, section: str | None, found: _Found, context: _Context) -> None:
    """Collect the items in a value."""
    if isinstance(value, list):
        known = any(map(is_item, value))
        for index, one in enumerate(value):
            if isinstance(one, list | Mapping) and not is_item(one) and has_items(one):
                name = next(iter(one)) if isinstance(one, Mapping) and len(one) == 1 < len(value) else ""
                is_named = bool(name) and plain_name(name) not in _CONTAINERS
                _collect(one, str(name) if is_named else section, found, context)
            elif known:
                _add(one, index, section, found, context)
    elif isinstance(value, Mapping) and is_item(value):
        _add(value, len(found.items), section, found, context)
    elif isinstance(value, Mapping) and is_answers(value):
        for question, answer in value.items():
            _add({"question": question, "answer": answer}, len(found.items), section, found, context)
    elif isinstance(value, Mapping):
        holders = _holders(value)
        name = find_field([str(key) for key, inner in value.items() if is_text(inner)], GROUP_NAMES)
        own = text_in(value[name], context.lang) if name is not None else section
        for key, inner in holders:
            _collect(inner, _group(key, inner, holders) or own, found, context)
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
    if isinstance(item, Mapping) and not any(item.values()):
        return  # a form that nobody has filled in
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
    list_name = next((name for name in rest if plain_name(name) in LIST_FIELDS and item[name]), None)
    sections = {name: only_text(item[name]) for name in rest}
    section_name = find_field([name for name in rest if is_text(sections[name])], SECTION_FIELDS)
    answer = answer_text(item.get(answer_name), context.lang) if answer_name else None
    listed = answer_text(item[list_name], context.lang) if list_name else None
    if isinstance(listed, str):
        answer = f"{answer}\n\n{listed}" if isinstance(answer, str) else listed
    used = {question_name, answer_name, section_name, list_name if isinstance(listed, str) else None}
    found.names.update((name, None) for name in (question_name, answer_name) if name)
    found.unknown.update(
        (name, None)
        for name in names
        if name not in used and plain_name(name) not in _ITEM_FIELDS and item[name] not in (None, "", [], {})
    )
    question = text_in(item[question_name], context.lang) if question_name else None
    own = text_in(sections[section_name], context.lang) if section_name else None
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
            "answer": answer,
            **{name: value for name, value in optional.items() if value not in (None, "")},
        }
    )


def _labels(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of sections in lists beside the items, by their ids."""
    labels = dict[str, str]()
    for inner in value.values():
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, Mapping) and not has_items(one):
                name = find_field(map(str, one), ("label", "title", "name", "text"))
                key = next(
                    (one[key] for key in ("id", "key", "slug", "value") if isinstance(one.get(key), str)),
                    None,
                )
                if name is not None and key is not None and isinstance(text := text_in(one[name], "en"), str):
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
