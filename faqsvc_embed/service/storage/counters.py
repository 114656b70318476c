"""What is counted for a site: its FAQs, the bytes of their history, and the writes of the last minute."""

from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection, and_, case, update

from faqsvc_embed.service.storage.schema import sites
from faqsvc_embed.service.storage.values import Access, Quota, QuotaExceeded, TooManyWrites

_MINUTE: Final = 60_000_000
"""In microseconds."""


class Added(NamedTuple):
    """The FAQs and the bytes that a transaction adds to a site."""

    faqs: int = 0
    bytes: int = 0


def add(connection: Connection, access: Access, quota: Quota, added: Added, now: datetime) -> None:
    """Count a write of a key or a person, and what it adds; this locks the row of the site.

    Writes are counted by the generic cell rate algorithm: those of a minute may come in one burst.

    Raises:
        QuotaExceeded: the site has no room for what is added.
        TooManyWrites: there were too many writes in the last minute.
    """
    columns, time = sites.c, round(now.timestamp() * 1_000_000)
    values = {"faq_count": columns.faq_count + added.faqs, "byte_count": columns.byte_count + added.bytes}
    if quota.writes is not None and (access.key_id or access.person_id):
        # A later time was written by a wrong clock.
        is_ahead = and_(columns.write_arrival > time, columns.write_arrival <= time + _MINUTE)
        last = case((is_ahead, columns.write_arrival), else_=time)
        values["write_arrival"] = last + _MINUTE // quota.writes
    returned = (
        columns.faq_count,
        columns.byte_count,
        columns.max_faqs,
        columns.max_bytes,
        columns.write_arrival,
    )
    mine = update(sites).where(columns.id == access.site).values(values)
    row = connection.execute(mine.returning(*returned)).first()
    if row is None:  # the operator, for all sites
        return
    if "write_arrival" in values and (wait := row.write_arrival - time - _MINUTE) > 0:
        raise TooManyWrites(f"The site may write {quota.writes} times in a minute", wait / 1_000_000)
    for size, count, limit, unit in (
        (added.faqs, row.faq_count, row.max_faqs or quota.faqs, "FAQs"),
        (added.bytes, row.byte_count, row.max_bytes or quota.bytes, "bytes"),
    ):
        if size > 0 and limit is not None and count > limit:
            raise QuotaExceeded(f"The site may have {limit} {unit}; deleting FAQs with purge=now makes room")
