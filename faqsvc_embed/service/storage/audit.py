"""The audit log: who did what, and when. Entries are only added, and name no text."""

from datetime import datetime
from typing import Final, Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select

from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import audit_log, people
from faqsvc_embed.service.storage.values import Access

Action = Literal[
    "draft",
    "publish",
    "unpublish",
    "purge",
    "restore",
    "sign-in",
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
"""Who runs a command on the database."""


class Entry(NamedTuple):
    """One entry: by a key, by a person, or by the operator if both are None. What does not apply is None.

    `person` is the email address or, without one, the name. `subject` is the key, the person or the site that
    was changed.
    """

    at: datetime
    action: str
    key_id: str | None
    person: str | None
    slug: str | None
    lang: str | None
    revision: int | None
    subject: str | None


class AuditLog:
    """Reads the log. Whoever changes something adds an entry in the same transaction, by `log`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(
        self, site: str | None = None, *, limit: int | None = None, **wanted: str | None
    ) -> list[Entry]:
        """Return the entries of a site, or of all sites, newest first.

        `wanted` are the values of fields of an `Entry`, such as `key_id`, `person` or `slug`; None is any. A
        key is also found where it is the subject.
        """
        query = select(*(audit_log.c[name] for name in Entry._fields)).order_by(audit_log.c.number.desc())
        if site is not None:
            query = query.where(audit_log.c.site == site)
        for name, value in wanted.items():
            if value is not None:
                query = query.where(audit_log.c[name] == value)
        with self._database.reading() as connection:
            return [Entry(*row) for row in connection.execute(query.limit(limit))]


def log(
    connection: Connection,
    access: Access,
    action: Action,
    at: datetime,
    **what: str | int | None,
) -> None:
    """Add an entry; `what` are `site`, `slug`, `lang`, `revision` and `subject`, as far as they apply."""
    person = None
    if access.person_id is not None:
        name = func.coalesce(people.c.email, people.c.name)
        person = connection.scalar(select(name).where(people.c.id == access.person_id))
    who = {"site": access.site or None, "key_id": access.key_id, "person": person}
    connection.execute(insert(audit_log), {**who, "action": action, "at": at, **what})
