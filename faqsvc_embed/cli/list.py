"""`faqsvc list`: the FAQs of a site."""

import click
import msgspec

from faqsvc_embed.api.contract import State
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_result


@click.command("list")
@click.argument("text", required=False)
@click.option(
    "--state",
    type=click.Choice(["draft", "published", "unpublished", "binned"]),
    help="Only FAQs in this state.",
)
@lang_option
@json_option
@base_url_option
def list_(
    text: str | None, state: State | None, lang: str | None, as_json: bool, base_url: str | None
) -> None:
    """Print the FAQs of your site, the last changed first.

    With TEXT, only those that contain it. A line has the slug, the state, the newest revision, the languages,
    the time of the last change in UTC, and the title. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc list
      faqsvc list shipping --lang de
      faqsvc list --state draft --json | jq -r '.[].slug'

    Exit status: 0, even if there is no FAQ; 1 if the list cannot be read.
    """
    with open_client(base_url) as client:
        faqs = client.list_faqs(text=text, state=state, lang=lang)
    rows = (
        (
            faq.slug,
            faq.state,
            f"r{faq.revision}",
            ",".join(faq.languages),
            f"{faq.updated_at:%Y-%m-%d %H:%M}",
            faq.title,
        )
        for faq in faqs
    )
    print_result(as_json, msgspec.to_builtins(faqs), rows)
