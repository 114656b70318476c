"""`faqsvc sites`: the sites of a service."""

from typing import TYPE_CHECKING

import click

from faqsvc_embed.cli.errors import confirm
from faqsvc_embed.cli.options import database_option, json_option, open_existing
from faqsvc_embed.cli.output import counted, print_result, print_text

if TYPE_CHECKING:
    from faqsvc_embed.service.storage.sites import Site


@click.group()
def sites() -> None:
    """Create, list, change and delete sites, which own FAQs and keys.

    \b
      faqsvc keys create --site $(faqsvc sites create heron)
      faqsvc sites list
      faqsvc sites set 1a2b3c4d --max-faqs 500
      faqsvc sites delete 1a2b3c4d
    """


@sites.command("create")
@database_option
@click.argument("name")
@click.option("--listed", is_flag=True, help="List its FAQs in llms.txt, the sitemap and the index.")
def create_site(database: str, name: str, listed: bool) -> None:
    """Create the site NAME and print its id."""
    click.echo(open_existing(database).sites.create(name, listed=listed))


@sites.command("list")
@database_option
@json_option
def list_sites(database: str, as_json: bool) -> None:
    """Print one line for each site, beginning with its id."""
    found = open_existing(database).sites.list()
    print_result(as_json, list(map(_fields, found)), map(_columns, found))


@sites.command("set")
@database_option
@click.argument("site", metavar="ID")
@click.option("--name", help="Its new name.")
@click.option(
    "--listed/--unlisted", default=None, help="Whether llms.txt, the sitemap and the index list its FAQs."
)
@click.option(
    "--max-faqs", type=click.IntRange(0, 2**31 - 1), help="Maximum number of FAQs; 0 for the service's limit."
)
@click.option(
    "--max-bytes",
    type=click.IntRange(0, 2**63 - 1),
    help="Maximum bytes of its records; 0 for the service's limit.",
)
def set_site(
    database: str,
    site: str,
    name: str | None,
    listed: bool | None,
    max_faqs: int | None,
    max_bytes: int | None,
) -> None:
    """Change the site ID. Without an option, a value stays the same.

    A site above a new limit keeps its FAQs, but cannot add any.
    """
    storage = open_existing(database)
    from faqsvc_embed.service.storage.values import Access

    storage.sites.update(Access(None, site), name=name, listed=listed, max_faqs=max_faqs, max_bytes=max_bytes)


@sites.command("delete")
@database_option
@click.argument("site", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_site(database: str, site: str, yes: bool) -> None:
    """Delete the site ID for ever.

    Its FAQs, their history and its keys are deleted. Readers of its published FAQs get 410, and no other site
    can use their slugs.
    """
    storage = open_existing(database)
    found = storage.sites.get(site)
    if not yes:
        confirm(f"Delete {found.name} and its {counted(found.faq_count, 'FAQ')} permanently?")
    print_text(f"{storage.removal.delete_site(site)} FAQs deleted")


def _fields(site: "Site") -> dict[str, object]:
    return {
        "id": site.id,
        "name": site.name,
        "listed": site.is_listed,
        "faqs": site.faq_count,
        "bytes": site.byte_count,
        "maxFaqs": site.max_faqs,
        "maxBytes": site.max_bytes,
        "createdAt": site.created_at.isoformat(),
    }


def _columns(site: "Site") -> tuple[str, ...]:
    created = f"created {site.created_at:%Y-%m-%d %H:%M}"
    faqs, size = counted(site.faq_count, "FAQ"), f"{site.byte_count} bytes"
    return site.id, faqs, size, created, "listed" if site.is_listed else "-", site.name
