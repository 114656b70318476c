"""`faqsvc log`: the audit log of a service."""

import json
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.options import database_option, json_option, open_existing, site_option
from faqsvc_embed.cli.output import note, print_text

if TYPE_CHECKING:
    from faqsvc_embed.service.storage.logs import Entry

AT_ONCE = 1000
"""Maximum number of entries that one query reads: a long log in one query would exceed its time limit."""


@click.command()
@database_option
@click.option("--key", metavar="ID", help="Only actions of a key, and changes of it.")
@click.option("--person", metavar="EMAIL", help="Only actions of a person, and changes of that person.")
@click.option("--slug", metavar="SLUG", help="Only actions on an FAQ.")
@site_option
@json_option
def log(
    database: str,
    key: str | None,
    person: str | None,
    slug: str | None,
    site: str | None,
    as_json: bool,
) -> None:
    """Print the audit log, newest first: who did what, and when.

    It records every draft, publication, unpublishing, deletion and restoration, every sign-in, and every
    change of people, keys and sites. It contains no text of an FAQ. A person without an email address is
    identified by name.

    \b
      faqsvc log --key 1a2b3c4d
      faqsvc log --slug pricing
      faqsvc log --person mia@example.com --json | jq -r .action

    With --json, each line is an object.

    Exit status: 0, even if there is no entry; 1 if the log cannot be read.
    """
    storage = open_existing(database)
    from faqsvc_embed.service.storage.logs import EntryFilter

    wanted, printed, after, is_more = EntryFilter(site, key, person, slug), 0, None, True
    while is_more:
        entries, after = storage.audit.entries(wanted, limit=AT_ONCE, after=after)
        for entry in entries:
            print_text(json.dumps(_fields(entry)) if as_json else _line(entry))
        printed, is_more = printed + len(entries), after is not None
    if not printed:  # the id may be mistyped
        named = filter(None, (key and f"key {key}", person, slug))
        note(f"no entries{' for ' if key or person or slug else ''}{', '.join(named)}")


def _fields(entry: "Entry") -> dict[str, Any]:
    by: dict[str, Any] = {"key": entry.key_id} if entry.key_id else {"person": entry.person}
    fields = {
        "at": entry.at.isoformat(),
        "action": entry.action,
        "by": by if entry.key_id or entry.person else {"operator": True},
        "slug": entry.slug,
        "lang": entry.lang,
        "revision": entry.revision,
        "subject": entry.subject,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _line(entry: "Entry") -> str:
    who = f"key {entry.key_id}" if entry.key_id else entry.person or "operator"
    revision = None if entry.revision is None else f"r{entry.revision}"
    what = filter(None, (entry.slug, entry.lang, revision, entry.subject))
    return "  ".join((f"{entry.at:%Y-%m-%d %H:%M:%S}", who, entry.action, *what))
