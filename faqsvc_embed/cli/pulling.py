"""`faqsvc pull`: FAQs into a directory, for a deploy that has them from its first second."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faqsvc_embed.cli.failures import failure
from faqsvc_embed.cli.options import base_url_option, languages_option, open_client, progress

if TYPE_CHECKING:
    from faqsvc_embed.copies import Copy
    from faqsvc_embed.freshness import Key
    from faqsvc_embed.stores.directory import DirectoryStore


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option("--to", "directory", metavar="DIR", required=True, help="The directory; made if need be.")
@languages_option
@base_url_option
def pull(slugs: tuple[str, ...], directory: str, languages: tuple[str, ...], base_url: str | None) -> None:
    """Write FAQs into a directory.

    There is one JSON file a SLUG and language; their names are printed. Nothing is written unless all were
    read. An application shows them from its start, whether the service answers or not, with
    FAQSVC_STORE=file:DIR, and only them with FAQSVC_OFFLINE=1 too.

    \b
      faqsvc pull pricing getting-started --to faqs
      faqsvc pull pricing --lang en --lang ko --to faqs
    """
    from faqsvc_embed.copies import Copy
    from faqsvc_embed.freshness import Key
    from faqsvc_embed.stores.directory import DirectoryStore

    copies = dict[Key, Copy]()
    with open_client(base_url) as client:
        settings = client.settings
        keys = [Key(slug, lang) for slug in slugs for lang in languages or (settings.lang,)]
        with progress(keys, "Pulling") as bar:
            for key in bar:
                faq = client.get_faq(key.slug, lang=key.lang)
                copies[key] = Copy(faq, key.lang, datetime.now(UTC), settings.fresh_for)
    store = DirectoryStore(directory, settings.base_url, settings.max_bytes)
    for path in _write(store, copies):
        click.echo(path)


def _write(store: "DirectoryStore", copies: "dict[Key, Copy]") -> list[Path]:
    """Write all copies, or leave the directory as it was."""
    before = dict[Path, bytes | None]()
    try:
        for key, copy in copies.items():
            path = store.path(key)
            before[path] = path.read_bytes() if path.exists() else None
            store.write(key, copy)
    except OSError as error:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)
        raise failure(f"{store.directory}: {error.strerror}") from error
    return list(before)
