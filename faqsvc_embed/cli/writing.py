"""`faqsvc publish`, `faqsvc generate`: from files to a slug, from a website to a file."""

import json
import re
from collections.abc import Iterable
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.api.publishing import encoded, publication
from faqsvc_embed.cli.failures import failure
from faqsvc_embed.cli.options import base_url_option, lang_option, open_client, progress
from faqsvc_embed.cli.output import print_data
from faqsvc_embed.cli.reading import items_as_text
from faqsvc_embed.errors import FAQError, PublishRejected, Unanswered, quoted
from faqsvc_embed.files.read import Submission, read_file
from faqsvc_embed.files.to_markdown import items_to_markdown, one_line
from faqsvc_embed.models import Item

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient


def _retry_key(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and re.fullmatch("[!-~]{1,255}", value) is None:
        raise click.BadParameter(f"{quoted(value)}: 1 to 255 visible ASCII characters are accepted")
    return value


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--website-url", metavar="URL", help="The address of the website that the FAQ is about.")
@click.option("--website-name", metavar="NAME", help="The name of that website.")
@click.option("--dry-run", is_flag=True, help="Check the files and print what would be sent; send nothing.")
@click.option(
    "--idempotency-key",
    metavar="KEY",
    callback=_retry_key,
    help="Of an attempt that got no answer: FILE is not published twice.",
)
@base_url_option
def publish(
    files: tuple[str, ...],
    website_url: str | None,
    website_name: str | None,
    dry_run: bool,
    idempotency_key: str | None,
    base_url: str | None,
) -> None:
    """Publish FAQs from files.

    Each FILE is one FAQ: its slug and the address of its page are printed. All files are checked before
    the first is sent. The key is read from FAQSVC_API_KEY.

    \b
      faqsvc publish faq.json
      faqsvc publish faq.csv --website-url https://heron.example --website-name Heron
      faqsvc publish faqs/*.md --dry-run

    \b
    .json, .yaml   {"websiteUrl": ..., "websiteName": ..., "items": [{"question": ..., "answer": ...}]},
                   with title, lang and the slug to replace if you like; or just the list of items
    .csv           a row of headers, question and answer among them
    .md            a heading for each question; websiteUrl and websiteName between two lines of ---
    """
    if idempotency_key is not None and len(files) > 1:
        raise click.UsageError("--idempotency-key is of one FILE: give the file whose attempt got no answer")
    submissions = [_checked(file, website_url, website_name) for file in files]
    if dry_run:
        for _, submission in submissions:
            print_data(json.dumps(_body(submission), ensure_ascii=False, indent=2))
        return
    with open_client(base_url) as client, progress(submissions, "Publishing") as bar:
        for done, (file, submission) in enumerate(bar):
            so_far = f"; {done} of {len(files)} are published" if done else ""
            line = _publish(client, file, submission, idempotency_key or token_hex(16), so_far)
            click.echo(f"{line}  {file}" if len(files) > 1 else line)


def _checked(file: str, website_url: str | None, website_name: str | None) -> tuple[str, Submission]:
    try:
        submission = read_file(file).completed(website_url=website_url, website_name=website_name)
        _body(submission)
    except OSError as error:
        raise failure(f"{file}: {error.strerror}") from error
    except PublishRejected as error:
        raise failure(f"{file}: {'; '.join(map(_as_option, error.problems))}") from error
    return file, submission


def _as_option(problem: str) -> str:
    """Say of what is missing how to give it."""
    options = {"websiteUrl is missing": "--website-url", "websiteName is missing": "--website-name"}
    return f"{problem}: give {options[problem]}, or put it in the file" if problem in options else problem


def _body(submission: Submission) -> dict[str, Any]:
    return publication(**{name: getattr(submission, name) for name in Submission.__slots__})


def _publish(client: "FAQClient", file: str, submission: Submission, retry: str, so_far: str) -> str:
    from faqsvc_embed.api.publish_response import unsure

    fields = {name: getattr(submission, name) for name in Submission.__slots__}
    try:
        published = client.publish_faq(**fields, idempotency_key=retry)
    except KeyboardInterrupt:
        click.echo(err=True)  # below the ^C of a terminal
        error = unsure(Unanswered("interrupted"), retry)
        raise failure(f"{file}: {error}: give --idempotency-key {retry}{so_far}") from None
    except Unanswered as error:
        raise failure(f"{file}: {error}: give --idempotency-key {retry}{so_far}") from error
    except FAQError as error:
        raise failure(f"{file}: {error}{so_far}") from error
    return f"{published.slug}  {published.faq_url}".rstrip()


@click.command()
@click.argument("url")
@lang_option
@click.option("--count", type=click.IntRange(1, MAX_ITEMS), help="At most so many questions.")
@click.option("--topic", help="What they are to be about.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print them; `faqsvc publish` reads json and markdown.",
)
@base_url_option
def generate(
    url: str, lang: str | None, count: int | None, topic: str | None, form: str, base_url: str | None
) -> None:
    """Print questions and answers for a website.

    The service finds them on the pages at URL. Nothing is stored: look at them, and publish what is
    right. The key is read from FAQSVC_API_KEY.

    \b
      faqsvc generate https://heron.example --count 10 --format markdown > faq.md
      faqsvc publish faq.md --website-name Heron
    """
    with open_client(base_url) as client:
        items = client.generate_faq(url, lang=lang, count=count, topic=topic)
    if not items:
        raise failure(f"no questions were found for {url!r}")
    show = click.echo if form == "text" else print_data
    show(_FORMS[form](url, lang, items).rstrip("\n"))


def _as_json(url: str, lang: str | None, items: Iterable[Item]) -> str:
    entries = [
        {"question": item.question, "answer": item.answer, "source": getattr(item, "source", "")}
        for item in items
    ]
    body = {"websiteUrl": url, **({"lang": lang} if lang else {}), "items": entries}
    return encoded(body).decode()


def _as_markdown(url: str, lang: str | None, items: list[Item]) -> str:
    language = f"lang: {lang}\n" if lang else ""
    return f"---\nwebsiteUrl: {one_line(url)}\n{language}---\n\n{items_to_markdown(items)}"


def _as_text(_: str, __: str | None, items: list[Item]) -> str:
    return items_as_text(items)


_FORMS = {"text": _as_text, "json": _as_json, "markdown": _as_markdown}
