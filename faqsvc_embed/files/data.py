"""Reads FAQs in JSON, YAML, TOML and CSV, and writes them in JSON."""

import contextlib
import csv
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, pairwise, zip_longest
from typing import Any, Final

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import (
    ANSWER_FIELDS,
    DOCUMENT_FIELDS,
    QUESTION_FIELDS,
    SECTION_FIELDS,
    asking_columns,
    find_columns,
    find_field,
    plain_name,
)
from faqsvc_embed.files.records import to_document
from faqsvc_embed.files.values import Located

MAX_DEPTH: Final = 100
"""Maximum depth of lists and mappings in YAML; an FAQ has three levels."""
MAX_VALUES: Final = 100_000
"""Maximum number of values in a YAML file, each use of an alias included; an FAQ has a few thousand."""
MAX_DOTS: Final = 200
"""Maximum full stops in a line of TOML: the time to read a key grows with the square of their number."""
_MAX_ABOVE: Final = 5
"""The first rows, one of which may name the columns."""
_SAMPLE: Final = 20_000
"""Characters from which the separator is guessed."""

_KEY: Final = re.compile(r"[\w-]+(?:[.:][\w-]+)+")
"""The key of a text in a file of translations, such as `faq.pay.question`."""
_ONE_KEY: Final = "begin another item before it, or remove one"
_WANTED: Final = "a list of items with question and answer is read"


def read_json(text: str) -> Document:
    """Return the FAQ in a JSON file."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: not JSON: {error.msg}") from None
    return _with_questions(to_document(value), value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse equal keys, of which the parser would keep only the last."""
    value = dict(pairs)
    if len(value) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {quoted(key)} twice: {_ONE_KEY}")
    return value


def read_yaml(text: str) -> Document:
    """Return the FAQ in a YAML file."""
    value = parse_yaml(text)
    return _with_questions(yaml_document(value), value)


