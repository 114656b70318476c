"""`faqsvc pull`: write FAQs to Markdown files, which an application shows while the service is down."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import FilePath, base_url_option, open_client
from faqsvc_embed.cli.output import note, print_text, write_atomically
from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import FAQError, FAQNotFound, PublishRejected, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.text import normalized

if TYPE_CHECKING:
    from faqsvc_embed.files import Document

_TEXTS: Final = ("title", "introduction", "items", "answer_format")
Records = dict[tuple[str, str | None], Fetched]
"""FAQs by slug and language; None stands for the default language."""
Files = dict[Path, str | None]
"""The text of each file; None if the file already has this text."""


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--to",
    "directory",
    metavar="DIR",
    required=True,
    type=FilePath(file_okay=False),
    help="Directory to write to: one file for each slug and language.",
)
@base_url_option
def pull(slugs: tuple[str, ...], directory: str, base_url: str | None) -> None:
    """Write the FAQs SLUG... in all their languages to files in DIR.

    They are Markdown files such as pricing.md and pricing.de.md. Keep them in git: an application with
    directory="DIR" shows them until the service responds, or without a service; `faqsvc publish DIR` reads
    them. A file that you edited is not replaced. To see whether you edited a file of an older revision, the
    command needs an API key in FAQSVC_API_KEY; without one, it replaces such a file and names it. Either all
    files are written or none.

    \b
      faqsvc pull pricing terms --to faqs --base-url https://faq.example.com

    Exit status: 0; 1 if an FAQ cannot be read or a file cannot be replaced.
    """
    from faqsvc_embed.files import Folder

    silence_log()
    # Settings in the environment are ignored, because the files must have the current records of the service.
    with open_client(base_url, api_key=None, offline=False, lang=None) as client:
        records = _pull(client, slugs)
    existing = Folder(directory).files if Path(directory).is_dir() else []
    files = _files(records, Path(directory), {(file.slug, file.lang): file.path for file in existing})
    changed = {path: text for path, text in files.items() if text is not None}
    older = {path: _older_revision(path, text, base_url) for path, text in changed.items()}
    Path(directory).mkdir(parents=True, exist_ok=True)
    write_atomically(changed)
    for path in files:
        print_text(str(path))
        if revision := older.get(path):
            note(f"{path} had revision {quoted(revision)}: if you had edited it, these changes are gone")
    for file in existing:
        if file.slug in {slug for slug, _ in records} and file.path not in files:
            note(f"Warning: {file.path} is not published: remove it")


def _files(records: Records, directory: Path, existing: Mapping[tuple[str, str | None], Path]) -> Files:
    """Return the files of records, each with the revision that it was made from.

    `existing` are the files of the directory by slug and language. They keep their names.
    """
    from faqsvc_embed.files import WRITERS, Document
    from faqsvc_embed.files.folder import file_name

    files: Files = {}
    for (slug, lang), published in records.items():
        path = existing.get((slug, lang)) or existing.get((slug, published.faq.lang))
        path = path or directory / file_name(slug, lang)
        document = Document.from_faq(published.faq, published.revision)
        try:
            document.to_faq(slug)
        except PublishRejected as error:
            raise failure(f"{slug!r} cannot be a file: {error}") from error
        if path.suffix.lower() != ".md":
            raise failure(f"{path} is the FAQ {quoted(slug)}, and pull writes .md files: move it away first")
        text = WRITERS[".md"](document)
        files[path] = None if path.exists() and path.read_bytes() == text.encode() else text
    return files


def _older_revision(path: Path, text: str, base_url: str | None) -> object:
    """Return the revision that a file states if `text` is of another one and the file may have been edited.

    Raises:
        ClickException: the file was edited: its texts are neither those of `text` nor those of its revision.
    """
    from faqsvc_embed.files import READERS, UnreadableFile, read_file
    from faqsvc_embed.files.fields import DOCUMENT_FIELDS

    edited = failure(f"{path} has texts that are not published: publish it, or move it away first")
    try:
        local, published = read_file(path), READERS[".md"](text)
    except FileNotFoundError:
        return None
    except UnreadableFile:
        raise edited from None
    if local.revision not in (None, published.revision):
        own = _revision(published.slug, local, base_url)
        if own is None:
            return local.revision
        published = replace(local, **{name: getattr(own, name) for name in _TEXTS})
    elif local.revision is None:  # somebody wrote the file, and it may lack fields
        lacking = [name for name in DOCUMENT_FIELDS.values() if not getattr(local, name)]
        stated = {name: getattr(published, name) for name in (*lacking, "answer_format", "lang")}
        local = replace(local, **stated | {"introduction": local.introduction})
    if local != published:
        raise edited
    return None


def _revision(slug: str, local: "Document", base_url: str | None) -> "Document | None":
    """Return the revision that a file states; None without an API key that may read it."""
    from faqsvc_embed.files import Document

    try:
        with open_client(base_url, offline=False, lang=None) as client:
            revision = client.get_revision(slug, local.revision, lang=local.lang)
    except FAQError:
        return None
    return Document.from_faq(revision.record)


def _pull(client: FAQClient, slugs: Sequence[str]) -> Records:
    """Return FAQs in all their languages."""
    records: Records = {}
    for slug, lang in product([normalized("NFC", slug) for slug in slugs], (None, *LANGUAGES)):
        try:
            record = client.get_published(slug, lang=lang)
        except FAQError as error:
            if lang is not None and isinstance(error, FAQNotFound):
                continue
            message = str(error)
            raise failure(message if repr(slug) in message else f"{slug!r}: {message}") from error
        if lang is None or lang == record.faq.lang != records[slug, None].faq.lang:
            records[slug, lang] = record
    return records
