"""`faqsvc get`: print one FAQ."""

import json
import re
from collections.abc import Iterable
from typing import Final

import click

from faqsvc_embed.cli.options import base_url_option, format_option, lang_option, open_client
from faqsvc_embed.cli.output import print_data, print_text
from faqsvc_embed.models import FAQ, Item

_LINE_END: Final = re.compile("\r\n?|\x0b")


@click.command()
@click.argument("slug")
@lang_option
@format_option(
    *("text", "json", "jsonld", "html", "markdown"),
    text="Output format; html is what a page shows, with its JSON-LD.",
)
@base_url_option
def get(slug: str, lang: str | None, form: str, base_url: str | None) -> None:
    """Print the FAQ SLUG.

    `faqsvc publish` reads the output of --format json and markdown, and writes a new revision of the same
    FAQ, unless somebody has changed the FAQ in the meantime.

    \b
      faqsvc get pricing --base-url https://faq.example.com
      faqsvc get pricing --lang ko --format json | jq -r '.items[].question'
      faqsvc get pricing --format markdown > pricing.md

    Exit status: 0; 1 if there is no such FAQ, or the service cannot be reached.
    """
    with open_client(base_url, api_key=None) as client:  # an invalid key must not stop a read
        published = client.get_published(slug, lang=lang)
    text = _written(published.faq, published.revision, form)
    if not text:
        raise click.ClickException(f"the FAQ {slug!r} has no question with an answer")
    print_ = print_text if form == "text" else print_data
    print_(text.rstrip("\n"))


def items_to_text(items: Iterable[Item], title: str = "") -> str:
    """Return questions followed by their answers, indented."""
    lines = [title, ""] if title else []
    for item in items:
        answer = _LINE_END.sub("\n", item.answer).strip().split("\n")
        lines += [_one_line(item.question), *(f"    {line}".rstrip() for line in answer), ""]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _written(faq: FAQ, revision: int | None, form: str) -> str:
    """Return an FAQ in a format."""
    if form == "json":
        stated = {} if revision is None else {"revision": revision}
        return json.dumps({**faq.to_dict(), **stated}, ensure_ascii=False, separators=(",", ":"))
    if form == "jsonld":
        from faqsvc_embed.rendering.json_ld import to_json_ld_string

        return to_json_ld_string(faq)
    if form == "html":
        from faqsvc_embed.embed import FAQEmbed

        # Rendering a record sends no request, so the address does not matter.
        return str(FAQEmbed("https://faq.invalid", strict=True, directory=None).render(faq))
    if form == "markdown":
        from faqsvc_embed.files import WRITERS, Document

        return WRITERS[".md"](Document.from_faq(faq, revision))
    head = [_one_line(faq.title) or _one_line(faq.website_name), faq.introduction]
    return items_to_text(faq.items, "\n\n".join(filter(None, head)))
