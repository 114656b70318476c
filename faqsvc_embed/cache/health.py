"""The state of each FAQ, for a health page."""

from datetime import datetime
from typing import TypedDict

from faqsvc_embed.cache.entries import Entry


class Health(TypedDict):
    """The state of one FAQ, for a health page; times in seconds."""

    slug: str
    lang: str | None
    freshness: str
    """`fresh`, `stale`, `expired` (older than `keep_for`), `missing` (404, 410) or `failed`."""
    age: float | None
    error: str | None
    next_try_in: float | None


def health_of(entry: Entry, now: float, wall: datetime) -> Health:
    """Return the state of an entry; `now` and `wall` are the time in both clocks."""
    times = [time - now for time in (entry.fresh_until, entry.retry_at) if time > now]
    return Health(
        slug=entry.key.slug,
        lang=entry.key.lang,
        freshness=entry.freshness(now),
        age=entry.age(wall),
        error=None if entry.error is None else str(entry.error),
        next_try_in=max(times, default=None),
    )
