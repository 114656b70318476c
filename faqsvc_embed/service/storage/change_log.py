"""The published changes, in the order in which they were committed."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, func, select

from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import events, last_event, sites

MAX_EVENTS: Final = 10_000
"""Changes that are kept. A reader who has missed more must read everything again."""


class LoggedChange(NamedTuple):
    """One change; without a revision, the translation was unpublished."""

    number: int
    slug: str
    lang: str
    revision: int | None
    created_at: datetime


class ChangeLog:
    """Reads the log. The writer adds each change to it in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self) -> int:
        """Return the number of the last change, 0 if there was none."""
        with self._database.reading() as connection:
            return int(connection.scalar(select(last_event.c.number)) or 0)

    def version(self) -> tuple[int, str | None]:
        """Return a value that changes with every published change, and with the sites that are listed."""
        listed = select(func.aggregate_strings(sites.c.id, ",")).where(sites.c.listed).scalar_subquery()
        with self._database.reading() as connection:
            number, ids = connection.execute(select(last_event.c.number, listed)).one()
        return number, ids

    def kept(self) -> tuple[int, int]:
        """Return the numbers of the oldest kept change and of the last change.

        If no change is kept, the first is the number of the next change.
        """
        with self._database.reading() as connection:
            first = connection.scalar(select(func.min(events.c.number)))
            last = int(connection.scalar(select(last_event.c.number)) or 0)
        return last + 1 if first is None else int(first), last

    def of(self, slugs: Collection[str], after: int, limit: int) -> list[LoggedChange]:
        """Return the first changes of some slugs after a number, in order."""
        return self._read(limit, events.c.number > after, events.c.slug.in_(slugs))

    def after(self, number: int, limit: int = MAX_EVENTS) -> list[LoggedChange]:
        """Return the changes after a number, in order."""
        return self._read(limit, events.c.number > number)

    def _read(self, limit: int, *conditions: ColumnElement[bool]) -> list[LoggedChange]:
        query = select(*(events.c[name] for name in LoggedChange._fields)).where(*conditions)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(events.c.number).limit(limit))
            return [LoggedChange(*row) for row in rows]
