"""Documents from CSV, as spreadsheets save it."""

import csv
import io
from collections.abc import Iterator
from itertools import zip_longest

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.names import find_columns, language_of


def read_csv(text: str) -> Document:
    """Return the items of a table whose first row names its columns; German names mean German content.

    Commas, semicolons or tabs separate the cells, or the character in a first line such as `sep=;`.

    Raises:
        ValueError: a column is missing, it is not CSV, or a row has a cell in a column without a name, as
            after an unquoted comma. The message has the number of the row as a spreadsheet counts it.
    """
    rows = _rows(text)
    _, header = next(rows, (0, []))
    columns = find_columns(header)
    if columns is None:
        raise ValueError(f"the first row must name the columns question and answer, not {quoted(header)}")
    items, positions = list[dict[str, str]](), list[str]()
    for number, row in rows:
        if any(cell.strip() and not name.strip() for cell, name in zip_longest(row, header, fillvalue="")):
            raise ValueError(
                f"row {number} has a cell in a column without a name: "
                'put quotes around a text with the separator in it, as in "Yes, from ten to four"'
            )
        question, answer = (row[column] if column < len(row) else "" for column in columns)
        if question.strip() or answer.strip():
            items.append({"question": question, "answer": answer})
            positions.append(f"row {number}")
    lang = language_of(*(header[column] for column in columns))
    unknown = [name.strip() for index, name in enumerate(header) if name.strip() and index not in columns]
    return Document(lang=lang, items=items, positions=positions, unknown=unknown)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with their numbers."""
    first, _, rest = text.lstrip("\n").partition("\n")
    delimiter = max(";\t,", key=first.count)
    if first.strip().lower().startswith("sep="):  # Excel writes this line, and spreadsheets do not count it
        delimiter, text = first.strip()[4:5] or ",", rest
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, row in enumerate(reader, 1):
            if any(cell.strip() for cell in row):
                yield number, row
    except csv.Error as error:
        raise ValueError(f"row {number + 1}: not CSV: {error}") from None
