"""How commands fail: one line on standard error and exit status 1, never a traceback."""

import sys
from typing import Any, Final

import click

from faqsvc_embed.cli.output import drop_what_cannot_be_written, escape_what_has_no_code
from faqsvc_embed.errors import FAQError

# Which extra brings a package that the core does without.
_EXTRAS: Final = {
    "starlette": "service",
    "anyio": "service",
    "uvicorn": "service",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "jsonschema": "mcp",
    "pydantic": "mcp",
    "yaml": "yaml",
}


class Commands(click.Group):
    """A group whose failures are told in one line; mistakes of usage are click's, with exit status 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the whole, also its help, which is printed before a command is invoked."""
        try:
            return super().main(*args, **extra)
        except OSError as error:
            failure(str(error)).show()
            sys.exit(1)
        finally:
            drop_what_cannot_be_written()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        escape_what_has_no_code()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except ModuleNotFoundError as error:
            raise failure(_missing(error)) from error
        except (FAQError, OSError) as error:
            raise failure(str(error)) from error
        except Exception as error:
            raise failure(f"{type(error).__name__}: {error}") from error


def failure(message: str) -> click.ClickException:
    """Return the failure that says `message` in one line, without what would move a terminal's cursor."""
    line = " ".join(message.split())
    return click.ClickException("".join(c if c.isprintable() else "\ufffd" for c in line))


def _missing(error: ModuleNotFoundError) -> str:
    package = (error.name or "").partition(".")[0]
    if package in _EXTRAS:
        return f"{package} is not installed: pip install 'faqsvc-embed[{_EXTRAS[package]}]'"
    return str(error)
