"""Notices a wall clock that has jumped: what it makes overdue must not be deleted at once."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from faqsvc_embed.service.storage.schema import wall_clock

STEADY: Final = timedelta(days=1)
"""How long the clock must have run without a jump. A longer step is a jump."""


def is_steady(connection: Connection, now: datetime) -> bool:
    """Record the time, and return whether the clock has run for a day without a jump.

    A service that did not run for a day cannot tell that from a jump, so it waits for a day as well.
    """
    row = connection.execute(select(wall_clock).with_for_update()).first()
    has_jumped = row is None or not timedelta(0) <= now - row.seen <= STEADY
    since = now if row is None or has_jumped else row.since
    connection.execute(delete(wall_clock))
    connection.execute(insert(wall_clock), {"since": since, "seen": now})
    return bool(now - since >= STEADY)
