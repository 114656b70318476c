"""`faqsvc generate`: let the service find questions and answers on a website."""

import sys
from typing import Any

import click

from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.extract import document_of
from faqsvc_embed.cli.get import items_to_text
from faqsvc_embed.cli.options import base_url_option, format_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_data, print_text


@click.command()
@click.argument("url")
@lang_option
@click.option("--count", type=click.IntRange(1, MAX_ITEMS), help="Maximum number of questions.")
@format_option("text", "json", "markdown", text="Output format; `faqsvc publish` reads json and markdown.")
@base_url_option
def generate(url: str, form: str, lang: str | None, base_url: str | None, **options: Any) -> None:
    """Print questions and answers from the website at URL.

    The service finds them, which may take a minute, and stores nothing. Review them before you publish them.
    The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc generate https://heron.example --count 10 --format markdown > faq.md
      faqsvc publish faq.md --website-name Heron

    Exit status: 0; 1 if no question is found, or the website cannot be read.
    """
    with open_client(base_url) as client:
        if sys.stderr.isatty():
            note(f"The service reads {url}, which may take a minute")
        items = client.generate_faq(url, lang=lang, **options)
    if not items:
        raise failure(f"no questions found at {url!r}")
    stated = {item.lang for item in items if item.lang is not None}
    if lang is not None and stated - {lang}:
        named = ", ".join(map(repr, sorted(stated)))
        note(f"The items are in {named}, not in {lang!r}: the service does not translate")
    if form == "text":
        print_text(items_to_text(items).rstrip("\n"))
        return
    from faqsvc_embed.files import WRITERS

    document = document_of(items, url, lang)
    print_data(WRITERS[{"json": ".json", "markdown": ".md"}[form]](document).rstrip("\n"))
