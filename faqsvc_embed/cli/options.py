"""Options that several commands have, and the client that they ask for."""

from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.languages import LANGUAGES, lookup

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient


def _language(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    language = lookup(value) if value is not None else None
    if value is not None and language is None:
        raise click.BadParameter(f"{value!r}: one of {', '.join(LANGUAGES)} is accepted")
    return language


base_url_option = click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    help="The address of the FAQ service.",
)
lang_option = click.option(
    "--lang", callback=_language, metavar="LANG", help=f"One of {', '.join(LANGUAGES)}; de-CH asks for de."
)


languages_option = click.option(
    "--lang",
    "langs",
    multiple=True,
    callback=lambda context, option, values: tuple(_language(context, option, value) for value in values),
    metavar="LANG",
    help="A language; may be given several times. By default, every one that there is.",
)


def need_base_url(base_url: str | None) -> str:
    """Return the address of the service; what is missing is a mistake of usage."""
    if not base_url:
        raise click.UsageError(
            "Which service? Give --base-url, or set FAQSVC_BASE_URL, such as https://faq.example.com"
        )
    return base_url


def open_client(base_url: str | None, **settings: Any) -> "FAQClient":
    """Return a client of the service at `base_url`, with its key from the environment."""
    from faqsvc_embed.client import FAQClient

    return FAQClient(need_base_url(base_url), **settings)
