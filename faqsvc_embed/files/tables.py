"""Documents from CSV, as spreadsheets save it."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Final

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import (
    ANSWER_FIELDS,
    QUESTION_FIELDS,
    Columns,
    asking_columns,
    find_columns,
    plain_name,
)
from faqsvc_embed.files.records import to_document
from faqsvc_embed.files.values import Located

_MAX_ABOVE: Final = 5
"""Rows in which the names of the columns are looked for."""
_SAMPLE: Final = 20_000
"""Characters in which the separator is looked for."""


def read_csv(text: str) -> Document:
    """Return the items of a table whose first row names its columns.

    Commas, semicolons, tabs or bars separate the cells, or the character in a first line such as `sep=;`.

    Rows above the names are left out with a note. A table of two columns needs no names if the first asks.

    Raises:
        ValueError: a column is missing or named twice, it is not CSV, or a row has a cell in a column without
            a name, as after an unquoted comma. The message has the number of the row as a spreadsheet counts
            it.
    """
    rows = list(_rows(text)) or [(0, [])]
    above = next((place for place, (_, row) in enumerate(rows[:_MAX_ABOVE]) if _are_names(row)), 0)
    notes = [f"row {number}: left out: above the names of the columns" for number, _ in rows[:above]]
    (first, header), *rest = rows[above:]
    names = [name.strip().strip("\ufeff") for name in header]
    columns = find_columns(names) or _asking(names, [row for _, row in rest])
    if columns is None:
        raise ValueError(f"the first row must name the columns question and answer, not {quoted(header)}")
    if asks(columns[0]):  # the table has no names
        rest.insert(0, (first, header))
        names, columns = ["question", "answer"], ("question", "answer")
    names[0] = names[0] or "column 1"  # some programs number the rows in a column without a name
    for name in columns:
        if sum(plain_name(other) == plain_name(name) for other in names) > 1:
            raise ValueError(f"row {first} names the column {quoted(name)} twice: rename or remove one")
    records = [one for one in _records(names, rest) if any(one[name].strip() for name in columns)]
    document = to_document(records)
    if records and not document.positions:
        raise ValueError(f"row {first}: no column of questions that ask, but {quoted(', '.join(names))}")
    unknown = [name.removeprefix("items[].") for name in document.unknown]
    return replace(document, items=document.items or [], unknown=unknown, notes=[*notes, *document.notes])


def _asking(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns | None:
    """Return the columns without usual names whose texts ask, and answer."""
    columns = asking_columns([dict(zip(names, row, strict=False)) for row in rows])
    is_pair = len(names) == 2 and asks(names[0]) and sum(asks(row[0]) for row in rows) * 2 > len(rows)
    return (names[0], names[1]) if columns is None and is_pair else columns


def _records(names: Sequence[str], rows: Iterable[tuple[int, list[str]]]) -> Iterator[Located]:
    """Yield the cells of each row by the names of their columns."""
    for number, row in rows:
        if any(cell.strip() and not name for cell, name in zip_longest(row, names, fillvalue="")):
            raise ValueError(
                f"row {number} has a cell in a column without a name: "
                'put quotes around a text with the separator in it, as in "Yes, from ten to four"'
            )
        record = Located(f"row {number}")
        record.update(zip(names, [*row, *[""] * len(names)], strict=False))
        record.pop("", None)
        yield record


def _are_names(row: Sequence[str]) -> bool:
    """Return whether a row has the usual names of both columns, and so is no question and answer."""
    names = {plain_name(cell) for cell in row}
    return not (names.isdisjoint(QUESTION_FIELDS) or names.isdisjoint(ANSWER_FIELDS))


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with their numbers."""
    first, _, rest = text.lstrip("\n").partition("\n")
    if first.strip().lower().startswith("sep="):  # Excel writes this line, and spreadsheets do not count it
        delimiter, text = first.strip()[4:5] or ",", rest
    else:
        delimiter = max("\t;|,", key=partial(_separates, text[:_SAMPLE]))
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
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
    """Return whether a character separates the names of the columns, and its share of rows of equal width."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    filled = [row for row in rows if row]
    widths = Counter(len(row) for row in filled if row[1:])
    share = max(widths.values(), default=0) / max(len(filled), 1)
    return any(map(_are_names, filled[:_MAX_ABOVE])), share
