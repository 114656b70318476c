"""`faqsvc publish`: publish FAQs from files."""

import re
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from faqsvc_embed.cli.errors import failure, interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_json, print_text, progress, waiting
from faqsvc_embed.cli.publications import Publication, complete, read_publications, warn
from faqsvc_embed.errors import FAQError, OutcomeUnknown, quoted

if TYPE_CHECKING:
    from faqsvc_embed import models
    from faqsvc_embed.client import FAQClient, StoredRevision


def _idempotency_key(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and re.fullmatch("[!-~]{1,255}", value) is None:
        raise click.BadParameter(f"{quoted(value)} is not 1 to 255 visible ASCII characters")
    return value


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--website-url", metavar="URL", help="Address of the website that the FAQ is about.")
@click.option("--website-name", metavar="NAME", help="Name of that website.")
@click.option(
    "--slug", metavar="SLUG", help="Slug to publish under. Default: that of the file, or a new one."
)
@click.option("--title", metavar="TITLE", help="Title of the FAQ.")
@lang_option
@click.option("--draft", is_flag=True, help="Store drafts instead of publishing.")
@click.option("--dry-run", is_flag=True, help="Check the files and print the request bodies; send nothing.")
@click.option(
    "--idempotency-key",
    metavar="KEY",
    callback=_idempotency_key,
    help="Retry an attempt that got no response, with the key that it printed.",
)
@json_option
@base_url_option
def publish(
    files: tuple[str, ...],
    draft: bool,
    dry_run: bool,
    as_json: bool,
    idempotency_key: str | None,
    base_url: str | None,
    **options: str | None,
) -> None:
    """Publish FAQs from files, and print the slug, the address and the line for a template of each.

    If FILE has a slug, or with --slug, this writes a new revision of that FAQ, or creates it. If the file has
    no title or website, the current ones are kept. Without a slug, FILE becomes a new FAQ, and the service
    chooses the slug.

    In a folder, and for files with a language in their name, the file name is the slug: pricing.md is the FAQ
    "pricing", and pricing.de.md its German translation. Unchanged files of a folder are skipped.

    All files are checked before the first is sent. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc publish faq.json
      faqsvc publish faqs
      faqsvc publish pricing.en.md pricing.de.md
      faqsvc publish faq.csv --slug pricing --website-url https://heron.example --website-name Heron
      faqsvc get pricing --format markdown > pricing.md; faqsvc publish pricing.md --draft

    \b
    .json, .yaml   {"websiteUrl": ..., "websiteName": ..., "items": [{"question": ..., "answer": ...}]},
                   with slug, title, lang and answerFormat; or only the list of items
    .csv           a first row with the column names, question and answer among them
    .md            a heading for each question; the other fields between two lines of ---

    Exit status: 0 if all are published, 1 if one is not, 2 for a mistake of usage.
    """
    if idempotency_key is not None and len(files) > 1:
        raise click.UsageError("--idempotency-key belongs to one FILE; repeat it with that FILE only")
    publications = read_publications(files, {**options, "draft": draft or None})
    if dry_run:
        for publication in publications:
            print_json(publication.body(may_lack_website=True))
        return
    done = list[dict[str, Any]]()
    try:
        with open_client(base_url) as client:
            completed = _complete(client, publications)
            with progress(completed, "Publishing") as watched:
                for publication in watched:
                    so_far = f"; {len(done)} of {len(completed)} are published" if done else ""
                    if publication.unchanged is None:
                        published = _publish(client, publication, idempotency_key or token_hex(16), so_far)
                    else:
                        published = _existing(client, publication.unchanged)
                    is_unchanged = publication.unchanged is not None
                    done.append({**fields_of(published), "unchanged": is_unchanged, "file": publication.file})
                    if not as_json:
                        line = line_of(published) + ("  (unchanged)" if is_unchanged else "")
                        print_text(f"{line}  {publication.file}" if len(completed) > 1 else line)
    finally:
        if as_json and done:
            print_json(done)


def line_of(published: "models.Publication") -> str:
    """Return the line that is printed for a publication."""
    state = f"  (draft {published.revision})" if published.state == "draft" else ""
    return f"{f'{published.slug}  {published.faq_url}'.rstrip()}  {published.template}{state}"


def fields_of(published: "models.Publication") -> dict[str, Any]:
    """Return the JSON object that is printed for a publication."""
    return {
        "slug": published.slug,
        "faqUrl": published.faq_url,
        "lang": published.lang,
        "revision": published.revision,
        "state": published.state,
        "etag": published.etag,
        "template": published.template,
    }


def _complete(client: "FAQClient", publications: list[Publication]) -> list[Publication]:
    with progress(publications, "Checking") as watched:
        completed = [complete(client, publication) for publication in watched]
    for publication in completed:
        if publication.document.cta is not None:
            warn(publication, "unknown to the service and left out: cta")
        publication.body()
    return completed


def _existing(client: "FAQClient", newest: "StoredRevision") -> "models.Publication":
    """Return a revision that exists already as a publication."""
    from faqsvc_embed import models

    slug = newest.faq.slug
    return models.Publication(
        slug=slug,
        faq_url=f"{client.settings.base_url}/faq/{quote(slug, safe='')}",
        lang=newest.faq.lang,
        revision=newest.revision,
        state=newest.state,
        etag=newest.etag,
    )


def _publish(client: "FAQClient", publication: Publication, key: str, so_far: str) -> "models.Publication":
    """Publish one file; a failure says how to retry, and how many files are published."""
    file, fields = publication.file, publication.fields()
    retry = ": publish it again; this does not create a second FAQ"
    if publication.slug is None:
        fields["idempotency_key"] = key
        retry = f": retry with --idempotency-key {key}"
    try:
        with waiting(f"Publishing {file}"):
            return client.publish_faq(**fields)
    except KeyboardInterrupt:
        message = f"{file}: interrupted; it may have been published{retry}{so_far}"
        raise interrupted(message) from None
    except OutcomeUnknown as error:
        raise failure(f"{file}: {error}{retry}{so_far}") from error
    except FAQError as error:
        raise failure(f"{file}: {publication.document.locate(str(error))}{so_far}") from error
