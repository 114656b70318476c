"""What several commands have: options, the client that they ask for, a bar of progress."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import LANGUAGES, lookup

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient

T = TypeVar("T")


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
    """Return the address of the service; one that is missing or can be none is a mistake of usage."""
    from faqsvc_embed.settings import Settings

    if not base_url:
        raise click.UsageError(
            "Which service? Give --base-url, or set FAQSVC_BASE_URL, such as https://faq.example.com"
        )
    try:
        return Settings(base_url=base_url).base_url
    except ConfigurationError as error:
        raise click.BadParameter(str(error), param_hint="--base-url") from None


def open_client(base_url: str | None, **settings: Any) -> "FAQClient":
    """Return a client of the service at `base_url`, with its key from the environment."""
    from faqsvc_embed.client import FAQClient
    from faqsvc_embed.settings import Settings

    return FAQClient(settings=Settings.from_env(base_url=need_base_url(base_url), **settings))


def open_reader(base_url: str | None) -> "FAQClient":
    """Return a client that only reads: without the key, so that one that cannot be stops nobody."""
    return open_client(base_url, api_key=None)


def progress(values: Sequence[T], label: str) -> AbstractContextManager[Iterable[T]]:
    """Return a context that lends `values`: with a bar on standard error, if there are many and one looks."""
    if len(values) < 2 or not sys.stderr.isatty():
        return nullcontext(values)
    bar = click.progressbar(values, label=label, file=sys.stderr)
    return cast("AbstractContextManager[Iterable[T]]", bar)
