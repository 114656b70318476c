"""`faqsvc pull`: write FAQs to files, which an application shows while the service is down."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import base_url_option, languages_option, need_base_url
from faqsvc_embed.cli.output import print_text, progress
from faqsvc_embed.errors import FAQNotFound, PublishRejected
from faqsvc_embed.languages import LANGUAGES

if TYPE_CHECKING:
    from faqsvc_embed.cache.entries import Key
    from faqsvc_embed.cache.stored import StoredFAQ
    from faqsvc_embed.embed import FAQEmbed


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--to",
    "directory",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False),
    help="Directory to write to: one file for each slug and language.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["store", "markdown"]),
    default="store",
    show_default=True,
    help="markdown is for directory=DIR, store for store=file:DIR.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file differs from the service.")
@languages_option
@base_url_option
def pull(
    slugs: tuple[str, ...],
    directory: str,
    form: str,
    check: bool,
    langs: tuple[str, ...],
    base_url: str | None,
) -> None:
    """Write the FAQs SLUG... to files in DIR.

    With --format markdown they are files such as pricing.md and pricing.de.md, to be kept in git: an
    application with directory="DIR" shows them until the service responds, or without a service.

    Without it they are files for store="file:DIR" with offline=True, which refuses edited files, since each
    has a digest. `faqsvc publish DIR` reads both. Either all files are written or none.

    \b
      faqsvc pull pricing terms --to faqs --format markdown --base-url https://faq.example.com
      faqsvc pull pricing --lang en --lang ko --to faqs --format markdown
      faqsvc pull pricing terms --to faqs --format markdown --check
    """
    from faqsvc_embed.cache.stores.atomic import write_readable
    from faqsvc_embed.embed import FAQEmbed

    silence_log()
    records: dict[Key, StoredFAQ] = {}
    # Settings of an application in the environment are ignored: the files must have what the service has now.
    embed = FAQEmbed(
        need_base_url(base_url),
        api_key=None,
        store=None,
        directory=None,
        offline=False,
        lang=None,
        push=False,
    )
    with embed, progress(slugs, "Pulling") as watched:
        for slug in watched:
            records.update(_pull(embed, slug, langs))
    files = (
        _store_files(records, directory, embed) if form == "store" else _markdown_files(records, directory)
    )
    changed = {path: text for path, text in files.items() if text is not None}
    if check:
        _report(changed, _left_over(files, slugs, langs) if form == "markdown" else [])
        return
    Path(directory).mkdir(parents=True, exist_ok=True)
    write_readable(changed)
    for path in files:
        print_text(str(path))
    if form == "markdown":
        for path in _left_over(files, slugs, langs):
            click.echo(f"Warning: {path} is not published: remove it", err=True)


def _pull(embed: "FAQEmbed", slug: str, langs: tuple[str, ...]) -> "dict[Key, StoredFAQ]":
    """Return an FAQ in its own language and in `langs`, or in every language that it has."""
    from faqsvc_embed.cache.entries import Key

    records: dict[Key, StoredFAQ] = {}
    for lang in (None, *(langs or LANGUAGES)):
        key = Key(slug, lang)
        # Not `get_faq`, which returns another translation if this one cannot be fetched.
        state = embed.use_faq(slug, lang=lang, wait=embed.settings.timeout + 1)
        if lang is not None and isinstance(state.error, FAQNotFound):
            continue
        if state.data is None or state.error is not None:
            message = str(state.error or "the FAQ did not arrive in time")
            raise failure(message if repr(slug) in message else f"{slug!r}: {message}") from state.error
        entry = embed.cache.get(key)
        stored = embed.cache.to_store(entry) if entry is not None else None
        if stored is not None and (lang is None or stored.faq.lang == lang):
            records[key] = stored
    missing = [lang for lang in langs if Key(slug, lang) not in records]
    if missing:
        raise failure(f"{slug!r} is not published in {', '.join(missing)}")
    return records


Files = dict[Path, str | None]
"""The text of each file, or None if the file has this text already."""


def _store_files(records: "Mapping[Key, StoredFAQ]", directory: str, embed: "FAQEmbed") -> Files:
    from faqsvc_embed.cache.stores import DirectoryStore
    from faqsvc_embed.sources.bundle import bundle_text

    settings = embed.settings
    store = DirectoryStore(directory, settings.base_url, settings.max_bytes)
    return {
        store.path(key): bundle_text(store, key, stored, settings.base_url) for key, stored in records.items()
    }


def _markdown_files(records: "Mapping[Key, StoredFAQ]", directory: str) -> Files:
    from faqsvc_embed.files import WRITERS, Document
    from faqsvc_embed.files.folder import file_name

    own = {key.slug: stored.faq.lang for key, stored in records.items() if key.lang is None}
    files: Files = {}
    for key, stored in records.items():
        if key.lang is None or key.lang != own[key.slug]:
            path = Path(directory) / file_name(key.slug, key.lang)
            document = Document.from_faq(stored.faq)
            try:
                document.to_faq(key.slug)
            except PublishRejected as error:
                raise failure(f"{key.slug!r} cannot be a file: {error}") from error
            text = WRITERS[".md"](document)
            files[path] = None if _content(path) == text.encode() else text
            if others := [str(other) for other in _same_name(path) if other != path]:
                raise failure(f"{others[0]} is the same FAQ as {path}: remove one of them")
    return files


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _same_name(path: Path) -> Iterable[Path]:
    from faqsvc_embed.files import READERS

    return (other for ending in READERS if (other := path.with_name(f"{path.stem}{ending}")).exists())


def _left_over(files: Files, slugs: tuple[str, ...], langs: tuple[str, ...]) -> list[Path]:
    """Return the files of languages in which an FAQ is no longer published."""
    from faqsvc_embed.files.folder import file_name

    directory = next(iter(files)).parent
    paths = (directory / file_name(slug, lang) for slug in slugs for lang in ([] if langs else LANGUAGES))
    return [path for path in paths if path not in files and path.exists()]


def _report(changed: Iterable[Path], left_over: Iterable[Path]) -> None:
    """Print the files that differ from the service, and fail if there are any."""
    lines = [*(f"{path} differs" for path in changed), *(f"{path} is not published" for path in left_over)]
    for line in lines:
        print_text(line)
    if lines:
        raise click.exceptions.Exit(1)
