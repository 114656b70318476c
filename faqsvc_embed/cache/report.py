"""Counts look-ups and fetches for metrics, and logs them."""

from collections import Counter
from collections.abc import Callable
from typing import TypedDict

from faqsvc_embed.api.responses import Failed, Outcome
from faqsvc_embed.cache.entry import Entry, Moment
from faqsvc_embed.errors import FAQError, FAQNotFound, FAQTimeout, FAQUnavailable, InvalidFAQ, quoted
from faqsvc_embed.models import FAQState
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import LogOnce, LogThrottle, logger, origin_of


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


Listener = Callable[[Entry], object]


class Reporter:
    """Reports the look-ups and fetches of one embed in this process.

    A look-up that finds a fresh record is not reported, so that it costs nothing. Unknown FAQs share one line
    of the log per minute, because visitors can invent slugs.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._once = LogOnce()
        self._unknown = LogThrottle()
        self._failing = LogThrottle()
        self._late = LogThrottle()
        self.after_fork()
        fork.register(self)

    def after_fork(self) -> None:
        """Reset the counts in a forked child, because the parent reports its own."""
        self.lookups: dict[str, int] = dict.fromkeys(("fetched", "stale", "degraded", "missing"), 0)
        """Look-ups that did not find a fresh record, by result.

        `fetched`: the caller waited for the source, and got a record. `stale`: a record that was being
        refreshed. `degraded`: a record whose last refresh failed. `missing`: nothing.
        """
        self.expired_waits: int = 0
        """How often a caller stopped waiting for an FAQ before it arrived."""
        self.fetch_errors: Counter[str] = Counter()
        """Failed fetches by kind."""

    def listen(self, listener: Listener) -> None:
        """Call `listener` with the cache entry after each fetch. An exception in it is logged once."""
        self._listeners += (listener,)

    def count_look_up(self, state: FAQState) -> FAQState:
        """Count a state that was not fresh in memory, folder or store, and return it."""
        if state.data is None:
            self.lookups["missing"] += 1
        elif state.is_degraded:
            self.lookups["degraded"] += 1
        elif state.is_stale:
            self.lookups["stale"] += 1
        elif state.source == "network":
            self.lookups["fetched"] += 1
        return state

    def report(self, before: Entry | None, after: Entry, outcome: Outcome | None) -> None:
        """Report how a fetch changed an entry; `outcome` is None if its record came from the store."""
        self._log(before, after)
        was_sent = not isinstance(outcome, Failed) or outcome.was_sent
        if after.error is not None and not after.is_missing and was_sent:
            self.fetch_errors[error_kind(after.error)] += 1
        for listener in self._listeners:
            try:
                listener(after)
            except Exception as error:
                self._once.error(origin_of(error), "the work after a fetch failed", error=error)

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

    def late(self, slug: object, wait: float) -> FAQUnavailable:
        """Report that an FAQ did not arrive in time, and return the error."""
        self._late.warning(
            "FAQ %s did not arrive within %g s; pages lack it until it arrives", quoted(slug), wait
        )
        return FAQUnavailable(
            f"FAQ {quoted(slug)} did not arrive within {wait:g} s (the setting wait); later pages show it. "
            "Use prefetch() to fetch it before the first page"
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
