"""The audit log: who did what, and when. Entries are only added, and contain no texts of FAQs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple

from sqlalchemy import Connection, func, insert, or_, select

from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import audit_log, people
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
class Wanted:
    """A filter of entries; None means any. A key or a person selects its actions and changes of it."""

    site: str | None = None
    key: str | None = None
    person: str | None = None
    slug: str | None = None


class AuditLog:
    """Reads the log. Each change adds an entry in the same transaction, with `log`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, wanted: Wanted, *, limit: int | None = None, before: int | None = None) -> list[Entry]:
        """Return entries, newest first: up to `limit`, and only those with numbers below `before`."""
        columns = audit_log.c
        query = select(*(columns[name] for name in Entry._fields)).order_by(columns.number.desc())
        if wanted.site is not None:
            query = query.where(columns.site == wanted.site)
        if wanted.slug is not None:
            query = query.where(columns.slug == wanted.slug)
        person = wanted.person
        if person is not None and "@" in person:
            person = person.strip().lower()
        for column, value in ((columns.key_id, wanted.key), (columns.person, person)):
            if value is not None:
                query = query.where(or_(column == value, columns.subject == value))
        if before is not None:
            query = query.where(columns.number < before)
        with self._database.reading() as connection:
            return [Entry(*row) for row in connection.execute(query.limit(limit))]


def log(
    connection: Connection,
    access: Access,
    action: Action,
    at: datetime,
    **what: str | int | None,
) -> None:
    """Add an entry; `what` may have `site`, `slug`, `lang`, `revision` and `subject`."""
    person = None
    if access.person_id is not None:
        person = connection.scalar(select(NAME).where(people.c.id == access.person_id))
    who = {"site": access.site or None, "key_id": access.key_id, "person": person}
    connection.execute(insert(audit_log), {**who, "action": action, "at": at, **what})
