"""Imports that need an optional dependency."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Name the extra to install if an import in the block finds that a package is missing.

    Raises:
        ModuleNotFoundError: a package is missing; the message has the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "faqsvc_embed":
            raise
        raise ModuleNotFoundError(
            f"{package} is not installed: pip install 'faqsvc-embed[{extra}]'", name=package
        ) from error
