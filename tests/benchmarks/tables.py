"""What a measurement tells: a table of numbers, for people and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Table:
    """Rows of numbers under named columns; `columns` maps each to its format."""

    title: str
    columns: Mapping[str, str]
    rows: list[tuple[str, tuple[float, ...]]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    """What is to be reached, or why a row is not there."""

    def add(self, name: str, *values: float) -> None:
        """Add a row, with a value for each column."""
        self.rows.append((name, tuple(values)))

    def note(self, text: str) -> None:
        """Add a note."""
        self.notes += (text,)

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` writes."""
        rows = [{"name": name, **dict(zip(self.columns, values, strict=True))} for name, values in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        cells = [["", *self.columns]]
        for name, values in self.rows:
            formats = zip(values, self.columns.values(), strict=True)
            cells.append([name, *(format(value, form) for value, form in formats)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [self.title]
        for name, *numbers in cells:
            numbers = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  " + "   ".join([f"{name:<{widths[0]}}", *numbers]))
        return "\n".join(lines + [f"  {note}" for note in self.notes])
