"""Counts look-ups and fetches for metrics, logs them, and tells the host's listeners."""

from typing import Final, TypedDict

import msgspec

from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.entry import Entry, Moment
from faqsvc_embed.errors import FAQError, FAQNotFound, FAQTimeout, FAQUnavailable, InvalidFAQ, quoted
from faqsvc_embed.events import FAQEvent, Listener, Result
from faqsvc_embed.models import FAQState
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import LogThrottle, logger

IN_USE: Final = 300.0
"""Seconds since its last look-up for which an FAQ counts as in use. The age of other FAQs is ignored."""
FRESHNESS: Final = ("fresh", "stale", "expired", "missing", "failed")


class Health(TypedDict):
    """The state of one FAQ, for a health page; times in seconds."""

    slug: str
    lang: str | None
    freshness: str
    """`fresh`, `stale`, `expired` (older than `keep_for`), `missing` (404, 410) or `failed`."""
    age: float | None
    error: str | None
    next_try_in: float | None


def health_of(entry: Entry, at: Moment) -> Health:
    """Return the state of an entry."""
    times = [time - at.now for time in (entry.fresh_until, entry.retry_at) if time > at.now]
    return Health(
        slug=entry.key.slug,
        lang=entry.key.lang,
        freshness=entry.freshness(at.now),
        age=entry.age(at.wall),
        error=None if entry.error is None else str(entry.error),
        next_try_in=max(times, default=None),
    )


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


class Reporter:
    """Reports the look-ups and fetches of one embed in this process.

    A look-up that finds a fresh record is not reported, so that it costs nothing. Unknown FAQs share one line
    of the log per minute, because visitors can invent slugs.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._failed: tuple[Listener, ...] = ()
        """The listeners that have raised an exception."""
        self._unknown = LogThrottle()
        self._failing = LogThrottle()
        self._rejected = LogThrottle()
        self._late = LogThrottle()
        self.after_fork()
        fork.register(self)

    def after_fork(self) -> None:
        """Reset the counts in a forked child, because the parent reports its own."""
        self._lookups = dict.fromkeys(("fetched", "stale", "degraded", "missing"), 0)
        self._expired_waits = 0
        self._fetch_errors: dict[str, int] = {}
        self._unsent = 0

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every event from now on. An exception in it is logged once."""
        self._listeners += (listener,)

    def count_look_up(self, state: FAQState) -> FAQState:
        """Count a state that was not fresh in memory, folder or store, and return it."""
        if state.data is None:
            self._lookups["missing"] += 1
        elif state.is_degraded:
            self._lookups["degraded"] += 1
        elif state.is_stale:
            self._lookups["stale"] += 1
        elif state.source == "network":
            self._lookups["fetched"] += 1
        return state

    def count_expired_wait(self) -> None:
        """Count a caller that stopped waiting for an FAQ before it arrived."""
        self._expired_waits += 1

    def report(self, before: Entry | None, after: Entry, outcome: Outcome | None, seconds: float) -> None:
        """Report how a fetch changed an entry; `outcome` is None if its record came from the store."""
        self._log(before, after)
        result = _result(before, after, outcome)
        was_sent = not isinstance(outcome, Failed) or outcome.was_sent
        if result == "failed" and not was_sent:
            self._unsent += 1
        elif result == "failed" and after.error is not None:
            kind = error_kind(after.error)
            self._fetch_errors[kind] = self._fetch_errors.get(kind, 0) + 1
        event = FAQEvent(after.key.slug, after.key.lang, result, seconds, after.error, was_sent)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:
                if listener not in self._failed:
                    self._failed += (listener,)
                    logger.error("a listener for FAQ events raised %r", error, exc_info=error)

    def _log(self, before: Entry | None, after: Entry) -> None:
        had_failed = before is not None and before.error is not None
        if after.error is None:
            if had_failed:
                logger.info("FAQ %r: available again", after.key.slug)
        elif after.faq is not None:
            if not had_failed:
                logger.warning("%s; its cached record is shown", _about(after))
        elif before is not None and before.faq is not None:
            logger.warning("%s; it is no longer shown", _about(after))
        elif not had_failed:
            throttle = self._unknown if isinstance(after.error, FAQNotFound) else self._failing
            lang = "" if after.key.lang is None else f" in {after.key.lang!r}"
            # The message does not say what pages show, because they may show a translation.
            throttle.warning("%s; no record is cached%s", _about(after), lang)

    def rejected(self, error: FAQError) -> None:
        """Report a fetch that was not started."""
        self._rejected.warning("%s", error)

    def late(self, slug: object, wait: float) -> FAQUnavailable:
        """Report that an FAQ did not arrive in time, and return the error."""
        self._late.warning(
            "FAQ %s did not arrive within %g s; pages lack it until it arrives", quoted(slug), wait
        )
        return FAQUnavailable(
            f"FAQ {quoted(slug)} did not arrive within {wait:g} s (the setting wait); later pages show it. "
            "Use prefetch() to fetch it before the first page"
        )

    def statistics(
        self, entries: list[Entry], at: Moment, *, is_waiting: bool, feed_lag: float | None
    ) -> Statistics:
        """Return the counts, and the state of the cache at this time."""
        records = dict.fromkeys(FRESHNESS, 0)
        for entry in entries:
            records[entry.freshness(at.now)] += 1
        ages = [entry.age(at.wall) for entry in entries if at.now - entry.used_at <= IN_USE]
        return Statistics(
            lookups=dict(self._lookups),
            expired_waits=self._expired_waits,
            fetch_errors=dict(self._fetch_errors),
            unsent=self._unsent,
            records=records,
            oldest_age=max((age for age in ages if age is not None), default=None),
            feed_lag=feed_lag,
            is_waiting=is_waiting,
        )


def error_kind(error: FAQError) -> str:
    """Return the kind of an error: `timeout`, `connection`, `invalid`, or the HTTP status."""
    if isinstance(error, FAQTimeout):
        return "timeout"
    if isinstance(error, InvalidFAQ):
        return "invalid"
    return "connection" if error.status is None else str(error.status)


def _about(entry: Entry) -> str:
    """Return the error of an entry, after the name of the FAQ if the error does not name it."""
    message = str(entry.error) or type(entry.error).__name__
    return message if repr(entry.key.slug) in message else f"FAQ {entry.key.slug!r}: {message}"


def _result(before: Entry | None, after: Entry, outcome: Outcome | None) -> Result:
    if isinstance(outcome, Gone):
        return "gone"
    if isinstance(outcome, NotFound) and after.faq is None:
        return "not_found"
    if after.error is not None:
        return "failed"
    if before is not None and before.error is not None:
        return "recovered"
    return "fetched" if isinstance(outcome, Fetched) else "not_modified"
