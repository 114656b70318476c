"""The FAQs of the host itself: an object with `get(slug, lang)`, which is never called on a page's thread."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final

from faqsvc_embed.api.cache_control import NO_CACHE_CONTROL
from faqsvc_embed.api.requests import NO_VALIDATORS
from faqsvc_embed.api.responses import Failed, Fetched, Gone, NotFound, Outcome
from faqsvc_embed.cache.source import BaseSource, Read, source_name
from faqsvc_embed.errors import FAQError, FAQGone, FAQNotFound, FAQTimeout, FAQUnavailable, InvalidFAQ, quoted
from faqsvc_embed.models import FAQ, Source
from faqsvc_embed.runtime.bounded_log import LogOnce, origin_of
from faqsvc_embed.settings import Settings

MAX_CALLS: Final = 8
"""Maximum number of calls at once, because each may need a connection to a database."""


class HostSource(BaseSource):
    """Calls the `get` of a source of the host: a function in a thread, a coroutine on the background loop.

    For one slug there is one call at a time. A call is given up after `timeout`; a coroutine is cancelled.
    """

    def __init__(self, settings: Settings, source: Source) -> None:
        self.name = source_name(settings)
        self._get: Any = source.get
        self._is_async = inspect.iscoroutinefunction(source.get)
        self._timeout = settings.timeout
        self._log = LogOnce()
        self._calls: _Calls | None = None

    async def fetch(self, read: Read) -> Outcome:
        slug, lang = read.key.slug, read.key.lang
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._in_turn(slug, lang)
                if found is None and lang is not None:
                    found = await self._in_turn(slug, None)
            return Fetched(self._checked(slug, found), NO_CACHE_CONTROL, NO_VALIDATORS)
        except FAQGone as error:
            return Gone(error.without_traceback())
        except FAQNotFound as error:
            return NotFound(error.without_traceback())
        except FAQError as error:
            return Failed(error.without_traceback())
        except TimeoutError:
            message = f"FAQ {slug!r}: {self.name}.get() has not returned within {self._timeout:g} s"
            return Failed(FAQTimeout(message))
        except Exception as error:
            message = f"FAQ {slug!r}: {self.name}.get() raised {quoted(error)}"
            self._log.error(origin_of(error), "%s", message, error=error)
            return Failed(FAQUnavailable(message))

    def _checked(self, slug: str, found: object) -> FAQ:
        if found is None:
            raise FAQNotFound(f"there is no FAQ {slug!r} in {self.name}")
        if not isinstance(found, FAQ):
            raise InvalidFAQ(
                f"FAQ {slug!r}: {self.name}.get() returned {quoted(found)}: an FAQ or None is accepted"
            )
        if found.slug != slug:
            message = f"FAQ {slug!r}: {self.name}.get() returned the FAQ {quoted(found.slug)}"
            raise InvalidFAQ(message, path="slug")
        return found

    async def _in_turn(self, slug: str, lang: str | None) -> object:
        """Call `get` once no other call for this slug runs, including those that were given up."""
        if self._calls is None or self._calls.loop is not asyncio.get_running_loop():
            self._calls = _Calls()
        calls = self._calls
        async with calls.slots:
            while (earlier := calls.by_slug.get(slug)) is not None:
                await asyncio.wait([earlier])
            call = calls.start(slug, self._call(slug, lang))
            try:
                await asyncio.wait([call])
            except asyncio.CancelledError:
                if self._is_async:  # a thread cannot be cancelled
                    call.cancel()
                raise
            return call.result()

    async def _call(self, slug: str, lang: str | None) -> object:
        try:
            if self._is_async:
                return await self._get(slug, lang)
            found = await asyncio.to_thread(_result, self._get, slug, lang)
            return await found if inspect.isawaitable(found) else found
        except (SystemExit, KeyboardInterrupt) as error:  # they would end the loop
            raise RuntimeError(repr(error)) from error


class _Calls:
    """The calls of one event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.slots = asyncio.Semaphore(MAX_CALLS)
        self.by_slug: dict[str, asyncio.Task[object]] = {}

    def start(self, slug: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        call = self.by_slug[slug] = self.loop.create_task(work)
        call.add_done_callback(lambda call: self._end(slug, call))
        return call

    def _end(self, slug: str, call: asyncio.Task[object]) -> None:
        del self.by_slug[slug]
        if not call.cancelled():
            call.exception()  # nobody else may ask for that of a call that was given up


def _result(get: Callable[..., object], slug: str, lang: str | None) -> object:
    try:
        return get(slug, lang)
    except StopIteration as error:  # such as of `next()`; no future accepts it
        raise RuntimeError(repr(error)) from error
