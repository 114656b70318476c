"""Prints text for people in the terminal's encoding and data in UTF-8, and writes files atomically."""

import contextlib
import errno
import io
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from unicodedata import combining, east_asian_width

import click

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # escape sequences (ECMA-48)
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"  # line separators and the direction of text (UAX 9)
)


def visible(text: str) -> str:
    """Return text in which characters that control a terminal are written as in JSON: `\\u001b`."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_text(text: str) -> None:
    """Print text for people."""
    click.echo(visible(text))


def note(message: str) -> None:
    """Print a message for people on standard error, in one line."""
    click.echo(one_line(message), err=True)


def one_line(text: str) -> str:
    """Return text on one line, without characters that control a terminal."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in `2 questions`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def print_data(text: str) -> None:
    """Print JSON, HTML or Markdown: unchanged and in UTF-8, unless standard output is a terminal."""
    if sys.stdout.isatty():
        text = visible(text)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    click.echo(text)


def print_json(value: object) -> None:
    """Print a value as JSON."""
    print_data(json.dumps(value, ensure_ascii=False, indent=2))


def print_result(as_json: bool, data: object, text: str | Iterable[Sequence[str]]) -> None:
    """Print data as JSON, or else its text for people, which may be the rows of a table."""
    if as_json:
        print_json(data)
    elif isinstance(text, str):
        print_text(text)
    else:
        print_table(text)


def fields_of_row(row: Any) -> dict[str, Any]:
    """Return the fields of a row of the storage as in JSON: `created_at` is `createdAt`, times are texts."""
    values = ((name, getattr(row, name)) for name in row.__slots__)
    return {
        re.sub("_(.)", lambda found: found[1].upper(), name): value.isoformat()
        if isinstance(value, datetime)
        else value
        for name, value in values
    }


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of texts in columns; the last column may be of any length."""
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True))
        print_text("  ".join(cells).rstrip())


def _width(text: str) -> int:
    """Return the columns that a text takes in a terminal: Chinese, Japanese and Korean letters take two."""
    return sum(1 + (east_asian_width(c) in "WF") for c in text if not combining(c))


def escape_unencodable() -> None:
    """Let standard output print `\\uac00` for a character that its encoding lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def discard_unwritten() -> None:
    """Discard what standard output cannot write, or Python would fail with it again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Lend a temporary file, which replaces `path` when the block ends, or is deleted if the block fails.

    Raises:
        OSError: a file cannot be written; the error names `path`.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    temporary = path.with_name(f".faqsvc-{secrets.token_hex(8)}")
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        yield temporary
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_atomically(texts: Mapping[Path, str]) -> None:
    """Write files atomically: a reader of each file sees the old or the new content.

    A file that exists keeps its permissions, and symbolic links to it stay. A new file has the permissions
    of the umask.

    Raises:
        OSError: a file cannot be written; then none is changed.
    """
    umask = os.umask(0)
    os.umask(umask)
    with contextlib.ExitStack() as stack:
        for path, text in texts.items():
            target, mode = Path(os.path.realpath(path)), 0o666 & ~umask
            with contextlib.suppress(FileNotFoundError):
                mode = stat.S_IMODE(target.stat().st_mode)
            temporary = stack.enter_context(replacing(target, mode))
            temporary.write_text(text, encoding="utf-8", newline="\n")
