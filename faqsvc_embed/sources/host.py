"""The FAQs of the host itself: an object with `get(slug, lang)`, which is never called on a page's thread."""

import asyncio
import contextlib
import inspect
from typing import Any, Final
from weakref import WeakValueDictionary

from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.memory import size_of
from faqsvc_embed.cache.source import BaseSource, Read, source_name
from faqsvc_embed.errors import FAQError, FAQGone, FAQNotFound, FAQTimeout, FAQUnavailable, InvalidFAQ, quoted
from faqsvc_embed.models import FAQ, Source
from faqsvc_embed.runtime.background_loop import SUSPENSION
from faqsvc_embed.runtime.bounded_log import LogOnce, origin_of
from faqsvc_embed.settings import Settings
from faqsvc_embed.text import normalized

MAX_CALLS: Final = 8
"""Maximum number of calls at once, because each may need a connection to a database."""


class HostSource(BaseSource):
    """Calls the `get` of a source of the host: a function in a thread, a coroutine on the background loop.

    For one slug there is one call at a time. Callers wait for `timeout`; then a coroutine is cancelled. What
    a call returns after that is used, and only then may another one for its slug begin.
    """

    def __init__(self, settings: Settings, source: Source) -> None:
        self.name: str = source_name(settings)
        self._get: Any = source.get
        self._is_async = inspect.iscoroutinefunction(source.get)
        self._timeout = settings.timeout
        self._max_bytes = settings.max_bytes
        self._log = LogOnce()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop on which the source is called."""
        self._slots = asyncio.Semaphore(MAX_CALLS)
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    async def fetch(self, read: Read) -> Outcome:
        loop = asyncio.get_running_loop()
        slug, deadline = read.key.slug, loop.time() + self._timeout
        if self._loop is not loop:
            self._loop, self._slots = loop, asyncio.Semaphore(MAX_CALLS)
            self._turns = WeakValueDictionary()
        turn = self._turns.setdefault(slug, asyncio.Lock())
        message = f"FAQ {slug!r}: {self.name}.get() has not returned within {self._timeout:g} s"
        overdue = Failed(FAQTimeout(message))
        async with contextlib.AsyncExitStack() as places:
            try:
                async with asyncio.timeout_at(deadline):
                    await places.enter_async_context(turn)
                    await places.enter_async_context(self._slots)
            except TimeoutError:
                return overdue
            return await self._outcome_until(deadline, read, overdue)

    async def _outcome_until(self, deadline: float, read: Read, overdue: Failed) -> Outcome:
        """Call `get`, and return its outcome, even after the deadline, at which the callers get an error."""
        loop, slug = asyncio.get_running_loop(), read.key.slug
        call = asyncio.create_task(self._call(slug, read.key.lang))
        try:
            await asyncio.wait([call], timeout=deadline - loop.time())
            if loop.time() > deadline + SUSPENSION:  # the process was suspended, and the call with it
                await asyncio.wait([call], timeout=self._timeout)
            if call.done():
                return self._outcome(slug, call.result())
            read.overdue(overdue)
            if self._is_async:  # a thread cannot be cancelled
                call.cancel()
            await asyncio.wait([call])
        finally:
            call.cancel()
        found = asyncio.CancelledError() if call.cancelled() else call.result()
        if isinstance(found, BaseException) and not isinstance(found, FAQError):
            return overdue  # which the callers know already
        return self._outcome(slug, found)

    def _outcome(self, slug: str, found: object) -> Outcome:
        """Return the outcome for a value that `get` has returned or raised."""
        call = f"FAQ {slug!r}: {self.name}.get()"
        match found:
            case FAQ() if normalized("NFC", found.slug) != slug:
                return Failed(InvalidFAQ(f"{call} returned the FAQ {quoted(found.slug)}", path="slug"))
            case FAQ() if (size := size_of(found)) > self._max_bytes:
                return Failed(InvalidFAQ(f"{call} returned {size} bytes, more than the setting max_bytes"))
            case FAQ():
                return Fetched(found)
            case None:
                return NotFound(FAQNotFound(f"there is no FAQ {slug!r} in {self.name}"), is_direct=True)
            case FAQGone():
                return Gone(found.without_traceback(), is_direct=True)
            case FAQNotFound():
                return NotFound(found.without_traceback(), is_direct=True)
            case FAQError():
                return Failed(found.without_traceback())
            case BaseException():
                message = f"{call} raised {quoted(found)}"
                self._log.error(origin_of(found), "%s", message, error=found)
                return Failed(FAQUnavailable(message))
            case _:
                return Failed(InvalidFAQ(f"{call} returned {quoted(found)}: an FAQ or None is accepted"))

    async def _call(self, slug: str, lang: str | None) -> object:
        """Return what `get` returns or raises for a language or, without one, for the default language."""
        found = await self._call_for(slug, lang)
        return found if found is not None or lang is None else await self._call_for(slug, None)

    async def _call_for(self, slug: str, lang: str | None) -> object:
        """Return what `get` returns or raises; any exception is a return value."""
        try:
            if self._is_async:
                return await self._get(slug, lang)
            found = await asyncio.to_thread(_returned_or_raised, self._get, slug, lang)
            return await found if inspect.isawaitable(found) else found
        except BaseException as error:  # SystemExit would end the loop
            return error


def _returned_or_raised(get: Any, slug: str, lang: str | None) -> object:
    """Return what `get` returns or raises, because a future cannot raise StopIteration, as `next()` does."""
    try:
        return get(slug, lang)
    except BaseException as error:
        return error