def read_toml(text: str) -> Document:
    """Return the FAQ in a TOML file."""
    value = parse_toml(text)
    return _with_questions(to_document(value), value)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the value of a TOML document; a ValueError names the line of an error."""
    lines = enumerate(text.split("\n"), 1)
    if number := next((number for number, line in lines if line.count(".") > MAX_DOTS), 0):
        raise ValueError(f"line {number}: more than {MAX_DOTS} full stops in a line of TOML: break the line")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search("line [0-9]+", str(error))
        line = place[0] if place else f"line {text.count(chr(10)) + 1}"
        raise ValueError(f"{line}: not TOML: {str(error).partition(' (at ')[0]}") from None


def _with_questions(document: Document, value: object) -> Document:
    """Return a document with questions. If it has none, raise a ValueError that says what was found."""
    if not document.positions:
        found = ", ".join(dict.fromkeys(_field_names(value, ""))) or str(value)
        raise ValueError(f"line 1: no questions found in {quoted(found)}: {_WANTED}")
    return refuse_keys(document)


def refuse_keys(document: Document) -> Document:
    """Return a document. If it has the keys of translations instead of texts, raise a ValueError."""
    items = [item for item in document.items or () if isinstance(item, dict)]
    texts = [*(item.get("question") for item in items), *(item.get("answer") for item in items[:1])]
    if texts and all(_KEY.fullmatch(str(text).strip("'\"")) for text in texts):
        found = f"{document.place(0, 0)}: {quoted(texts[0])}"
        raise ValueError(f"{found} is a key: read the file with the texts of its keys")
    return document


def _field_names(value: object, name: str) -> Iterator[str]:
    """Yield the names of the fields of a value, such as `faq[].title`, or a value that has no fields.

    Only the first three values of a list count.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _field_names(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value:
        for inner in value[:3]:
            yield from _field_names(inner, f"{name}[]")
    elif name not in ("", "[]"):
        yield name
    elif value:
        yield str(value)


def yaml_document(value: object) -> Document:
    """Return the document in parsed YAML, in which numbers and booleans are texts, and `cta` may be JSON."""
    document = to_document(value)
    texts = (("revision", document.revision), ("draft", str(document.draft).lower()), ("cta", document.cta))
    for name, text in texts:
        with contextlib.suppress(ValueError, RecursionError, TypeError):  # it is another text, or no text
            document = replace(document, **{name: json.loads(text)})
    return document


def write_json(document: Document) -> str:
    """Return a document as JSON on one line, in the camelCase of the REST contract."""
    return json.dumps(to_fields(document), ensure_ascii=False, separators=(",", ":")) + "\n"


def to_fields(document: Document) -> dict[str, Any]:
    """Return the fields that a document states, by their names in the REST contract."""
    fields = ((name, getattr(document, field)) for name, field in DOCUMENT_FIELDS.items())
    return {name: value for name, value in fields if value is not None}


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML document, in which `no`, `1.10` and dates too stay text; `null` is None.

    Raises:
        ValueError: it is not YAML, has a key twice or too many aliases, or is nested too deeply.
    """
    import yaml

    try:
        nodes = [node for node in yaml.compose_all(text, Loader=yaml.BaseLoader) if node.value != ""]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or error
        raise ValueError(f"{place}not YAML: {problem}: quote a text with special characters") from None
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    if len(nodes) > 1:
        place = f"line {nodes[1].start_mark.line + 1}"
        raise ValueError(f"{place}: the file has more than one document: write each FAQ in a file of its own")
    return _value(nodes[0], count()) if nodes else None


def _value(node: Any, counter: Iterator[int], depth: int = 1) -> Any:
    """Return the value of a node, and count it: a small file with aliases can have billions of values."""
    line = node.start_mark.line + 1
    if next(counter) >= MAX_VALUES:
        raise ValueError(f"line {line}: too many aliases or values: at most {MAX_VALUES:,} values are read")
    if node.id == "scalar":
        if node.style is None and node.value.lower() in ("~", "null"):
            return None
        return node.value.rstrip("\n") if node.style in ("|", ">") else node.value
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if node.id == "sequence":
        return [_value(inner, counter, depth + 1) for inner in node.value]
    mapping = Located(f"line {line}")
    for name, inner in node.value:
        key = str(_value(name, counter, depth + 1))
        if key in mapping:
            place = f"line {name.start_mark.line + 1}"
            raise ValueError(f"{place}: the key {quoted(key)} is there twice: {_ONE_KEY}")
        mapping[key] = _value(inner, counter, depth + 1)
    return mapping


def read_csv(text: str) -> Document:
    """Return the items of a table whose first row names its columns.

    Commas, semicolons, tabs or bars separate the cells, or the character in a first line such as `sep=;`.
    Rows above the names are left out with a note. A table of two columns needs no names if most cells of its
    first column ask.

    Raises:
        ValueError: it is not CSV, a column is missing or named twice, or a row has a cell in a column without
            a name, as after an unquoted comma. The message numbers rows as spreadsheets do.
    """
    rows = list(_rows(text)) or [(0, [])]
    above = next((place for place, (_, row) in enumerate(rows[:_MAX_ABOVE]) if _are_names(row)), 0)
    (first, header), *rest = rows[above:]
    aside = {number: "above the names of the columns" for number, _ in rows[:above]}
    aside |= {number: "the names of the columns again" for number, row in rest if row == header}
    notes = [f"row {number}: left out: {reason}" for number, reason in aside.items()]
    rest = [(number, row) for number, row in rest if number not in aside]
    names = [name.strip().strip("\ufeff") for name in header]
    columns = find_columns(names) or asking_columns([dict(zip(names, row, strict=False)) for _, row in rest])
    if columns is None:
        raise ValueError(f"the first row must name the columns question and answer, not {quoted(header)}")
    if asks(columns[0]):  # the table has no names
        rest.insert(0, (first, header))
        names, columns = ["question", "answer"], ("question", "answer")
    names[0] = names[0] or "column 1"  # some programs number the rows in a column without a name
    for name in columns:
        if sum(plain_name(other) == plain_name(name) for other in names) > 1:
            raise ValueError(f"row {first} names the column {quoted(name)} twice: rename or remove one")
    records = list[Located]()
    for number, row in rest:
        if any(cell.strip() and not name for cell, name in zip_longest(row, names[: len(row)], fillvalue="")):
            advice = 'put quotes around a text with the separator in it, as in "Yes, from ten to four"'
            raise ValueError(f"row {number} has a cell in a column without a name: {advice}")
        record = Located(f"row {number}")
        record.update(dict.fromkeys(columns, ""))  # the row may be shorter
        record.update((name, cell) for name, cell in zip(names, row, strict=False) if name)
        records += [record] if any(record[name].strip() for name in columns) else []
    if section := find_field([name for name in names if name not in columns], SECTION_FIELDS):
        _fill_down(records, section)
    document = to_document(records)
    if records and not document.positions:
        raise ValueError(f"row {first}: no column of questions that ask, but {quoted(', '.join(names))}")
    unknown = [name.removeprefix("items[].") for name in document.unknown]
    notes += document.notes
    return refuse_keys(replace(document, items=document.items or [], unknown=unknown, notes=notes))


def _fill_down(records: list[Located], section: str) -> None:
    """Give each record its section where only the first of a section names it, as merged cells are saved."""
    given = [record[section] for record in records if record.get(section)]
    if len({*given}) == len(given) < len(records) and given[:1] == [records[0].get(section)]:
        for above, record in pairwise(records):
            record[section] = record.get(section) or above[section]


def _are_names(row: Sequence[str]) -> bool:
    """Return whether a row has usual names of both columns."""
    names = {plain_name(cell) for cell in row}
    return not (names.isdisjoint(QUESTION_FIELDS) or names.isdisjoint(ANSWER_FIELDS))


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with their numbers."""
    first, _, rest = text.lstrip("\n").partition("\n")
    if first.strip().lower().startswith("sep="):  # Excel writes this line, and spreadsheets do not count it
        delimiter, text = first.strip()[4:5] or ",", rest
    else:
        delimiter = max("\t;|,", key=partial(_separates, text[:_SAMPLE]))
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    number = 0
    try:
        for number, row in enumerate(reader, 1):
            if any(cell.strip() for cell in row):
                yield number, row
    except csv.Error as error:
        problem = f"not CSV: {error}"
        if "field limit" in problem:  # the rest of the file, if a quote is missing
            problem = (
                f"a cell is too long: an answer has at most {MAX_ANSWER} characters; is a quote missing?"
            )
        raise ValueError(f"row {number + 1}: {problem}") from None


def _separates(text: str, delimiter: str) -> tuple[bool, float]:
    """Return whether a character separates names of columns, and the share of rows with the usual width."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    filled = [row for row in rows if row]
    widths = Counter(len(row) for row in filled if row[1:])
    share = max(widths.values(), default=0) / max(len(filled), 1)
    return any(map(_are_names, filled[:_MAX_ABOVE])), share
