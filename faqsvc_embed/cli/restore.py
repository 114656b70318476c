"""`faqsvc restore`: bring an FAQ back."""

import click
import msgspec

from faqsvc_embed.cli.errors import if_interrupted
from faqsvc_embed.cli.options import base_url_option, database_option, json_option, open_client, open_existing
from faqsvc_embed.cli.output import note, print_result


@click.command()
@click.argument("slug")
@click.option(
    "--lift", is_flag=True, help="Allow the slug of an FAQ that was deleted for ever to be used again."
)
@database_option
@json_option
@base_url_option
def restore(slug: str, lift: bool, database: str, as_json: bool, base_url: str | None) -> None:
    """Undo the last deletion or unpublishing of the FAQ SLUG.

    It comes back with its history, in every language that was public. The API key is read from
    FAQSVC_API_KEY.

    An FAQ that was deleted for ever, with --purge --now or after 30 days in the bin, cannot come back, and
    nobody can use its slug. With --lift, its site can use it again; this needs the database, but no key.

    \b
      faqsvc delete pricing
      faqsvc restore pricing

    Exit status: 0 if the FAQ is back, 1 if not.
    """
    if lift:
        open_existing(database).removal.unblock(slug)
        note(f"{slug} can be published again")
        return
    with open_client(base_url) as client, if_interrupted(f"{slug} may have been restored"):
        restored = client.restore_faq(slug)
    print_result(as_json, msgspec.to_builtins(restored), f"{restored.slug}  {restored.state}")
