"""Documents from parsed JSON, YAML, TOML and CSV: a record, a list of items, groups of them, or a FAQPage.

Questions are found from the inside out: a mapping with a question is an item, and what has items is a group.
"""

import contextlib
import re
from collections import ChainMap, defaultdict
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks, says_faq
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import (
    GROUP_NAMES,
    LANGUAGE_NAME,
    QUESTION_LABELS,
    SECTION_FIELDS,
    Columns,
    asking_columns,
    asking_pairs,
    find_columns,
    find_field,
    hidden_by,
    is_general,
    plain_name,
    usual_columns,
)
from faqsvc_embed.files.markup import as_one_format
from faqsvc_embed.files.values import (
    document_fields,
    faq_page,
    is_stated,
    is_text,
    only_text,
    text_in,
    unread_texts,
    whole_answer,
)
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models.wire import is_item_id

_OTHER_FIELDS: Final = ("website", "total", "nextoffset", "note", "faqurl", "install")
"""Fields in the output of the service and of commands, which are ignored in a file."""
_ITEM_FIELDS: Final = ("position", "source", "id", "lang", "confidence", "answermarkdown")
"""Fields of an item that are read elsewhere, or need no place in an FAQ."""
_QUESTION_NAMES: Final = frozenset(QUESTION_LABELS)
"""Field names that make one record a question. In other fields, such as `new_question`, the text must ask."""
_CONTAINERS: Final = _QUESTION_NAMES | {"items", "faq", "faqs", "data", "entries", "list", "mainentity"}
_IDENTIFIER: Final = re.compile("[a-z0-9_.-]+")
_MAX_DEPTH: Final = 6
"""Levels of lists and mappings in which questions are looked for."""


@dataclass(slots=True)
class _Found:
    """The items that were found in a value."""

    items: list[Any] = field(default_factory=list)
    positions: list[str | None] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)
    """The names of the fields of questions and answers."""
    categories: dict[str, None] = field(default_factory=dict)
    """The names of the fields of sections."""
    is_item: bool = False
    """Whether the value itself is an item."""

    def add(self, other: "_Found", section: object = None) -> None:
        """Add what was found in a part, which may be a section."""
        if section not in (None, ""):
            for item in other.items:
                if isinstance(item, dict):
                    item.setdefault("section", section)
        self.items += other.items
        self.positions += other.positions
        self.unknown |= other.unknown
        self.columns |= other.columns
        self.categories |= other.categories

    def leave_out(self, value: Mapping[str, Any], used: Collection[str | None]) -> None:
        """Note the fields of a mapping that are not used."""
        names = (str(key) for key, inner in value.items() if inner not in (None, "", [], {}))
        self.unknown |= dict.fromkeys(name for name in names if name not in used)

    def drop_identifiers(self) -> None:
        """Leave out sections that are identifiers, such as `customer-care`, and not words."""
        items = [item for item in self.items if isinstance(item, dict) and "section" in item]
        identifiers = sum(_IDENTIFIER.fullmatch(str(item["section"])) is not None for item in items)
        if self.categories and identifiers * 5 > len(items) * 4:
            for item in items:
                item.pop("section", None)
            self.unknown |= self.categories

    @property
    def needs_asking(self) -> bool:
        """Whether the texts must ask to be questions, because other data has fields of these names, too."""
        is_label = len(self.items) == 1 and _QUESTION_NAMES.isdisjoint(map(plain_name, self.columns))
        return is_label or any(map(is_general, self.columns))

    @property
    def is_faq(self) -> bool:
        """Whether most of the questions ask."""
        asking = sum(isinstance(item, dict) and asks(str(item["question"])) for item in self.items)
        return asking * 2 >= len(self.items)


