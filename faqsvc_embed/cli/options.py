"""Options of several commands, and the clients and databases that commands use."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click
from click.core import ParameterSource

from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.output import note
from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import Storage

Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


class OptionDecorator(Protocol):
    """Adds an option to a command."""

    def __call__(self, command: Decorated, /) -> Decorated: ...


def _language(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    language = lookup(value) if value is not None else None
    if value is not None and language is None:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(LANGUAGES)}")
    return language


base_url_option: OptionDecorator = click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    callback=lambda _, __, value: value and value.strip(),  # files with variables end lines as Windows does
    help="Address of the FAQ service.",
)
lang_option: OptionDecorator = click.option(
    "--lang", callback=_language, metavar="LANG", help=f"One of {', '.join(LANGUAGES)}; de-CH means de."
)


def format_option(default: str, *others: str, text: str) -> OptionDecorator:
    """Return the option for the output format, `form`, with `--json` as its short form."""

    choice = click.Choice([default, *others])
    by_name = click.option("--format", "form", type=choice, default=default, show_default=True, help=text)
    as_json = click.option("--json", "form", flag_value="json", help="The same as --format json.")

    def add(command: Decorated) -> Decorated:
        return by_name(as_json(command))

    return add


json_option: OptionDecorator = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for scripts."
)
database_option: OptionDecorator = click.option(
    "--database",
    metavar="URL",
    envvar="FAQSVC_DATABASE_URL",
    default="sqlite:///faqsvc.db",
    show_default=True,
    show_envvar=True,
    help="Database with FAQs and keys; an absolute path needs four slashes. "
    "Put an address with a password into the environment variable.",
)

site_option: OptionDecorator = click.option(
    "--site", metavar="ID", help="The site, if there are several; `faqsvc sites list` prints all ids."
)
public_url_option: OptionDecorator = click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    default="http://127.0.0.1:8700",
    show_default=True,
    callback=lambda _, __, value: need_base_url(value.strip()),
    help="Public address of the service.",
)


class FilePath(click.Path):
    """A path that is not empty: an unset variable of a shell would name the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fails if it is empty."""
        if value == "":
            self.fail("'' is not the name of a file", param, ctx)
        return super().convert(value, param, ctx)


def is_url(target: str) -> bool:
    """Return whether an argument is a web address; fails if it is neither that nor an existing file."""
    is_web = target.lower().startswith(("http://", "https://"))
    if not is_web and not os.path.exists(target):
        raise failure(f"{target}: there is no such file; the address of a website begins with https://")
    return is_web


def need_base_url(base_url: str | None) -> str:
    """Return the address of the service; raises UsageError if it is missing or invalid."""
    if not base_url:
        raise click.UsageError(
            "no service: use --base-url or set FAQSVC_BASE_URL, such as https://faq.example.com"
        )
    try:
        return Settings(base_url=base_url).base_url
    except ConfigurationError as error:
        raise click.BadParameter(str(error), param_hint="--base-url") from None


def open_client(base_url: str | None, **settings: Any) -> FAQClient:
    """Return a client of the service at `base_url`, with the API key from the environment."""
    silence_log()
    return FAQClient(settings=Settings.from_env(base_url=need_base_url(base_url), **settings))


def open_existing(url: str) -> "Storage":
    """Open a storage until the command ends; its schema must be current. Nothing is created or changed."""
    from faqsvc_embed.service.storage import read_storage

    storage = read_storage(url)
    click.get_current_context().call_on_close(storage.close)
    return storage


def open_or_create(url: str) -> "Storage":
    """Open a storage until the command ends, and create or upgrade its schema; see `check_named`."""
    from faqsvc_embed.service.storage import open_storage
    from faqsvc_embed.service.storage.database import Database

    check_named(url)
    database = Database(url)
    is_new = not database.exists()
    storage = open_storage(url)
    if is_new:
        note(f"Created the database {database.path}")
    click.get_current_context().call_on_close(storage.close)
    return storage


def check_named(url: str) -> None:
    """Fail if --database or the variable names a file that does not exist: the name may be mistyped."""
    source = click.get_current_context().get_parameter_source("database")
    if source is not ParameterSource.DEFAULT:
        check_exists(url)


def check_exists(url: str) -> None:
    """Fail if the database is a file that does not exist, or is empty."""
    from faqsvc_embed.service.storage.database import Database

    database = Database(url)
    if not database.exists():
        raise failure(
            f"there is no database {database.path!r}, or its file is empty:"
            f" `faqsvc db upgrade --create --database {url}` makes it"
        )
