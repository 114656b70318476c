"""`faqsvc desk`: print a link that signs a person in at the desk."""

from typing import TYPE_CHECKING

import click

from faqsvc_embed.cli.options import (
    database_option,
    open_or_create,
    public_url_option,
    site_option,
)

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import Storage
    from faqsvc_embed.service.storage.people import Person


@click.command()
@database_option
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the person. A new name is added as an admin. Default: the only person.",
)
@site_option
@public_url_option
def desk(database: str, name: str | None, site: str | None, base_url: str) -> None:
    """Print a link that signs a person in at the desk. It works once and expires after an hour.

    The first link makes the first admin. `faqsvc people` adds people with other roles.

    \b
      faqsvc desk --name Mia
    """
    storage = open_or_create(database)
    print_link(storage, storage.people.admin(name, site=site), base_url)


def print_link(storage: "Storage", person: "Person", base_url: str) -> None:
    """Print a link that signs a person in."""
    from faqsvc_embed.service.http.requests import PublicURLs

    click.echo(PublicURLs(base_url).sign_in(storage.sign_ins.create_link(person)))