def to_document(value: object) -> Document:
    """Return the document in a parsed file; unknown fields are listed in `unknown` and otherwise ignored.

    Raises:
        ValueError: it is neither an object nor a list, or few texts in it ask; the message says what it is.
    """
    page = faq_page(value)
    value = value if page is None else page
    value = {"items": value} if isinstance(value, list) else value
    if not isinstance(value, Mapping):
        raise ValueError(f"expected an object with items, or a list of items, not {quoted(value)}")
    value = _in_one_language(value, 0)
    stated = {key: inner for key, inner in value.items() if is_stated(plain_name(key), inner)}
    fields = document_fields(value, stated)
    # A page may be hidden from menus only, and a response of a program may have the status 0.
    said = {key: one for key, one in value.items() if "hidden" not in plain_name(key) and str(one) != "0"}
    if mark := hidden_by(said):
        fields["draft"] = True
    if {"slug", "cta"} <= value.keys():  # what the service returns, which leaves out the format of text
        fields.setdefault("answer_format", "text")
    lang = fields.get("lang")
    labels = _labels(value)
    found, used = _Finder(lang, ChainMap(*labels.values())).in_document(value, stated)
    fields["unknown"] = [
        *(str(key) for key in value if key not in {mark, *stated} and plain_name(key) not in _OTHER_FIELDS),
        *(one for key in stated if is_text(value[key]) for one in unread_texts(str(key), value[key], lang)),
    ]
    if not found.items:
        return Document(**fields)
    says = says_faq(str(fields.get("title", ""))) or any(map(says_faq, used))
    enough = len(found.items) > 1 if says else found.is_faq
    enough = enough and all(isinstance(item, dict) for item in found.items)
    if page is None and found.needs_asking and not enough:
        if "items" not in fields:
            return Document(**fields)
        names = quoted(", ".join(found.columns))
        place = found.positions[0] or "items[0]"
        raise ValueError(f'{place}: few texts in {names} ask: name the field of the questions "question"')
    sections = {item.get("section") for item in found.items if isinstance(item, dict)}
    used |= {name for name, own in labels.items() if sections & {*own.values()}}
    fields["unknown"] = [name for name in fields["unknown"] if name not in used]
    found.drop_identifiers()
    fields["items"], fields["positions"] = _ordered(found)
    marks = [item.pop("hidden", None) if isinstance(item, dict) else None for item in fields["items"]]
    hidden = {index: mark for index, mark in enumerate(marks) if mark is not None}
    fields["unknown"] += [f"items[].{name}" for name in found.unknown if name not in hidden.values()]
    document = Document(**fields).without_hidden(hidden).without_incomplete()
    return as_one_format(document, is_html=page is not None)


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the items in values."""

    lang: Any
    labels: Mapping[str, str]
    """Names of sections by their ids."""

    def in_document(self, value: Mapping[str, Any], stated: Mapping[str, Any]) -> tuple[_Found, set[str]]:
        """Return the items in a document with `stated` fields, and the names of the fields that have them."""
        found, used = self.in_fields(value, 0)
        rest = {key: inner for key, inner in value.items() if key not in stated}
        columns = None if found.items else find_columns(map(str, rest))
        if columns is not None and plain_name(columns[0]) in _QUESTION_NAMES:  # a file of one question
            return self.find([rest]), set(map(str, rest))
        return found, used

    def find(self, value: object, depth: int = 0) -> _Found:
        """Return the items in a value."""
        if depth <= _MAX_DEPTH and isinstance(value, list):
            return self._in_list(value, depth)
        if depth <= _MAX_DEPTH and isinstance(value, Mapping):
            return self._in_mapping(_in_one_language(value, depth), depth)
        return _Found()

    def _in_list(self, value: Sequence[Any], depth: int) -> _Found:
        columns = asking_columns(value)
        parts = [self._part(one, columns, depth) for one in value]
        has_items = any(part.is_item for part in parts)
        found = _Found()
        for one, part in zip(value, parts, strict=True):
            key = next(iter(one)) if isinstance(one, Mapping) and len(one) == 1 < len(value) else ""
            # The key of a text is its question. The key of records may be their section.
            is_named = bool(key) and plain_name(key) not in _CONTAINERS and not is_text(one[key])
            if part.items:
                found.add(part, str(key) if is_named and not part.is_item else None)
            elif has_items:
                found.add(self._item(one, None))  # the validation reports that it is no item
            elif isinstance(one, Mapping):
                found.leave_out(one, ())
        return found

    def _part(self, value: object, columns: Columns | None, depth: int) -> _Found:
        """Return the items in a part of a list or mapping, whose records may have these columns."""
        if columns is not None and isinstance(value, Mapping) and columns[0] in value:
            return self._item(value, columns)
        return self.find(value, depth + 1)

    def _in_mapping(self, value: Mapping[str, Any], depth: int) -> _Found:
        names = find_columns(map(str, value))
        question, answer = (value.get(name) for name in names or ("", ""))
        texts = {str(key): inner for key, inner in value.items() if is_text(inner)}
        has_pairs = bool(asking_pairs(texts))
        if names is None:
            if not has_pairs and not {"question", "q"}.isdisjoint(map(plain_name, texts)):
                return self._item(value, None)
        elif is_text(question) and not isinstance(answer, int | float):  # as `__v` of a database
            lists = [inner for inner in value.values() if isinstance(inner, list)]
            nested = lists if is_general(names[0]) else [answer] if isinstance(answer, list) else []
            if not has_pairs and not any(self.find(one, depth + 1).items for one in nested):
                return self._item(value, None)
        name = find_field(texts, GROUP_NAMES)
        inner, used = self.in_fields(value, depth)
        found = _Found()
        found.add(inner, text_in(value[name], self.lang) if name is not None else None)
        if found.items:
            mark = hidden_by(value)
            found.leave_out(value, {*used, name, mark})
            for item in found.items if mark else ():
                item["hidden"] = mark
        return found

    def in_fields(self, value: Mapping[str, Any], depth: int) -> tuple[_Found, set[str]]:
        """Return the items in the fields of a mapping, and the names of these fields."""
        found = _Found()
        texts = {str(key): inner for key, inner in value.items() if is_text(inner)}
        if pairs := asking_pairs(texts):
            asked = [(texts[name], [texts[one] for one in own]) for name, own in pairs.items()]
            used = {*pairs, *(name for own in pairs.values() for name in own)}
        elif texts and sum(map(asks, texts)) * 2 > len(value):
            asked, used = [(name, [text]) for name, text in texts.items()], {*texts}
        else:
            asked, used = [], set()
        for question, answers in asked:
            found.add(self._item({"question": question, "answer": only_text(answers)}, None))
        others = {str(key): inner for key, inner in value.items() if str(key) not in used}
        columns = asking_columns(others.values())
        parts = {key: self._part(inner, columns, depth) for key, inner in others.items()}
        parts = {key: part for key, part in parts.items() if part.items}
        if not all(one.is_item for one in parts.values()):
            # A title with a text is no question beside groups of questions. A list of titles that do not ask
            # has no questions if other fields have names such as `question`.
            general = {key for key, one in parts.items() if any(map(is_general, one.columns))}
            has_named = len(general) < len(parts)
            faqs = {key for key, one in parts.items() if not has_named or one.is_faq or says_faq(key)}
            left = {key for key in general if parts[key].is_item or key not in faqs}
            parts = {key: part for key, part in parts.items() if key not in left}
        for key, part in parts.items():
            is_name = len(parts) > 1 and plain_name(key) not in _CONTAINERS and not part.is_item
            found.add(part, key if is_name and not says_faq(key.replace("_", " ")) else None)
        return found, {*used, *parts}

    def _item(self, item: object, columns: Columns | None) -> _Found:
        """Return an item with `question`, `answer`, `section` and `id`, whatever the file calls them.

        An `id` of another form, such as a number, belongs to another system, and is left out.
        """
        if isinstance(item, Mapping) and not any(item.values()):
            return _Found()  # a form that nobody has filled in
        place = getattr(item, "place", None)
        found = _Found(positions=[place], is_item=True)
        if not isinstance(item, Mapping):
            found.items.append(item)
            return found
        # The keywords of JSON-LD begin with @.
        item = {str(key): inner for key, inner in item.items() if not str(key).startswith("@")}
        question_name, answer_name = columns or usual_columns(item)
        rest = [name for name in item if name not in (question_name, answer_name)]
        sections = {name: only_text(item[name]) for name in rest}
        section_name = find_field([name for name in rest if is_text(sections[name])], SECTION_FIELDS)
        answer, more = whole_answer(item, answer_name, rest, self.lang)
        used = {question_name, answer_name, section_name, *more}
        known = [name for name in item if plain_name(name) in _ITEM_FIELDS]
        known = [name for name in known if name != "source" or " " not in str(item[name])]  # an address
        found.leave_out(item, {*used, *known})
        found.columns.update((name, None) for name in (question_name, answer_name) if name)
        section = text_in(sections[section_name], self.lang) if section_name else None
        if section_name and plain_name(section_name) != "section" and section not in self.labels:
            found.categories[section_name] = None
        for name in filter(None, (question_name, answer_name, section_name)):
            found.unknown.update(dict.fromkeys(unread_texts(name, item.get(name), self.lang)))
        optional = {
            "section": self.labels.get(section, section) if isinstance(section, str) else section,
            "id": item["id"] if is_item_id(item.get("id")) else None,
            "position": item.get("position"),
            "hidden": hidden_by(item),
        }
        fields = {
            "question": text_in(item[question_name], self.lang) if question_name else None,
            "answer": answer,
        }
        found.items.append(fields | {name: one for name, one in optional.items() if one not in (None, "")})
        return found


def _in_one_language(value: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return a mapping of languages to records with those in its `lang`, in English, or in the first."""
    names = [key for key in value if LANGUAGE_NAME.fullmatch(str(key))]
    finder = _Finder(None, {})
    records = [key for key in names if finder.find(value[key], depth + 1).items] if names[1:] else []
    if not records[1:] or set(records).isdisjoint(LANGUAGES) or not isinstance(value, dict):
        return value
    own = next(key for key in (value.get("lang"), "en", *records) if key in records)
    chosen = {"items": value[own]} if isinstance(value[own], list) else value[own]
    # True instead of a text, which could be an answer: what is left out is named as an unknown field.
    left = {key: True if key in records else inner for key, inner in value.items() if key != own}
    one = copy(value)  # a copy keeps its line in the file
    one.clear()
    one.update(left | chosen)
    return one


