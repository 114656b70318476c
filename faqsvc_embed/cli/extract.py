"""`faqsvc extract` and `faqsvc generate`: questions and answers from a website.

`extract` finds them itself, also in a file; `generate` lets the service find them.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.contract import GeneratedEntry, GenerateResponse, ReadPage
from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.faqs import items_to_text
from faqsvc_embed.cli.options import (
    FilePath,
    base_url_option,
    format_option,
    is_url,
    lang_option,
    open_client,
)
from faqsvc_embed.cli.output import note, print_data, print_json, print_text
from faqsvc_embed.client import GeneratedItem

if TYPE_CHECKING:
    from faqsvc_embed.files import Document
    from faqsvc_embed.generation.crawl.page import Page
    from faqsvc_embed.generation.engines.protocol import GenerationRequest

MAX_FILE: Final = 2_097_152
"""Maximum bytes read from a file; the same as for a page."""
_RELATIVE_LINK: Final = re.compile(rb"(?i)<a\s[^<>]{0,200}\bhref=[\"']?(?![a-z]+:|#|[\"'])")

_count_option = click.option(
    "--count", type=click.IntRange(1, MAX_ITEMS), help="Maximum number of questions."
)


@click.command()
@click.argument("source", metavar="URL|FILE", type=FilePath())
@lang_option
@_count_option
@click.option(
    "--pages",
    type=click.IntRange(1, 50),
    default=12,
    show_default=True,
    help="Maximum number of pages; 1 reads only the page at URL.",
)
@click.option("--url", metavar="URL", help="Address of the page in FILE, for its links.")
@format_option("markdown", "json", text="Output format; `faqsvc publish` reads both.")
def extract(source: str, form: str, pages: int, url: str | None, **options: Any) -> None:
    """Print the questions and answers of a website or an HTML file.

    No service, API key or language model is needed. Progress and notes are on standard error.

    \b
      faqsvc extract https://heron.example > faq.md
      faqsvc extract --format json faq.html | jq -r '.items[].question'

    Exit status: 0; 1 if no question is found, or the website cannot be read.
    """
    from faqsvc_embed.generation.engines.protocol import GenerationRequest

    if url is not None and (is_url(source) or not re.match("(?i)https?://", url)):
        raise click.UsageError("--url is the http or https address of the page in FILE")
    silence_log()
    request = GenerationRequest(source, max_pages=pages, **options)
    if is_url(source):
        generation, url = _from_website(request), source
    else:
        generation = _from_file(request, url)
    for line in generation.notes:
        note(line)
    if not generation.items:
        raise failure(f"no questions found in {source!r}")
    from faqsvc_embed.files import WRITERS

    document = _document(generation.items, url)
    if form == "markdown":
        print_data(WRITERS[".md"](document).rstrip("\n"))
        return
    fields = msgspec.to_builtins(generation)  # with the pages and what was left out
    for item in fields["items"]:
        item["answer"] = item.pop("answerMarkdown", None) or item["answer"]
    print_json({**json.loads(WRITERS[".json"](document)), **fields})


def _from_website(request: "GenerationRequest") -> GenerateResponse:
    import asyncio

    from faqsvc_embed.generation.crawl.fetcher import FetchError
    from faqsvc_embed.generation.crawl.ssrf import BlockedURL, check_url, endpoint_of
    from faqsvc_embed.generation.engines.extractive import ExtractiveEngine
    from faqsvc_embed.generation.generator import TIMEOUT, generate

    def report(page: "Page") -> None:
        note(f"{page.url}: {len(page.pairs)} questions")

    try:
        # Users may name a host of their own network, so it is allowed even if it is not public.
        named = endpoint_of(check_url(request.website_url, any_port=True))
        work = generate(request, ExtractiveEngine(), allowed=frozenset({named}), report=report)
        return asyncio.run(work)
    except (BlockedURL, FetchError) as error:
        raise failure(str(error)) from None
    except TimeoutError:
        raise failure(f"{request.website_url!r} did not respond within {TIMEOUT:g} s") from None


def _from_file(request: "GenerationRequest", url: str | None) -> GenerateResponse:
    from faqsvc_embed.generation.crawl.fetcher import Response
    from faqsvc_embed.generation.crawl.page import read_page
    from faqsvc_embed.generation.engines.extractive import unique_items

    path = Path(request.website_url)
    with path.open("rb") as file:
        body = file.read(MAX_FILE)
    if url is None and _RELATIVE_LINK.search(body):
        note("relative links are left out: to keep them, give the page's address with --url")
    page = read_page(Response(url or path.resolve().as_uri(), 200, "text/html", None, body))
    found = unique_items([page], request)
    return replace(found, pages=[ReadPage(page.url, page.tag, len(page.pairs))])


@click.command()
@click.argument("url")
@lang_option
@_count_option
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

    document = _document(items, url, lang)
    print_data(WRITERS[{"json": ".json", "markdown": ".md"}[form]](document).rstrip("\n"))


def _document(
    items: Sequence[GeneratedEntry | GeneratedItem], url: str | None, lang: str | None = None
) -> "Document":
    """Return generated items as a document; `lang` is their language if they state none."""
    from faqsvc_embed.files import Document
    from faqsvc_embed.languages import lookup

    languages = {lookup(item.lang) for item in items if item.lang is not None} or {lang}
    return Document(
        website_url=url,
        lang=languages.pop() if len(languages) == 1 else None,
        answer_format="markdown" if any(item.answer_markdown for item in items) else None,
        items=[
            {
                "question": item.question,
                "answer": item.answer_markdown or item.answer,
                "section": item.section,
                "source": item.source,
            }
            for item in items
        ],
    )
