"""Idempotency keys: a repeated POST publishes nothing, and gets the response of the first one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, delete, select, update

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import quoted
from faqsvc_embed.service.storage.database import insert_new
from faqsvc_embed.service.storage.revisions import of_translation, select_revisions
from faqsvc_embed.service.storage.schema import idempotency_keys, revisions
from faqsvc_embed.service.storage.values import Gone, IdempotencyKey, IdempotencyKeyReused, Revision

WINDOW: Final = timedelta(hours=24)
"""How long an Idempotency-Key is remembered."""


def claim(connection: Connection, site: str, key: IdempotencyKey, now: datetime) -> Revision | None:
    """Return the revision that a site wrote with this key; None if this is the first use of the key.

    If two requests arrive at once, one waits at the INSERT for the transaction of the other.

    Raises:
        IdempotencyKeyReused: the key was used with another body.
        Gone: the FAQ was purged.
    """
    keys = idempotency_keys.c
    if is_first(connection, site, key, now):
        return None
    mine = (keys.site == site, keys.key == key.key)
    earlier = connection.execute(select(idempotency_keys).where(*mine)).one()
    if earlier.body_digest != key.body_digest:
        raise IdempotencyKeyReused(
            f"Idempotency-Key {quoted(key.key)} was used with a different body", earlier.slug, earlier.lang
        )
    written = (of_translation(earlier.slug, earlier.lang), revisions.c.number == earlier.number)
    row = connection.execute(select_revisions(*written, has_record=False)).first()
    if row is None or row.binned_at is not None:
        raise Gone(f"The FAQ {quoted(earlier.slug)}, which this Idempotency-Key wrote, was deleted")
    return Revision(*row)


def is_first(connection: Connection, site: str, key: IdempotencyKey, now: datetime) -> bool:
    """Remember a key, and return whether it was not used before."""
    connection.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < now - WINDOW))
    row = {"site": site, "key": key.key, "body_digest": key.body_digest, "created_at": now}
    return insert_new(connection, idempotency_keys, row | {"slug": "", "lang": "", "number": 0})


def record(connection: Connection, site: str, key: IdempotencyKey, written: Revision) -> None:
    """Record the revision that was written with a key."""
    keys = idempotency_keys.c
    connection.execute(
        update(idempotency_keys)
        .where(keys.site == site, keys.key == key.key)
        .values(slug=written.slug, lang=written.lang, number=written.number)
    )


def forget_revisions(connection: Connection, slug: str, languages: Sequence[Lang], now: datetime) -> None:
    """Detach keys from deleted revisions, because later revisions get the same numbers.

    `claim` handles expired keys, so that the two do not wait for each other.
    """
    keys = idempotency_keys.c
    mine = (keys.slug == slug, keys.lang.in_(languages), keys.created_at >= now - WINDOW)
    connection.execute(update(idempotency_keys).where(*mine).values(number=0))
