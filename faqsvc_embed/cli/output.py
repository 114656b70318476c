"""What commands print: in a terminal's encoding for people, in UTF-8 for what reads a file or a pipe."""

import io
import os
import sys

import click


def print_data(text: str) -> None:
    """Print JSON, HTML or Markdown, which are in UTF-8 wherever they go but to a terminal."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    click.echo(text)


def escape_what_has_no_code() -> None:
    """Let standard output print `\\uac00` where its encoding has no such character, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_what_cannot_be_written() -> None:
    """Let go what standard output did not take, for Python would fail of it again at the end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
