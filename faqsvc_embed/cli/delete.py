"""`faqsvc delete`: unpublish an FAQ."""

import click

from faqsvc_embed.cli.errors import confirm, if_interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_result


@click.command()
@click.argument("slug")
@lang_option
@click.option("--purge", is_flag=True, help="Also move it to the bin, for 30 days.")
@click.option(
    "--now", is_flag=True, help="With --purge: delete all texts at once and for ever, as the law may require."
)
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
@json_option
@base_url_option
def delete(
    slug: str, lang: str | None, purge: bool, now: bool, yes: bool, as_json: bool, base_url: str | None
) -> None:
    """Unpublish the FAQ SLUG, or its translation into --lang. `faqsvc unpublish` is the same.

    Websites stop showing it within seconds or, without the change feed, when their record expires. The
    history is kept, and `faqsvc restore SLUG` publishes the FAQ again, even from the bin. --purge --now
    deletes all texts, and nobody can use the slug until `faqsvc restore SLUG --lift` allows it. The API key
    is read from FAQSVC_API_KEY.

    \b
      faqsvc delete pricing --lang de
      faqsvc delete pricing --purge --yes
      faqsvc delete pricing --purge --now

    Exit status: 0 if the FAQ is unpublished, 1 if not.
    """
    what = slug if lang is None else f"{slug} ({lang})"
    if now and not purge:
        raise click.UsageError("--now needs --purge")
    if purge and not yes:
        question = f"Delete {what} and its history for ever?" if now else f"Move {what} to the bin?"
        confirm(question)
    with open_client(base_url) as client, if_interrupted(f"{what} may have been unpublished"):
        client.unpublish_faq(slug, lang=lang, purge="now" if now else purge)
    state = "purged" if now else "binned" if purge else "unpublished"
    text = {"binned": "in the bin", "purged": "deleted for ever"}.get(state, state)
    print_result(as_json, {"slug": slug, "lang": lang, "state": state}, f"{what}  {text}")
