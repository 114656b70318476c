"""Requests to the service, behind a circuit breaker."""

import time

from faqsvc_embed.api.requests import NO_VALIDATORS, Request, Validators, read_request
from faqsvc_embed.api.responses import Failed, NotModified, Outcome, parse_response
from faqsvc_embed.api.transport import Transport
from faqsvc_embed.cache.breaker import CircuitBreaker
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.errors import FAQError, FAQTimeout, FAQUnavailable
from faqsvc_embed.settings import Settings


class Upstream:
    """Requests the FAQs of one service, behind a circuit breaker."""

    def __init__(self, settings: Settings, cache: MemoryCache, transport: Transport) -> None:
        self._settings = settings
        self._cache = cache
        self._transport = transport
        self.breaker = CircuitBreaker(lambda: cache.clock())

    async def request(self, fetch: Fetch) -> Outcome:
        """Fetch from the service. If the breaker is open, callers do not wait, and only a probe is sent."""
        if self.breaker.is_open:
            refused = refusal(fetch.key)
            if not self.breaker.may_probe():
                return refused
            if not fetch.is_detached:
                fetch.resolve(self._cache.entry_after(fetch.key, refused))
        outcome = fetch.outcome = await self._exchange(fetch)
        if isinstance(outcome, Failed) and isinstance(outcome.error, FAQTimeout):
            self.breaker.timed_out()
        else:
            self.breaker.responded()
        return outcome

    async def _exchange(self, fetch: Fetch) -> Outcome:
        """Send the request; repeat it once if the response is for another one, or a 304 without a record."""
        validators = self._validators(fetch)
        timeout, start = self._settings.timeout, time.monotonic()
        outcome, is_reused = await self._send(fetch, validators, timeout)
        if isinstance(outcome, Failed):
            is_wrong = outcome.is_misdirected and (is_reused or bool(validators))
        else:  # the record was forgotten or replaced during the request
            is_wrong = isinstance(outcome, NotModified) and self._validators(fetch) != validators
        if is_wrong:
            left = timeout - (time.monotonic() - start)
            outcome, _ = await self._send(fetch, NO_VALIDATORS, left, new_connection=is_reused)
        return outcome

    async def _send(
        self, fetch: Fetch, validators: Validators, timeout: float, *, new_connection: bool = False
    ) -> tuple[Outcome, bool]:
        """Return the outcome, and whether the response came on a reused connection."""
        key = fetch.key
        request = read_request(self._settings.base_url, key.slug, key.lang, validators)
        # A cache in front of the service may still have the record before a change or a write.
        if fetch.change is not None or self._cache.may_be_old(key.slug):
            request = Request(request.url, {**request.headers, "cache-control": "no-cache"})
        response = await self._transport.send(request, timeout, new_connection=new_connection)
        if isinstance(response, FAQError):
            return Failed(response), False
        return parse_response(response, request, key.slug, self._cache.wall_clock()), response.is_reused

    def _validators(self, fetch: Fetch) -> Validators:
        """Return the validators of the cached record that a 304 would confirm."""
        entry = None if fetch.is_detached else self._cache.get(fetch.key)
        return NO_VALIDATORS if entry is None or entry.faq is None else entry.validators


def refusal(key: Key) -> Failed:
    """Return the outcome of a fetch that sends no request, because the breaker is open."""
    return Failed(FAQUnavailable(f"FAQ {key.slug!r}: the service does not respond"), is_local=True)
