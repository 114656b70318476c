"""Failures of commands: one line on standard error and exit status 1, never a traceback."""

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from faqsvc_embed.cli.output import discard_unwritten, escape_unencodable, one_line
from faqsvc_embed.errors import FAQError


class CommandGroup(click.Group):
    """A group that prints failures in one line; click reports mistakes of usage, with exit status 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line, and handle output errors of its help, which click prints before `invoke`."""
        if sys.stdout is None:  # a shell closed it
            sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)
        try:
            return super().main(*args, **extra)
        except OSError as error:
            failure(_reason(error)).show()
            sys.exit(1)
        finally:
            discard_unwritten()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        escape_unencodable()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except OSError as error:
            raise failure(_reason(error)) from error
        except (FAQError, ImportError) as error:
            raise failure(str(error)) from error
        except UnicodeEncodeError as error:  # an argument that no database can store
            raise failure(f"{error.object!r} is not text in UTF-8") from error
        except Exception as error:
            raise failure(f"{type(error).__name__}: {error}") from error


def failure(message: str) -> click.ClickException:
    """Return the error that prints a message on one line."""
    return click.ClickException(one_line(message))


def _reason(error: OSError) -> str:
    """Return the file name and the message of an error, without its number."""
    # Commands name each file that they cannot write; only standard output has no name.
    name = error.filename or ("standard output" if error.errno == errno.ENOSPC else None)
    return f"{name}: {error.strerror}" if name and error.strerror else str(error)


def confirm(question: str) -> None:
    """Ask a question; raises a failure unless the answer is yes."""
    try:
        click.confirm(question, abort=True, err=True)
    except (click.Abort, RuntimeError):  # standard input has ended, or is closed
        click.echo(err=True)
        raise failure("not confirmed, so nothing was changed; with --yes, the command does not ask") from None


@contextmanager
def if_interrupted(message: str) -> Iterator[None]:
    """Let the block fail with a message after Ctrl-C, on a line below the ^C of a terminal."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(err=True)
        raise failure(f"interrupted; {message}") from None


def silence_log() -> None:
    """Keep log lines off standard error, where a command prints its own messages."""
    logging.getLogger("faqsvc_embed").addHandler(logging.NullHandler())
