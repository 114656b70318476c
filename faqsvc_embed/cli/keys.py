"""`faqsvc keys`: the API keys of a service."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.options import database_option, json_option, open_existing, open_or_create, site_option
from faqsvc_embed.cli.output import fields_of_row, print_result

if TYPE_CHECKING:
    from faqsvc_embed.service.storage import APIKeyInfo

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def _duration(_: click.Context, __: click.Parameter, value: str) -> timedelta:
    if value != "0" and re.fullmatch(r"[1-9][0-9]{0,4}[mhd]", value) is None:
        raise click.BadParameter(f"{value!r} is not a duration such as 30m, 24h or 7d")
    return timedelta(0) if value == "0" else int(value[:-1]) * _UNITS[value[-1]]


@click.group()
def keys() -> None:
    """Create, list, rotate and revoke API keys. FAQs belong to the site of a key, not to the key.

    \b
      export FAQSVC_API_KEY=$(faqsvc keys create --name website)
      faqsvc keys list
      faqsvc keys rotate 1a2b3c4d --overlap 24h
      faqsvc keys revoke 1a2b3c4d
    """


@keys.command("create")
@database_option
@click.option("--name", default="", help="Purpose of the key; `keys list` and the history show it.")
@site_option
@click.option(
    "--scope",
    type=click.Choice(["read", "draft", "publish"]),
    default="publish",
    show_default=True,
    help="Permissions of the key: read drafts and history, write drafts, or everything.",
)
def create_key(database: str, name: str, site: str | None, scope: Any) -> None:
    """Create an API key and print it. Only its digest is stored, so it cannot be shown again."""
    _print_key(open_or_create(database).keys.create(name, site=site, scope=scope))


@keys.command("list")
@database_option
@json_option
def list_keys(database: str, as_json: bool) -> None:
    """Print one line for each key, beginning with its id."""
    found = open_existing(database).keys.list()
    print_result(as_json, list(map(fields_of_row, found)), map(_columns, found))


@keys.command("rotate")
@database_option
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap",
    metavar="DURATION",
    callback=_duration,
    default="0",
    help="How long the old key stays valid, such as 30m, 24h or 7d. Default: it becomes invalid at once.",
)
def rotate_key(database: str, key_id: str, overlap: timedelta) -> None:
    """Replace the key ID, and print the new key.

    The new key has the same site, name and scope.
    """
    _print_key(open_existing(database).keys.rotate(key_id, overlap=overlap))


@keys.command("revoke")
@database_option
@click.argument("key_id", metavar="ID")
@click.option(
    "--with-children",
    is_flag=True,
    help="Also revoke the keys that it created, and all previews of its site.",
)
def revoke_key(database: str, key_id: str, with_children: bool) -> None:
    """Revoke the key ID. FAQs that were published with it are not changed: see `faqsvc log --key ID`."""
    open_existing(database).keys.revoke(key_id, with_children=with_children)


def _print_key(key: str) -> None:
    try:
        click.echo(key)
    except OSError as error:
        raise failure(
            f"the key ...{key[-4:]} was created, but cannot be printed ({error.strerror}), so nobody has it:"
            " revoke it with `faqsvc keys revoke ID`; `faqsvc keys list` prints the ID"
        ) from error


def _columns(key: "APIKeyInfo") -> tuple[str, ...]:
    used = f"used {key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never used"
    rest = (
        f"expires {key.expires_at:%Y-%m-%d %H:%M}" if key.expires_at else "",
        f"revoked {key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else "",
        f"by {key.maker}" if key.maker else "",
        key.name,
    )
    created, end = f"created {key.created_at:%Y-%m-%d %H:%M}", ", ".join(filter(None, rest))
    return key.id, f"...{key.ending}", f"site {key.site}", key.scope, created, used, end