def _labels(value: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the names of sections in lists and mappings beside the items, by their fields and ids."""
    labels = defaultdict[str, dict[str, str]](dict)
    for own, inner in value.items():
        # Another mapping may have the icons or the colours of the sections.
        is_named = find_field((str(own), str(own).removesuffix("s")), GROUP_NAMES) is not None
        if is_named and isinstance(inner, Mapping):
            labels[str(own)].update((str(key), text) for key, text in inner.items() if isinstance(text, str))
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, Mapping) and not _Finder(None, {}).find(one).items:
                name = find_field(map(str, one), ("label", "title", "name", "text"))
                keys = (one[key] for key in ("id", "key", "slug", "value") if isinstance(one.get(key), str))
                text = text_in(one[name], "en") if name is not None else None
                if (key := next(keys, None)) is not None and isinstance(text, str):
                    labels[str(own)][key] = text
    return labels


def _ordered(found: _Found) -> tuple[list[Any], list[str]]:
    """Return the items and their places in the file, sorted by position if each item has one."""
    places = [place or f"items[{index}]" for index, place in enumerate(found.positions)]
    placed = list(zip(found.items, places, strict=True))
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError):
        placed = sorted(placed, key=lambda one: int(one[0]["position"]))  # YAML is read as text
    for item in found.items:
        if isinstance(item, dict):
            item.pop("position", None)
    return [item for item, _ in placed], [place for _, place in placed]
