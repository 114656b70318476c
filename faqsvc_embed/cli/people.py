"""`faqsvc people` and `faqsvc desk`: the people who sign in at the desk, and their links."""

from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.options import (
    database_option,
    json_option,
    open_existing,
    open_or_create,
    public_url_option,
    site_option,
)
from faqsvc_embed.cli.output import fields_of_row, note, print_result

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import Storage
    from faqsvc_embed.service.storage.people import Person

_role_option = click.option(
    "--role",
    type=click.Choice(["editor", "publisher", "admin"]),
    help="editor: drafts; publisher: also publish and unpublish; admin: also people, keys and the site.",
)


@click.group()
def people() -> None:
    """Add, list, change and remove the people who sign in at the desk.

    For a person without an email address, EMAIL is the id that `people list` prints first.

    \b
      faqsvc people add mia@example.com --name Mia --role publisher
      faqsvc people link mia@example.com
      faqsvc people set mia@example.com --role admin
      faqsvc people remove mia@example.com
    """


@people.command("add")
@database_option
@click.argument("email")
@click.option("--name", metavar="NAME", required=True, help="Name, for the history and the desk.")
@_role_option
@site_option
@public_url_option
def add_person(database: str, email: str, name: str, role: Any, site: str | None, base_url: str) -> None:
    """Add a person, and print a sign-in link.

    The link works once and expires after an hour.
    """
    storage = open_or_create(database)
    person = storage.people.add(name, email=email, role=role or "editor", site=site)
    _print_link(storage, person, base_url)


@people.command("link")
@database_option
@click.argument("email")
@site_option
@public_url_option
def print_new_link(database: str, email: str, site: str | None, base_url: str) -> None:
    """Print a sign-in link, which works once and expires after an hour."""
    storage = open_existing(database)
    _print_link(storage, storage.people.find(email, site=site), base_url)


@people.command("list")
@database_option
@site_option
@json_option
def list_people(database: str, site: str | None, as_json: bool) -> None:
    """Print one line for each person, beginning with the id."""
    found = open_existing(database).people.list(site)
    print_result(as_json, list(map(fields_of_row, found)), map(_columns, found))


@people.command("set")
@database_option
@click.argument("email")
@click.option("--name", metavar="NAME", help="New name.")
@click.option("--email", "new_email", metavar="EMAIL", help="New email address.")
@_role_option
@site_option
def change_person(
    database: str, email: str, name: str | None, new_email: str | None, role: Any, site: str | None
) -> None:
    """Change the name, the email address or the role of a person.

    A new role takes effect at once, even while the person is signed in. EMAIL may also be the id of the
    person, which `people list` prints first.
    """
    if name is None and new_email is None and role is None:
        raise click.UsageError("nothing to change: use --name, --email or --role")
    storage = open_existing(database)
    person = storage.people.find(email, site=site)
    storage.people.change(person.id, name=name, email=new_email, role=role)


@people.command("remove")
@database_option
@click.argument("email")
@click.option("--with-keys", is_flag=True, help="Also revoke the API keys that the person created.")
@site_option
def remove_person(database: str, email: str, with_keys: bool, site: str | None) -> None:
    """Remove a person, who is signed out at once. FAQs that the person wrote stay."""
    storage = open_existing(database)
    person = storage.people.find(email, site=site)
    storage.people.remove(person.id, with_keys=with_keys)
    if kept := storage.keys.made_by_person(person.id):
        message = f"Warning: the API keys that {person.name} created stay valid: {', '.join(kept)}"
        note(f"{message}; `faqsvc keys revoke ID` revokes one")


def _columns(person: "Person") -> tuple[str, ...]:
    added = f"added {person.created_at:%Y-%m-%d}"
    return (person.id, f"site {person.site}", person.role, added, person.email or "-", person.name)


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
    _print_link(storage, storage.people.admin(name, site=site), base_url)


def _print_link(storage: "Storage", person: "Person", base_url: str) -> None:
    """Print a link that signs a person in."""
    from faqsvc_embed.service.context import PublicURLs

    click.echo(PublicURLs(base_url).sign_in(storage.sign_ins.create_link(person)))
