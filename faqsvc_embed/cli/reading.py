"""`faqsvc get`: one FAQ, in the form that is wanted."""

from collections.abc import Callable
from typing import Final

import click

from faqsvc_embed.cli.options import base_url_option, lang_option, open_reader
from faqsvc_embed.cli.output import print_data
from faqsvc_embed.files.to_markdown import one_line, printable, to_markdown
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering.json_ld import to_json_ld_string


@click.command()
@click.argument("slug")
@lang_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonld", "html", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it; html is what a page gets, JSON-LD included.",
)
@base_url_option
def get(slug: str, lang: str | None, form: str, base_url: str | None) -> None:
    """Print the FAQ SLUG as it is now.

    \b
      faqsvc get pricing --base-url https://faq.example.com
      faqsvc get pricing --lang ko --format json | jq -r '.items[].question'
      faqsvc get pricing --format markdown > faq.md
    """
    with open_reader(base_url) as client:
        faq = client.get_faq(slug, lang=lang)
    text = FORMS[form](faq)
    if not text:
        raise click.ClickException(f"the FAQ {slug!r} has no question with an answer")
    show = click.echo if form == "text" else print_data
    show(text.rstrip("\n"))


def _html(faq: FAQ) -> str:
    from faqsvc_embed.embed import FAQEmbed

    return str(
        FAQEmbed("https://faq.invalid", api_key=None, strict=True).render(faq)
    )  # of a record at hand: asks nobody


def _text(faq: FAQ) -> str:
    title = one_line(faq.title) or one_line(faq.website_name)
    return items_as_text(faq.items, title)


def items_as_text(items: tuple[Item, ...] | list[Item], title: str = "") -> str:
    """Return questions with their answers, indented; foreign text moves no cursor."""
    lines = [title, ""] if title else []
    for item in items:
        answer = printable(item.answer).strip().split("\n")
        lines += [one_line(item.question), *(f"    {line}".rstrip() for line in answer), ""]
    return "\n".join(lines)


FORMS: Final[dict[str, Callable[[FAQ], str]]] = {
    "text": _text,
    "json": FAQ.to_json,
    "jsonld": to_json_ld_string,
    "html": _html,
    "markdown": to_markdown,
}
