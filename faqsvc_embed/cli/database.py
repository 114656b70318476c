"""Opens the database of a service for a command."""

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.output import note

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import Storage


def open_existing(url: str) -> "Storage":
    """Open a storage until the command ends; its schema must be current. Nothing is created or changed."""
    from faqsvc_embed.service.storage import read_storage

    storage = read_storage(url)
    click.get_current_context().call_on_close(storage.close)
    return storage


def open_or_create(url: str) -> "Storage":
    """Open a storage until the command ends, and create or upgrade its schema; see `check_named`."""
    from faqsvc_embed.service.storage import open_storage
    from faqsvc_embed.service.storage.database import Database

    check_named(url)
    database = Database(url)
    is_new = not database.exists()
    storage = open_storage(url)
    if is_new:
        note(f"Created the database {database.path}")
    click.get_current_context().call_on_close(storage.close)
    return storage


def check_named(url: str) -> None:
    """Fail if --database or the variable names a file that does not exist: the name may be mistyped."""
    source = click.get_current_context().get_parameter_source("database")
    if source is not ParameterSource.DEFAULT:
        check_exists(url)


def check_exists(url: str) -> None:
    """Fail if the database is a file that does not exist, or is empty."""
    from faqsvc_embed.service.storage.database import Database

    database = Database(url)
    if not database.exists():
        raise failure(
            f"there is no database {database.path!r}, or its file is empty:"
            f" `faqsvc db upgrade --create --database {url}` makes it"
        )
