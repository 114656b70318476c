"""`faqsvc delete`: unpublish an FAQ."""

import click

from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_json, print_text


@click.command()
@click.argument("slug")
@lang_option
@click.option("--purge", is_flag=True, help="Also delete the history, permanently.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
@json_option
@base_url_option
def delete(slug: str, lang: str | None, purge: bool, yes: bool, as_json: bool, base_url: str | None) -> None:
    """Unpublish the FAQ SLUG, or its translation into --lang.

    Sites stop showing it within seconds, or without the change feed when their record expires. The history
    is kept: `faqsvc revert SLUG N` publishes the FAQ again, unless --purge has deleted it. The API key is
    read from FAQSVC_API_KEY.

    \b
      faqsvc delete pricing --lang de
      faqsvc delete pricing --purge --yes

    Exit status: 0 if it is unpublished, 1 if not.
    """
    what = slug if lang is None else f"{slug} ({lang})"
    if purge and not yes:
        click.confirm(f"Delete {what} and its history permanently?", abort=True, err=True)
    with open_client(base_url) as client:
        client.unpublish_faq(slug, lang=lang, purge=purge)
    state = "purged" if purge else "unpublished"
    if as_json:
        print_json({"slug": slug, "lang": lang, "state": state})
    else:
        print_text(f"{what}  {state}")
