"""`faqsvc pull`: FAQs as files, for a deploy that is to show them whatever becomes of the service."""

import logging
from typing import TYPE_CHECKING, Final

import click

from faqsvc_embed.cli.failures import failure
from faqsvc_embed.cli.options import base_url_option, languages_option, need_base_url, progress
from faqsvc_embed.errors import FAQError, FAQNotFound
from faqsvc_embed.languages import LANGUAGES

if TYPE_CHECKING:
    from faqsvc_embed.cache.entries import Key
    from faqsvc_embed.cache.stored import Copy
    from faqsvc_embed.embed import FAQEmbed

_SILENCE: Final = logging.NullHandler()


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--to",
    "directory",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False),
    help="Where to write them: one file a slug and language.",
)
@languages_option
@base_url_option
def pull(slugs: tuple[str, ...], directory: str, langs: tuple[str, ...], base_url: str | None) -> None:
    """Write the FAQs SLUG... to files in DIR.

    An application runs from them with store="file:DIR", also without the service, and with offline=True
    without any network. The files can be reviewed and kept in git, but not edited: each holds its digest.
    All are written, or none.

    \b
      faqsvc pull pricing getting-started --to faqs --base-url https://faq.example.com
      faqsvc pull pricing --lang en --lang ko --to faqs
    """
    from faqsvc_embed.cache.stores import DirectoryStore
    from faqsvc_embed.embed import FAQEmbed

    # What the embed would write into an application's log is told here as the failure of a command.
    logging.getLogger("faqsvc_embed").addHandler(_SILENCE)
    copies: dict[Key, Copy] = {}
    # Whatever the environment says of the application: what the service has now is wanted.
    asking = FAQEmbed(need_base_url(base_url), api_key=None, store=None, offline=False, lang=None)
    with asking as embed, progress(slugs, "Pulling") as watched:
        for slug in watched:
            copies.update(_pulled(embed, slug, langs))
    store = DirectoryStore(directory, embed.settings.base_url, embed.settings.max_bytes)
    for path in store.write(copies):
        click.echo(path)


def _pulled(embed: "FAQEmbed", slug: str, langs: tuple[str, ...]) -> "dict[Key, Copy]":
    """Return an FAQ in its own language and, if none is named, in all the others that it has."""
    from faqsvc_embed.cache.entries import Key

    copies: dict[Key, Copy] = {}
    for lang in (None, *(langs or LANGUAGES)):
        key = Key(slug, lang)
        try:
            faq = embed.get_faq(slug, lang=lang)
        except FAQNotFound as error:
            if lang is None:
                raise failure(f"{slug!r}: {error}") from error
            continue
        except FAQError as error:
            raise failure(f"{slug!r}: {error}") from error
        entry = embed.cache.get(key)
        copy = embed.cache.copy_of(entry) if entry is not None else None
        if copy is not None and (lang is None or faq.lang == lang):
            copies[key] = copy
    missing = [lang for lang in langs if Key(slug, lang) not in copies]
    if missing:
        raise failure(f"{slug!r} is not published in {', '.join(missing)}")
    return copies
