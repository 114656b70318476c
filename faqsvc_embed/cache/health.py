"""The state of each FAQ, for a health page."""

from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from faqsvc_embed.cache.entries import Entry

if TYPE_CHECKING:
    from faqsvc_embed.files.folder import FAQFile


class Health(TypedDict):
    """The state of one FAQ, for a health page; times in seconds."""

    slug: str
    lang: str | None
    freshness: str
    """`fresh`, `stale`, `expired` (older than `keep_for`), `missing` (404, 410) or `failed`."""
    age: float | None
    error: str | None
    next_try_in: float | None


def health_of_file(file: "FAQFile") -> Health:
    """Return the state of a file in a folder."""
    return Health(
        slug=file.slug,
        lang=file.lang,
        freshness="fresh" if file.faq is not None else "failed",
        age=None,
        error="; ".join(map(str, file.problems)) or None,
        next_try_in=None,
    )


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
