"""Logs changes of an FAQ's state, and notifies the host's listeners of every fetch."""

from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.entries import Entry
from faqsvc_embed.errors import FAQError, FAQNotFound, FAQUnavailable, quoted
from faqsvc_embed.events import FAQEvent, Listeners, Result
from faqsvc_embed.runtime.bounded_log import LogThrottle, logger


class Reporter:
    """Reports fetches. Unknown FAQs share one line per minute, because visitors can invent slugs."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._unknown = LogThrottle()
        self._failing = LogThrottle()
        self._rejected = LogThrottle()
        self._late = LogThrottle()

    def report(self, before: Entry | None, after: Entry, outcome: Outcome | None, seconds: float) -> None:
        """Report how a fetch changed an entry; `outcome` is None if its record came from the store."""
        self._log(before, after)
        result = _result(before, after, outcome)
        was_sent = not isinstance(outcome, Failed) or outcome.was_sent
        event = FAQEvent(after.key.slug, after.key.lang, result, seconds, after.error, was_sent)
        self._listeners.notify(event)

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
            # The message does not say what pages show, because they may show a translation.
            throttle.warning("%s; no record is cached%s", _about(after), _of(after))

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


def _about(entry: Entry) -> str:
    """Return the error of an entry, after the name of the FAQ if the error does not name it."""
    message = str(entry.error) or type(entry.error).__name__
    return message if repr(entry.key.slug) in message else f"FAQ {entry.key.slug!r}: {message}"


def _of(entry: Entry) -> str:
    return "" if entry.key.lang is None else f" in {entry.key.lang!r}"


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
