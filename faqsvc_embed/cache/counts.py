"""Counts the results of look-ups and fetches, for metrics.

A look-up that finds a fresh record is not counted, so that it costs nothing.
"""

from typing import Final, NamedTuple

import msgspec

from faqsvc_embed.cache.entries import Entry, Moment
from faqsvc_embed.errors import FAQError, FAQTimeout, InvalidFAQ
from faqsvc_embed.events import FAQEvent
from faqsvc_embed.models import FAQState
from faqsvc_embed.runtime import fork

IN_USE: Final = 300.0
"""Seconds since its last look-up for which an FAQ counts as in use. The age of other FAQs is ignored."""
FRESHNESS: Final = ("fresh", "stale", "expired", "missing", "failed")


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of an embed since the process started, and the state of its cache; times in seconds."""

    lookups: dict[str, int]
    """Look-ups that did not find a fresh record, by result.

    `fetched`: the caller waited for the source, and got a record. `stale`: a record that was being
    refreshed. `degraded`: a record whose last refresh failed. `missing`: nothing.
    """
    expired_waits: int
    """How often a caller stopped waiting for an FAQ before it arrived."""
    fetch_errors: dict[str, int]
    """Failed fetches by kind: `timeout`, `connection`, `invalid`, or the HTTP status."""
    unsent: int
    """Fetches that failed without a request, because the source did not respond to the last ones."""
    records: dict[str, int]
    """Cached FAQs by freshness, with the words of `health()`."""
    oldest_age: float | None
    """How long ago the source confirmed the oldest record that was looked up in the last 5 minutes."""
    feed_lag: float | None
    """Seconds since the oldest announced change that is not fetched yet; None without a change feed."""
    is_waiting: bool
    """False while pages do not wait for uncached FAQs, because the source does not respond."""


class Signals(NamedTuple):
    """The measurements of a fetcher."""

    is_waiting: bool = True
    feed_lag: float | None = None


class Counts:
    """The counts of one embed in this process."""

    def __init__(self) -> None:
        self.after_fork()
        fork.register(self)

    def after_fork(self) -> None:
        """Reset the counts in a forked child, because the parent reports its own."""
        self.lookups: dict[str, int] = dict.fromkeys(("fetched", "stale", "degraded", "missing"), 0)
        self.expired_waits = 0
        self.fetch_errors: dict[str, int] = {}
        self.unsent: int = 0

    def look_up(self, state: FAQState) -> FAQState:
        """Count a state that was not fresh in memory, and return it."""
        if state.data is None:
            result = "missing"
        elif state.is_degraded:
            result = "degraded"
        elif state.is_stale:
            result = "stale"
        elif state.source == "network":
            result = "fetched"
        else:  # from a folder or a store
            return state
        self.lookups[result] += 1
        return state

    def fetch(self, event: FAQEvent) -> None:
        """Count a fetch that failed."""
        if event.result != "failed" or event.error is None:
            return
        if not event.was_sent:
            self.unsent += 1
            return
        kind = error_kind(event.error)
        self.fetch_errors[kind] = self.fetch_errors.get(kind, 0) + 1

    def statistics(self, entries: list[Entry], at: Moment, signals: Signals) -> Statistics:
        """Return the counts, and the state of the cache at this time."""
        records = dict.fromkeys(FRESHNESS, 0)
        ages = list[float]()
        for entry in entries:
            records[entry.freshness(at.now)] += 1
            if entry.updated_at is not None and at.now - entry.used_at <= IN_USE:
                ages.append(entry.age(at.wall) or 0.0)
        return Statistics(
            lookups=dict(self.lookups),
            expired_waits=self.expired_waits,
            fetch_errors=dict(self.fetch_errors),
            unsent=self.unsent,
            records=records,
            oldest_age=max(ages, default=None),
            feed_lag=signals.feed_lag,
            is_waiting=signals.is_waiting,
        )


def error_kind(error: FAQError) -> str:
    """Return the kind of an error: `timeout`, `connection`, `invalid`, or the HTTP status."""
    if isinstance(error, FAQTimeout):
        return "timeout"
    if isinstance(error, InvalidFAQ):
        return "invalid"
    return "connection" if error.status is None else str(error.status)
