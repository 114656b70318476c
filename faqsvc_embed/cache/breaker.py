"""A circuit breaker: pages do not wait for a source that does not respond."""

import time
from collections.abc import Callable
from typing import Final

from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.api.responses import Failed, Outcome
from faqsvc_embed.cache.entries import BACKOFF_BASE, Key, longest_backoff
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.source import BaseSource, Read
from faqsvc_embed.errors import FAQTimeout, FAQUnavailable
from faqsvc_embed.runtime.bounded_log import logger

TIMEOUTS_TO_OPEN: Final = 3


class CircuitBreaker:
    """Opens after 3 timeouts in a row, counted over all FAQs. Closes when a request does not time out.

    While it is open, pages do not wait for uncached FAQs. One probe at a time checks in the background
    whether the source responds again.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`name` is the name of the source, for the log."""
        self._name = name
        self._clock = clock
        self._timeouts = 0
        self._probes = 0
        self._next_probe = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the last requests all timed out."""
        return self._timeouts >= TIMEOUTS_TO_OPEN

    def is_probe_due(self) -> bool:
        """Return whether it is time for the next probe."""
        return self._clock() >= self._next_probe

    def may_probe(self) -> bool:
        """Return whether a probe is due, and claim it. The interval grows up to a minute."""
        if not self.is_probe_due():
            return False
        self._probes += 1
        self._next_probe = self._clock() + longest_backoff(self._probes)
        return True

    def timed_out(self) -> None:
        """Count a request that timed out."""
        self._timeouts += 1
        if self._timeouts == TIMEOUTS_TO_OPEN:
            self._probes, self._next_probe = 0, self._clock() + BACKOFF_BASE
            logger.warning("%s does not respond: pages no longer wait for uncached FAQs", self._name)

    def responded(self) -> None:
        """Record a response or a refused connection: both come quickly, so pages can wait again."""
        if self.is_open:
            logger.info("pages wait for uncached FAQs again: %s did not time out", self._name)
        self._timeouts = 0


class GuardedSource:
    """A source behind a circuit breaker."""

    def __init__(self, source: BaseSource, cache: MemoryCache) -> None:
        self._source = source
        self._cache = cache
        self.breaker: CircuitBreaker = CircuitBreaker(source.name, lambda: cache.clock())

    async def fetch(self, fetch: Fetch) -> Outcome:
        """Fetch from the source. If the breaker is open, callers do not wait, and only a probe is made."""
        if self.breaker.is_open:
            refused = self.refusal(fetch.key)
            if not self.breaker.may_probe():
                return refused
            if not fetch.is_detached:
                fetch.resolve(self._cache.entry_after(fetch.key, refused))
        # A cache in front of a service may still have the record before a change or a write.
        skips_caches = fetch.change is not None or self._cache.may_be_old(fetch.key.slug)
        read = Read(
            fetch.key, lambda: self._validators(fetch), lambda: self._cache.wall_clock(), skips_caches
        )
        outcome = fetch.outcome = await self._source.fetch(read)
        if isinstance(outcome, Failed) and isinstance(outcome.error, FAQTimeout):
            self.breaker.timed_out()
        else:
            self.breaker.responded()
        return outcome

    def _validators(self, fetch: Fetch) -> Validators:
        """Return the validators of the cached record that a 304 would confirm."""
        entry = None if fetch.is_detached else self._cache.get(fetch.key)
        return NO_VALIDATORS if entry is None or entry.faq is None else entry.validators

    def refusal(self, key: Key) -> Failed:
        """Return the outcome of a fetch that sends no request, because the breaker is open."""
        message = f"FAQ {key.slug!r}: {self._source.name} does not respond"
        return Failed(FAQUnavailable(message), is_local=True)
