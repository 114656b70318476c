"""`faqsvc forget`: remove FAQs from a store, and from all processes that share it."""

from datetime import UTC, datetime

import click

from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import base_url_option, need_base_url


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--store",
    metavar="STORE",
    envvar="FAQSVC_STORE",
    show_envvar=True,
    help="The setting `store` of the sites: file:DIR or redis://HOST:PORT/DB.",
)
@base_url_option
def forget(slugs: tuple[str, ...], store: str | None, base_url: str | None) -> None:
    """Remove the FAQs SLUG... from the store, and from the memory of every process that shares it.

    The next page fetches these FAQs from the service. Processes that share a directory are updated within
    about a second, and processes that share a Redis at once.

    \b
      faqsvc forget pricing --store file:/var/lib/shop/faqs --base-url https://faq.example.com
    """
    from faqsvc_embed.cache.stores import open_store
    from faqsvc_embed.runtime.background_loop import BackgroundLoop
    from faqsvc_embed.settings import Settings

    silence_log()
    if not store:
        raise failure("no store is set: use --store or set FAQSVC_STORE, such as file:/var/lib/shop/faqs")
    opened = open_store(Settings(base_url=need_base_url(base_url), store=store))
    assert opened is not None  # noqa: S101  # because `store` is set
    loop = BackgroundLoop()
    try:
        for slug in slugs:
            opened.mark_invalid(slug, datetime.now(UTC))
            if not loop.submit(opened.invalidate()).result():
                raise failure(f"{slug!r} is not forgotten: the store cannot be written")
    finally:
        loop.close()
