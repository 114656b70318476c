"""Reads FAQs through the cache: a look-up returns a state at once, or a running fetch."""

import asyncio
import os
import time
import weakref
from typing import Final

from msgspec.structs import replace

from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.cache.entry import Entry, Key, Lifetimes, Need, need, state_of, translations
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.fetcher import Fetcher
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.report import Health, Reporter, health_of
from faqsvc_embed.cache.shared import open_store
from faqsvc_embed.cache.source import BaseSource
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQNotFound, FAQUnavailable
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.background_loop import SUSPENSION
from faqsvc_embed.runtime.threads import in_event_loop, wait_for
from faqsvc_embed.settings import Settings
from faqsvc_embed.text import normalized

FORGET_TIMEOUT: Final = 0.5
"""Seconds for which `forget` waits for the store."""


_readers: "weakref.WeakSet[Reader]" = weakref.WeakSet()
"""The readers of this process. After a write, a client makes all of them forget the FAQ."""


def forget_written(base_url: str, slug: str) -> None:
    """Forget an FAQ that this process has written to a service, so that the next read returns it."""
    for reader in list(_readers):
        if reader.source.name == base_url:
            reader.forget(slug)


class Reader:
    """Reads the FAQs of one source through a cache."""

    def __init__(self, settings: Settings, source: BaseSource) -> None:
        self._settings = settings
        self.source: BaseSource = source
        self.reporter: Reporter = Reporter()
        if source.files is not None:
            self.reporter.listen(source.files.note)
        max_fresh = float("inf") if settings.max_fresh is None else settings.max_fresh
        lifetimes = Lifetimes(
            settings.fresh_for,
            float("inf") if settings.keep_for is None else settings.keep_for,
            min(settings.not_found_for, max_fresh),
            max_fresh,
        )
        self.cache: MemoryCache = MemoryCache(lifetimes, settings.max_entries)
        self.fetcher: Fetcher = self._new_fetcher()
        _readers.add(self)

    def look_up(self, key: Key, *, reload: bool = False, blocks: bool = True) -> FAQState | Fetch:
        """Return the state of an FAQ, or the fetch to wait for. This starts the refresh of a stale record.

        Without a record in the requested language, the state has a cached translation, if there is one.
        `reload` reads edited files of the source. `blocks` is whether the caller would wait with its thread.
        """
        # A forked child reads the cache of its parent, so it must follow changes, too.
        if os.getpid() != fork.pid:
            fork.check()
        entry, now = self.cache.get(key), self.cache.clock()
        if entry is not None:
            entry.used_at = now
            if now < entry.fresh_until and entry.fresh_state is not None:
                return entry.fresh_state
        found = self._look_up_stale(key, entry, now, reload=reload, blocks=blocks)
        if isinstance(found, FAQState) and key.token is None:
            self.reporter.count_look_up(found)
        return found

    def _look_up_stale(
        self, key: Key, entry: Entry | None, now: float, *, reload: bool, blocks: bool
    ) -> FAQState | Fetch:
        """Look up an FAQ that has no fresh record."""
        if not is_slug(key.slug):
            return FAQState(error=invalid_slug(key.slug), lang_requested=key.lang)
        if key.token is not None:
            fetch = self.fetcher.get_or_start(key) if self.source.has_drafts else None
            return fetch or FAQState(error=FAQUnavailable(f"there are no drafts of {key.slug!r} here"))
        files = self.source.files
        if files is not None and (reload or self._settings.reload):
            files.reload()
        if self.source.is_local:
            return self.source.look_up(key)
        if files is not None and (entry is None or not entry.is_known):
            seed = files.seed(key, is_forgotten=self.cache.is_forgotten(key.slug))
            if isinstance(seed, FAQError):  # of an edited file; the source may have a record
                self.fetcher.get_or_start(key)
                return FAQState(error=seed, lang_requested=key.lang)
            entry = self.cache.seed(key, seed)
        fetch = self.fetcher.get_or_start(key)
        if fetch is None:
            return self.state(key)
        # A file of the folder is shown after the store was read, because it may have a record or a tombstone.
        waits_for_store = self._settings.store is not None and entry is not None and entry.is_file
        must_wait = waits_for_store or (self._is_suspended(fetch) and not (blocks and in_event_loop()))
        if entry is not None and entry.is_usable(now) and not must_wait:
            # Later pages use the result, even if the fetch has already ended.
            return state_of(entry, key, now, is_fetching=self.fetcher.is_running(fetch))
        return self._state_after(fetch) or fetch

    def _is_suspended(self, fetch: Fetch) -> bool:
        """Return whether a refresh should have ended long ago.

        In a process that is suspended between requests, no refresh in the background ends: a page must wait.
        """
        is_late = time.monotonic() - fetch.started_at > self._settings.timeout + SUSPENSION
        return is_late and self.fetcher.is_running(fetch) and fetch.entry is None

    def state(self, key: Key) -> FAQState:
        """Return the state of an FAQ now, without starting a fetch."""
        is_fetching = self.fetcher.is_fetching(key)  # read first: a fetch stores its entry before it ends
        entry, now = self.cache.get(key), self.cache.clock()
        if entry is not None and entry.faq is None and need(entry, now) is Need.NOTHING:
            is_fetching = False  # its error is still valid: only the change feed can have started this fetch
        return self._or_translation(key, state_of(entry, key, now, is_fetching=is_fetching))

    def _state_after(self, fetch: Fetch) -> FAQState | None:
        """Return the state for a caller that has waited for a fetch; None if it must wait longer."""
        key, entry = fetch.key, fetch.entry
        if entry is None:
            return None
        if fetch.is_draft:
            return FAQState(data=entry.faq, source="network") if entry.faq else FAQState(error=entry.error)
        state = state_of(
            entry,
            key,
            self.cache.clock(),
            is_fetching=self.fetcher.is_running(fetch),
            source=entry.source if entry.error is None else "memory",
        )
        return self._or_translation(key, state)

    def _or_translation(self, key: Key, state: FAQState) -> FAQState:
        """Return a cached translation if the record is missing; the service falls back the same way."""
        if state.data is not None or isinstance(state.error, FAQNotFound):
            return state
        now = self.cache.clock()
        for other in translations(key.slug, self._settings.lang):
            entry = self.cache.get(other)
            if entry is not None and entry.is_usable(now):
                entry.used_at = now
                return replace(
                    state,
                    data=entry.faq,
                    is_stale=True,
                    is_degraded=state.error is not None,
                    source="memory",
                    updated_at=entry.updated_at,
                )
        return state

    async def arrived(self, fetch: Fetch, seconds: float, *, blocks: bool) -> FAQState:
        """Wait for a fetch, at most `seconds`, and return the state. `blocks`: whether the thread blocks."""
        if blocks:
            fetch.wait(seconds)
        elif not in_event_loop():
            raise ConfigurationError("FAQs can be awaited only in an asyncio event loop, not in trio")
        else:
            await asyncio.wait([asyncio.wrap_future(fetch.result)], timeout=seconds)
        if (state := self._state_after(fetch)) is not None:
            return self.reporter.count_look_up(state)
        if fetch.is_draft:
            late = FAQUnavailable(f"the draft of {fetch.key.slug!r} did not arrive in time")
            return FAQState(error=late)
        self.reporter.expired_waits += 1
        return self.reporter.count_look_up(self.state(fetch.key))

    def max_age(self, key: Key, state: FAQState) -> int | None:
        """Return for how many seconds caches may store a page with this state; None if it is not degraded.

        The time ends before the next attempt to fetch the FAQ.
        """
        limit = self._settings.degraded_max_age
        if limit is None or (state.data is not None and not state.is_degraded):
            return None
        if self.source.is_local:
            return limit
        entry = self.cache.get(key)
        if entry is None or state.is_fetching:
            return 0
        return max(0, min(limit, int(entry.retry_at - self.cache.clock())))

    def _new_fetcher(self) -> Fetcher:
        """Return the fetcher of the source, which has nothing to do if the source is read at once."""
        store = open_store(self._settings, is_used=not self.source.is_local)
        return Fetcher(self._settings, self.source, self.cache, store, self.reporter)

    def use_source(self, source: BaseSource) -> None:
        """Read from another source from now on, and forget all earlier results."""
        self.fetcher.close()
        self.source = source
        self.fetcher = self._new_fetcher()
        self.cache.forget()

    def forget(self, slug: str | None = None) -> None:
        """Remove `slug` in all languages, or all FAQs, from memory and from the store.

        With a store, this waits up to half a second for it, unless an event loop runs in this thread.
        """
        done = self.fetcher.forget(None if slug is None else normalized("NFC", slug))
        if done is not None and not in_event_loop():
            wait_for(done, FORGET_TIMEOUT)

    def health(self) -> list[Health]:
        """Return the state of each cached FAQ, sorted by slug and language, without any request."""
        of_files = self.source.health()
        if of_files is not None:
            return of_files
        at = self.cache.moment()
        entries = sorted(self.cache.entries(), key=lambda entry: (entry.key.slug, entry.key.lang or ""))
        return [health_of(entry, at) for entry in entries]


def data_or_raise(state: FAQState) -> FAQ:
    """Return the record of a state, or raise why there is none."""
    if state.data is not None:
        return state.data
    if state.error is not None:
        raise state.error.without_traceback()
    raise FAQUnavailable("the FAQ did not arrive in time")
