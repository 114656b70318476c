"""Estimates the time that the parser needs: Markdown that nobody writes by hand may take very long."""

from typing import Final

MAX_ANSWER: Final = 40_000
"""Characters of an answer; a longer one, of more than twenty pages, is shown as text."""
MAX_ANSWER_COST: Final = 3_000
MAX_RECORD_COST: Final = 20_000
"""Maximum number of Markdown characters in an answer; the parser may need 80 µs for each."""
MAX_CELLS: Final = 1_000
"""Maximum number of table cells, including those that the parser adds to short rows."""
_DELIMITER_ROW: Final = " \t|:->*+.)0123456789"
"""The characters of a delimiter row, and of the lists and quotations around its table."""
_MARKUP: Final = (
    bytes.maketrans(b"", b""),
    bytes(code for code in range(256) if chr(code).isalnum() or chr(code) in " .,'-/" or code > 127),
)
MAX_QUOTATIONS: Final = 100
"""Maximum number of quotations without a blank line between them: each one makes the parser read all."""
_MARKS: Final = " \t-*+.)0123456789"
"""The characters before a quotation within list items."""


def cost(text: str) -> int:
    """Return the number of Markdown characters in a text, which the parser looks at one by one."""
    table, plain = _MARKUP
    return len(text.encode("utf-8", "replace").translate(table, plain))


def _cells(text: str) -> int:
    """Return the maximum number of cells in the tables of a text."""
    cells = 0
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "|" in text else ""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        columns = [line.count("|") + 1 for line in lines if "-" in line and not line.strip(_DELIMITER_ROW)]
        cells += max(columns, default=0) * len(lines)
    return cells


def too_many_quotations(text: str) -> int | None:
    """Return the line of the first quotation too many since the last blank line, or None."""
    count, is_within = 0, False
    for number, line in enumerate(text.split("\n") if text.count(">") > MAX_QUOTATIONS else (), 1):
        is_quotation = line.lstrip(_MARKS).startswith(">")
        count = count + (is_quotation and not is_within) if line.strip() else 0
        is_within = is_quotation
        if count > MAX_QUOTATIONS:
            return number
    return None


def is_parsable(text: str) -> bool:
    """Return whether the parser needs little time for an answer; otherwise it is shown as text."""
    is_short = len(text) <= MAX_ANSWER and cost(text) <= MAX_ANSWER_COST
    return is_short and _cells(text) <= MAX_CELLS and too_many_quotations(text) is None
