"""`faqsvc generate`: let the service find questions and answers on a website."""

import sys
from typing import Any, Final

import click

from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.get import items_to_text
from faqsvc_embed.cli.options import base_url_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_data, print_text
from faqsvc_embed.languages import lookup
from faqsvc_embed.models import Item

_ENDINGS: Final = {"json": ".json", "markdown": ".md"}


@click.command()
@click.argument("url")
@lang_option
@click.option("--count", type=click.IntRange(1, MAX_ITEMS), help="Maximum number of questions.")
@click.option("--topic", help="Topic to focus on.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *_ENDINGS]),
    default="text",
    show_default=True,
    help="Output format; `faqsvc publish` reads json and markdown.",
)
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
    stated = {str(tag) for item in items if (tag := getattr(item, "lang", None)) is not None}
    if lang is not None and stated - {lang}:
        named = ", ".join(map(repr, sorted(stated)))
        note(f"The items are in {named}, not in {lang!r}: the service does not translate")
    languages = {lookup(tag) for tag in stated} or {lang}
    if form == "text":
        print_text(items_to_text(items).rstrip("\n"))
        return
    from faqsvc_embed.files import WRITERS, Document

    document = Document(
        website_url=url,
        lang=languages.pop() if len(languages) == 1 else None,
        answer_format="markdown" if any(_markdown(item) for item in items) else None,
        items=[
            {
                "question": item.question,
                "answer": _markdown(item) or item.answer,
                "source": getattr(item, "source", ""),
            }
            for item in items
        ],
    )
    print_data(WRITERS[_ENDINGS[form]](document).rstrip("\n"))


def _markdown(item: Item) -> str:
    return str(getattr(item, "answer_markdown", ""))
