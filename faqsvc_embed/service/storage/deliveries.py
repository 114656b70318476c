"""Records which changes were delivered to a webhook, and which process delivers the next ones."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, select, update

from faqsvc_embed.service.storage.database import Database, insert_new
from faqsvc_embed.service.storage.schema import last_event, webhooks

MAX_CLAIM: Final = timedelta(minutes=10)
"""A time longer than any claim."""


class Deliveries:
    """The deliveries to one URL. The database has only its digest, because it may contain a password."""

    def __init__(self, database: Database, clock: Callable[[], datetime], url: str) -> None:
        self._database = database
        self._clock = clock
        self._digest = hashlib.sha256(url.encode()).hexdigest()
        self._owner = ""

    def begin(self) -> None:
        """Start with the next change, or where earlier deliveries to this URL have ended."""
        self._owner = secrets.token_hex(8)  # chosen here, because a server may fork before
        with self._database.writing() as connection:
            last = connection.scalar(select(last_event.c.number)) or 0
            insert_new(connection, webhooks, {"digest": self._digest, "delivered": last})

    def are_due(self) -> bool:
        """Return whether there are changes to deliver, by this process or another one."""
        query = select(webhooks.c.delivered < select(last_event.c.number).scalar_subquery())
        with self._database.reading() as connection:
            return bool(connection.scalar(query.where(webhooks.c.digest == self._digest)))

    def claim(self, seconds: float) -> int | None:
        """Let only this process deliver for `seconds`; return the number of the last delivered change.

        Returns None if another process delivers.
        """
        now, columns = self._clock(), webhooks.c
        is_free = columns.owner.is_(None) | (columns.owner == self._owner) | (columns.owned_until < now)
        is_free |= columns.owned_until > now + MAX_CLAIM  # made by a clock that was ahead
        claimed = update(webhooks).where(self._is_mine(), is_free)
        values = {"owner": self._owner, "owned_until": now + timedelta(seconds=seconds)}
        with self._database.writing() as connection:
            delivered = connection.scalar(claimed.values(values).returning(columns.delivered))
        return None if delivered is None else int(delivered)

    def advance(self, number: int) -> None:
        """Record that the changes up to a number were delivered."""
        mine = update(webhooks).where(self._is_mine(), webhooks.c.delivered < number)
        with self._database.writing() as connection:
            connection.execute(mine.values(delivered=number))

    def release(self) -> None:
        """Let another process deliver."""
        with self._database.writing() as connection:
            mine = update(webhooks).where(self._is_mine(), webhooks.c.owner == self._owner)
            connection.execute(mine.values(owner=None))

    def _is_mine(self) -> ColumnElement[bool]:
        return webhooks.c.digest == self._digest
