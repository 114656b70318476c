"""`faqsvc desk`: print a link that signs an editor in."""

from typing import Any

import click

from faqsvc_embed.cli.database import open_or_create
from faqsvc_embed.cli.options import database_option, need_base_url


@click.command()
@database_option
@click.option("--name", default="desk", show_default=True, help="Name of the editor, for the history.")
@click.option("--site", metavar="ID", help="The site to edit. Default: the only one, created if missing.")
@click.option(
    "--scope",
    type=click.Choice(["read", "draft", "publish"]),
    default="publish",
    show_default=True,
    help="What the editor may do: read, write drafts, or everything.",
)
@click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    default="http://127.0.0.1:8700",
    show_default=True,
    help="Public address of the service.",
)
def desk(database: str, name: str, site: str | None, scope: Any, base_url: str) -> None:
    """Print a link that signs an editor in to the desk. It works once and expires after an hour.

    It uses a new API key, which is not shown. Revoke that key to end the session.

    \b
      faqsvc desk --name Mia
    """
    base_url = need_base_url(base_url)
    storage = open_or_create(database)
    from faqsvc_embed.service.desk.session import Sessions

    key = storage.keys.verify(storage.keys.create(name, site=site, scope=scope))
    token = Sessions(storage.keys, storage.clock).create_link((key and key.key_id) or "")
    click.echo(f"{base_url}/desk/sign-in#link={token}")
