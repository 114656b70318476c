"""How commands open the database of a service."""

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from faqsvc_embed.cli.errors import failure

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import Storage


def open_existing(url: str) -> "Storage":
    """Return a storage whose schema is current, until the command ends. Nothing is created or changed."""
    from faqsvc_embed.service.storage import read_storage

    storage = read_storage(url)
    click.get_current_context().call_on_close(storage.close)
    return storage


def open_or_create(url: str) -> "Storage":
    """Return a storage, with a new or upgraded schema; a file that --database names must exist."""
    from faqsvc_embed.service.storage import open_storage

    check_exists(url)
    storage = open_storage(url)
    click.get_current_context().call_on_close(storage.close)
    return storage


def check_exists(url: str) -> None:
    """Refuse a file that --database names and that does not exist, because it may be mistyped."""
    from faqsvc_embed.service.storage.database import Database

    source = click.get_current_context().get_parameter_source("database")
    database = Database(url)
    if source is ParameterSource.COMMANDLINE and not database.exists():
        raise failure(
            f"there is no database {database.path!r}: `faqsvc db upgrade --create --database {url}` makes one"
        )
