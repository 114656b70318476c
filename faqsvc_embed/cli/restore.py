"""`faqsvc restore`: bring an FAQ back."""

import click
import msgspec

from faqsvc_embed.cli.options import base_url_option, json_option, open_client
from faqsvc_embed.cli.output import print_json, print_text


@click.command()
@click.argument("slug")
@json_option
@base_url_option
def restore(slug: str, as_json: bool, base_url: str | None) -> None:
    """Bring the FAQ SLUG back from the bin, or publish again what was unpublished last.

    It comes back with its history, in every language that was public. The API key is read from
    FAQSVC_API_KEY.

    \b
      faqsvc delete pricing
      faqsvc restore pricing

    Exit status: 0 if it is back, 1 if not.
    """
    with open_client(base_url) as client:
        restored = client.restore_faq(slug)
    if as_json:
        print_json(msgspec.to_builtins(restored))
    else:
        print_text(f"{restored.slug}  {restored.state}")
