"""The audit log: who did what, and when. Entries are only added, and contain no texts of FAQs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select

from faqsvc_embed.service.storage.database import Part
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


class AuditLog(Part):
    """Reads the log. Each change adds an entry in the same transaction, with `log`."""

    def entries(self, wanted: Wanted, *, limit: int | None = None, before: int | None = None) -> list[Entry]:
        """Return entries, newest first: up to `limit`, and only those with numbers below `before`."""
        columns = audit_log.c
        query = select(*(columns[name] for name in Entry._fields))
        if wanted.site is not None:
            # With a key, a person or an FAQ, the index of those is the right one.
            is_all = wanted == Wanted(wanted.site)
            query = query.where((columns.site if is_all else func.coalesce(columns.site, "")) == wanted.site)
        if wanted.slug is not None:
            query = query.where(columns.slug == wanted.slug)
        person = wanted.person
        if person is not None and "@" in person:
            person = person.strip().lower()
        if before is not None:
            query = query.where(columns.number < before)
        queries = [query]
        for column, value in ((columns.key_id, wanted.key), (columns.person, person)):
            if value is not None:
                # Two queries by an index each: with OR, all that somebody ever did would be sorted.
                queries = [one.where(by == value) for one in queries for by in (column, columns.subject)]
        last = (one.order_by(columns.number.desc()).limit(limit) for one in queries)
        with self._database.browsing() as connection:
            found = {row.number: Entry(*row) for one in last for row in connection.execute(one)}
        return [found[number] for number in sorted(found, reverse=True)][:limit]


def log(
    connection: Connection,
    access: Access,
    action: Action,
    at: datetime,
    **what: str | int | None,
) -> None:
    """Add an entry; `what` may have `site`, `slug`, `lang`, `revision` and `subject`."""
    person = select(NAME).where(people.c.id == access.person_id).scalar_subquery()
    who: dict[str, Any] = {"site": access.site or None, "key_id": access.key_id}
    who |= {"person": None if access.person_id is None else person}
    connection.execute(insert(audit_log).values({**who, "action": action, "at": at, **what}))
