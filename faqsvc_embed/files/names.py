"""What a parsed value is: an item, a text in one or several languages, or records under other names."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.fields import (
    ANSWER_FIELDS,
    find_columns,
    find_field,
    is_general,
    pairs_of,
    plain_name,
)
from faqsvc_embed.files.markup import has_tags
from faqsvc_embed.languages import LANGUAGES

MAX_DEPTH: Final = 6
"""Levels of lists and mappings in which questions are looked for."""
_MIN_PAIRS: Final = 2
_LANGUAGE: Final = re.compile("[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
_LANGUAGE_NAMES: Final = 2, 3, 5
"""Lengths of the names of languages."""


def usual(value: Any, depth: int = 0) -> Any:
    """Return a value with the usual names where its own say nothing: what mostly asks is a question."""
    if depth > MAX_DEPTH or not isinstance(value, list | Mapping):
        return value
    value = _in_one_language(value) if isinstance(value, Mapping) else value
    fields = dict(value.items() if isinstance(value, Mapping) else enumerate(value))
    texts = {str(key): inner for key, inner in fields.items() if is_text(inner)}
    pairs = pairs_of(texts) if isinstance(value, Mapping) else {}
    if len(pairs) >= _MIN_PAIRS:
        used = {*pairs, *(name for own in pairs.values() for name in own)}
        items = [
            {"question": texts[name], "answer": [texts[one] for one in own] if own[1:] else texts[own[0]]}
            for name, own in pairs.items()
        ]
        return {key: inner for key, inner in fields.items() if key not in used} | {"items": items}
    if isinstance(value, Mapping) and is_item(value):
        return value
    records = [one for one in fields.values() if isinstance(one, Mapping)]
    if not any(map(_has_columns, records)) and (columns := asking_columns(records)) is not None:
        fields = {key: _renamed(one, *columns) for key, one in fields.items()}
    else:
        fields = {key: usual(one, depth + 1) for key, one in fields.items()}
    return _like(value, fields) if isinstance(value, Mapping) else list(fields.values())


def _in_one_language(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a mapping of languages to records with those in its `lang`, in English, or in the first."""
    records = {
        key: inner
        for key, inner in value.items()
        if isinstance(inner, list | Mapping) and _LANGUAGE.fullmatch(str(key)) and has_items([inner])
    }
    if len(records) < _MIN_PAIRS or records.keys().isdisjoint(LANGUAGES):
        return value
    own = next(key for key in (value.get("lang"), "en", *records) if key in records)
    record = records[own]
    chosen = {"items": record} if isinstance(record, list) else dict(record)
    left = {key: "left out" if key in records else inner for key, inner in value.items() if key != own}
    return _like(value, {**left, **chosen})


def _has_columns(record: Mapping[str, Any]) -> bool:
    return find_columns(map(str, record)) is not None


def asking_columns(records: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the names of the fields of questions and answers in records without usual names.

    Most texts of the first ask; the other has a usual name of answers, or the longest texts.
    """
    texts = dict[str, list[str]]()
    for record in records:
        for key, text in record.items():
            texts.setdefault(str(key), []).extend([text] if isinstance(text, str) else [])
    most = {name: sum(map(asks, own)) for name, own in texts.items()}
    question = max(most, key=most.__getitem__, default="")
    others = {name: sum(map(len, own)) for name, own in texts.items() if name != question}
    answer = find_field(others, ANSWER_FIELDS) or max(others, key=others.__getitem__, default=None)
    if answer is None or most[question] < 2 or most[question] * 2 < len(records):
        return None
    is_named = find_field([answer], ANSWER_FIELDS) is not None
    return (question, answer) if is_named or others[answer] > sum(map(len, texts[question])) else None


def _renamed(record: Any, question: str, answer: str) -> Any:
    """Return a record with the usual names; without the usual answer, all its other texts are one."""
    if not isinstance(record, Mapping) or question not in record:
        return record
    texts = {str(key): text for key, text in record.items() if key != question and isinstance(text, str)}
    if not texts:
        return record
    own = {"question": record[question], "answer": texts.get(answer, list(texts.values()))}
    used = {question, answer} if answer in record else {question, *texts}
    return _like(record, own | {key: inner for key, inner in record.items() if key not in used})


def _like(value: Mapping[str, Any], fields: dict[str, Any]) -> Mapping[str, Any]:
    """Return fields with the place of the mapping that they are of."""
    line = getattr(value, "line", None)
    if line is None:
        return fields
    placed = type(value)(fields)  # type: ignore[call-arg]
    placed.line = line  # type: ignore[attr-defined]
    return placed


def has_items(value: object, depth: int = 0) -> bool:
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, Mapping):
        if is_item(value) or is_answers(value):
            return True
        return any(
            has_items(inner, depth + 1) for inner in value.values() if isinstance(inner, list | Mapping)
        )
    return isinstance(value, list) and any(has_items(one, depth + 1) for one in value)


def is_item(value: object) -> bool:
    """Return whether a value is a mapping with a text that asks, or may ask, and an answer to it."""
    if not isinstance(value, Mapping):
        return False
    names = find_columns(map(str, value))
    if names is None:
        return any(
            isinstance(inner, str) and plain_name(key) in ("question", "q") for key, inner in value.items()
        )
    question, answer = (value.get(name) for name in names)
    if isinstance(answer, list) and any(map(is_item, answer)):
        return False
    if is_general(names[0]) and any(isinstance(inner, list) and has_items(inner) for inner in value.values()):
        return False
    return is_text(question) and (answer is None or is_text(answer) or isinstance(answer, list | Mapping))


def is_answers(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping has questions as its keys and answers as its values."""
    texts = [key for key, inner in value.items() if isinstance(inner, str)]
    return bool(texts) and sum(asks(str(key)) for key in texts) * 2 > len(value)


def is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Mapping) and _is_translated(value))


def _is_translated(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping has one text in several languages."""
    names = [str(key) for key, inner in value.items() if isinstance(inner, str)]
    return bool(names) and all(
        len(name) in _LANGUAGE_NAMES and name[:2].isalpha() and name[:2].islower() for name in names
    )


def only_text(value: Any) -> Any:
    """Return the text of a list that has only one."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def text_in(value: Any, lang: Any) -> Any:
    """Return a text; of one in several languages, that of the document, else in English, else the first."""
    if isinstance(value, Mapping) and _is_translated(value):
        texts = [inner for inner in value.values() if isinstance(inner, str)]
        return next((value[key] for key in (lang, "en") if key in value), texts[0])
    return value


def answer_text(value: Any, lang: Any) -> Any:
    """Return an answer as text: a list becomes a list of Markdown, a mapping with one text that text."""
    value = text_in(value, lang)
    if isinstance(value, Mapping):
        texts = [inner for inner in value.values() if isinstance(inner, str)]
        name = find_field([str(key) for key, inner in value.items() if isinstance(inner, str)], ANSWER_FIELDS)
        return value[name] if name else "\n\n".join(texts) if len(texts) == len(value) and texts else value
    if isinstance(value, list) and value:
        parts = [answer_text(one, lang) for one in value]
        if all(isinstance(part, str) for part in parts):
            if any(map(has_tags, parts)):  # lines of HTML
                return "\n".join(parts)
            is_prose = all(len(part) > 200 or part.endswith((".", "。", "!", "?")) for part in parts)
            return "\n\n".join(parts) if is_prose else "\n".join(f"- {part}" for part in parts)
    return value
