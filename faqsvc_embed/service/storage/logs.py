"""The audit log, which says who did what and when, and the change log, which says what was published."""

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from faqsvc_embed.service.storage.database import StoragePart, number_after, paged
from faqsvc_embed.service.storage.schema import audit_log, events, last_event, people, sites
from faqsvc_embed.service.storage.values import Access

Action = Literal[
    "draft",
    "discard",
    "publish",
    "unpublish",
    "purge",
    "restore",
    "sign-in",
    "sign-in-link",
    "key-create",
    "key-rotate",
    "key-revoke",
    "person-create",
    "person-set",
    "person-remove",
    "site-create",
    "site-set",
    "site-remove",
]
OPERATOR: Final = Access(None, "")
"""The person who runs a command on the database."""
NAME: Final = func.coalesce(people.c.email, people.c.name)
"""How the log names a person."""


class Entry(NamedTuple):
    """One entry: by a key, by a person, or by the operator if both are None. Other fields may be None, too.

    `person` is the email address or, without one, the name. `subject` is the key, the person or the site that
    was changed; `bin` if an FAQ was moved there or restored from there, and `slug` if a purged slug was
    allowed again.
    """

    number: int
    at: datetime
    action: str
    key_id: str | None
    person: str | None
    slug: str | None
    lang: str | None
    revision: int | None
    subject: str | None


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """A filter of entries; None means any. A key or a person selects its actions and changes of it."""

    site: str | None = None
    key: str | None = None
    person: str | None = None
    slug: str | None = None


class AuditLog(StoragePart):
    """Reads the log. Each change adds an entry in the same transaction, with `log`."""

    def entries(
        self, wanted: EntryFilter, *, limit: int, after: str | None = None
    ) -> tuple[list[Entry], str | None]:
        """Return entries, newest first, and the cursor of the next page; None at the end."""
        columns = audit_log.c
        query = select(*(columns[name] for name in Entry._fields))
        if wanted.site is not None:
            # With `coalesce`, the database uses the index of a key, a person or an FAQ, not that of sites.
            is_all = wanted == EntryFilter(wanted.site)
            query = query.where((columns.site if is_all else func.coalesce(columns.site, "")) == wanted.site)
        if wanted.slug is not None:
            query = query.where(columns.slug == wanted.slug)
        person = wanted.person
        if person is not None and "@" in person:
            person = person.strip().lower()
        if (number := number_after(after)) is not None:
            query = query.where(columns.number < number)
        queries = [query]
        for column, value in ((columns.key_id, wanted.key), (columns.person, person)):
            if value is not None:
                # Two queries, each with its index: with OR, the database sorts all entries of the actor.
                queries = [one.where(by == value) for one in queries for by in (column, columns.subject)]
        last = (one.order_by(columns.number.desc()).limit(limit + 1) for one in queries)
        found = {row.number: Entry(*row) for one in last for row in self._rows(one)}
        newest = [found[number] for number in sorted(found, reverse=True)]
        return paged(newest, limit, lambda entry: entry.number)


def log(
    connection: Connection, access: Access, action: Action, at: datetime, **what: str | int | None
) -> None:
    """Add an entry; `what` may have `site`, `slug`, `lang`, `revision` and `subject`."""
    person = select(NAME).where(people.c.id == access.person_id).scalar_subquery()
    who = {"site": access.site or None, "key_id": access.key_id, "person": access.person_id and person}
    connection.execute(insert(audit_log).values({**who, "action": action, "at": at, **what}))


MAX_EVENTS: Final = 10_000
"""Maximum number of changes in the log. A reader who has missed more must read all records again."""
_DIGITS: Final = 15
"""Maximum digits of the number of a change in an event id."""


class Position(NamedTuple):
    """The end of the log: the number of the last change, and the epoch, which restores and imports change.

    `at` is the time of that change, or None if it is no longer kept. It shows that a number is that of
    another change: a fail-over may lose changes, whose numbers are then used again.
    """

    number: int
    epoch: str | None = None
    at: datetime | None = None

    def event_id(self, number: int | None = None) -> str:
        """Return the id of an event of this epoch, by default the last one: a number of up to 25 digits."""
        epoch = zlib.crc32(self.epoch.encode()) if self.epoch else 0
        return str(epoch * 10**_DIGITS + (self.number if number is None else number))

    def number_of(self, event_id: str) -> int | None:
        """Return the number of a change by the id of its event; None if it is not one of this epoch."""
        digits = event_id[-_DIGITS:]
        number = int(digits) if digits.isascii() and digits.isdecimal() else 0
        return number if event_id == self.event_id(number) else None


class LoggedChange(NamedTuple):
    """One change; without a revision, the translation was unpublished."""

    number: int
    slug: str
    lang: str
    revision: int | None
    created_at: datetime


class ChangeLog(StoragePart):
    """Reads the log. The writer adds each change to it in the same transaction."""

    def version(self) -> tuple[Position, str | None]:
        """Return the end of the log, and a value that changes with the sites that are listed."""
        # In order, because a row of PostgreSQL moves whenever it is written.
        ordered = select(sites.c.id).where(sites.c.listed).order_by(sites.c.id).subquery()
        listed = select(func.aggregate_strings(ordered.c.id, ",")).scalar_subquery()
        at = select(events.c.created_at).where(events.c.number == last_event.c.number).scalar_subquery()
        [(*position, ids)] = self._rows(select(last_event.c.number, last_event.c.epoch, at, listed))
        return Position(*position), ids

    def after(
        self, number: int, limit: int = MAX_EVENTS, slugs: Collection[str] | None = None
    ) -> list[LoggedChange]:
        """Return the first changes after a number, of some slugs or of all, in order."""
        query = select(*(events.c[name] for name in LoggedChange._fields)).where(events.c.number > number)
        if slugs is not None:
            query = query.where(events.c.slug.in_(slugs))
        return [LoggedChange(*row) for row in self._rows(query.order_by(events.c.number).limit(limit))]


def append_changes(
    connection: Connection, changes: Sequence[tuple[str, str, int | None]], now: datetime
) -> None:
    """Append changes: slug, language and revision, which is None if the translation was unpublished.

    This locks the end of the log, which all sites share, so it comes last in a transaction.
    """
    if not changes:
        return
    advanced = update(last_event).values(number=last_event.c.number + len(changes))
    last = connection.execute(advanced.returning(last_event.c.number)).scalar_one()
    first = last - len(changes) + 1
    rows = [
        {"number": number, "slug": slug, "lang": lang, "revision": revision, "created_at": now}
        for number, (slug, lang, revision) in enumerate(changes, first)
    ]
    connection.execute(insert(events), rows)
    if last // 100 != (first - 1) // 100:
        connection.execute(delete(events).where(events.c.number <= last - MAX_EVENTS))
