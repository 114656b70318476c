"""`faqsvc preview`: an address that shows the newest revision of an FAQ."""

from contextlib import suppress
from urllib.parse import quote, urlsplit

import click

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.api.requests import with_query
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_result


def _page(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    with suppress(ValueError):
        if value is None or (urlsplit(value).scheme in ("http", "https") and urlsplit(value).hostname):
            return value
    raise click.BadParameter(f"{value!r} is not an address such as https://heron.example/prices")


@click.command()
@click.argument("slug")
@click.option(
    "--page",
    metavar="URL",
    callback=_page,
    help="A page of yours that shows SLUG. Default: the FAQ's page at the service.",
)
@lang_option
@json_option
@base_url_option
def preview(slug: str, page: str | None, lang: str | None, as_json: bool, base_url: str | None) -> None:
    """Print an address that shows the newest revision of the FAQ SLUG, which may be a draft.

    The address works for an hour, for everyone who has it. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc preview pricing --page https://heron.example/prices

    Exit status: 0; 1 if there is no such FAQ.
    """
    with open_client(base_url) as client:
        made = client.preview_faq(slug, lang=lang)
        url = page or f"{client.settings.base_url}/faq/{quote(slug, safe='')}"
    address = with_query(url, **{PREVIEW_PARAMETER: made.token, "lang": lang if page is None else None})
    data = {"slug": slug, "url": address, "token": made.token, "expiresAt": made.expires_at.isoformat()}
    print_result(as_json, data, address)
