"""`faqsvc forget`: remove FAQs from a store, and from all processes that share it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import base_url_option, need_base_url
from faqsvc_embed.errors import quoted

if TYPE_CHECKING:
    from faqsvc_embed.settings import Settings


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--store",
    metavar="STORE",
    envvar="FAQSVC_STORE",
    show_envvar=True,
    help="The setting `store` of the website: file:DIR or redis://HOST:PORT/DB.",
)
@base_url_option
def forget(slugs: tuple[str, ...], store: str | None, base_url: str | None) -> None:
    """Remove the FAQs SLUG... from the cache of a website.

    They are removed from its store, and from the memory of every process that shares the store. The next page
    fetches these FAQs from the service. Processes that share a directory are updated within about a second,
    and processes that share a Redis at once.

    \b
      faqsvc forget pricing --store file:/var/lib/shop/faqs --base-url https://faq.example.com
    """
    from faqsvc_embed.settings import Settings

    silence_log()
    if not store:
        raise failure("no store is set: use --store or set FAQSVC_STORE, such as file:/var/lib/shop/faqs")
    forget_stored(Settings(base_url=need_base_url(base_url), store=store), slugs)


def forget_stored(settings: "Settings", slugs: Sequence[str]) -> None:
    """Remove FAQs, or all if there is no slug, from the store that is set.

    Raises:
        ClickException: the store cannot be written.
    """
    from faqsvc_embed.cache.shared import open_store
    from faqsvc_embed.runtime.background_loop import BackgroundLoop

    opened = open_store(settings)
    assert opened is not None  # noqa: S101  # because `store` is set
    loop = BackgroundLoop()
    try:
        for slug in slugs or (None,):
            opened.mark_invalid(slug, datetime.now(UTC))
            if not loop.submit(opened.invalidate()).result():
                what = "nothing was" if slug is None else f"{slug!r} was not"
                raise failure(f"{what} forgotten: the store {quoted(settings.store)} cannot be written")
    finally:
        loop.close()
