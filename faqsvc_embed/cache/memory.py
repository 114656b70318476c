"""The entries of one embed in memory, bounded in number and in bytes, and marks of what was removed."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from sys import getsizeof
from typing import Final

import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.responses import FAQChange, Fetched, Gone, Outcome
from faqsvc_embed.cache.entry import Entry, Key, Lifetimes, Moment, StoredFAQ, awaiting, expired, state_of
from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.threads import Lock

MAX_TOTAL_BYTES: Final = 64 * 1_048_576
_random: Final = random.SystemRandom().random  # a separate generator: the host may seed the module's
MAX_MISSING: Final = 100
"""Maximum number of missing FAQs whose publication is followed, because visitors can invent slugs."""
FORGOTTEN_FOR: Final = timedelta(hours=1)
"""The time after `forget()` in which requests bypass HTTP caches."""
MIN_STORED_FOR: Final = 3600.0
"""Seconds for which a cache in front of the service may have a record, even if the response states less."""


class Mark(msgspec.Struct, frozen=True):
    """When an FAQ was forgotten or unpublished, so that no older response or stored record is shown again."""

    at: datetime
    """The time of the mark, by the clock of the machine that made it."""
    date: datetime | None = None
    """When it was unpublished, by the clock of the service."""
    digest: str = ""
    """The digest of its last record if it was unpublished, else empty."""

    @property
    def is_gone(self) -> bool:
        """Whether it was unpublished, and no later record has been seen."""
        return bool(self.digest)

    def rejects(self, response: Fetched, now: datetime) -> bool:
        """Return whether a response is from before the FAQ was unpublished.

        It is if it was made earlier, or if it has the last record while a cache may still have that record.
        """
        stated = response.cache_control
        if stated.age and now - timedelta(seconds=stated.age) < self.at:
            return True
        if self.date is not None and response.date is not None and response.date < self.date:
            return True
        lifetime = timedelta(seconds=max(stated.lifetime or 0.0, MIN_STORED_FOR))
        return now < self.at + lifetime and digest_of(response.faq.to_json()) == self.digest

    def hides(self, stored: StoredFAQ) -> bool:
        """Return whether a stored record is too old.

        If the clocks of two machines differ, a record may be fetched again needlessly.
        """
        return stored.updated_at <= self.at


def read_mark(value: bytes) -> Mark:
    """Read a mark from a store. An invalid one, or one without a time zone, hides every record."""
    try:
        mark = _decoder.decode(value)
    except (msgspec.DecodeError, UnicodeError):
        return UNREADABLE
    return mark if mark.at.tzinfo is not None else UNREADABLE


UNREADABLE: Final = Mark(datetime.max.replace(tzinfo=UTC))  # later than every record
_decoder: Final = msgspec.json.Decoder(Mark)  # at import: a child forked during its first use would crash


class MemoryCache:
    """Entries by slug and language; the least recently used are evicted, those without a record first."""

    def __init__(
        self,
        lifetimes: Lifetimes,
        max_entries: int = 1000,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[], float] = _random,
    ) -> None:
        self.clock = clock
        self.wall_clock = wall_clock
        self.random = random
        self._lifetimes = lifetimes
        self._max_entries = max_entries
        self._entries: dict[Key, Entry] = {}
        self._size = 0
        self._marks: dict[str | None, Mark] = {}
        """When slugs were forgotten or unpublished, the newest last; None means all slugs."""
        self._lock = Lock()
        # Every page calls it, so it is the method of the dictionary itself.
        self.get: Callable[[Key], Entry | None] = self._entries.get

    def apply(self, key: Key, outcome: Outcome | StoredFAQ, change: FAQChange | None = None) -> Entry:
        """Store the outcome of a fetch of `key`, or a record of the store, and return the new entry.

        An FAQ that is gone is gone in every language. If a `change` was announced during the fetch, the
        record may be older: it is stale, and the change is still awaited.
        """
        with self._lock.own():
            moment, before = self.moment(), self._entries.get(key)
            if isinstance(outcome, Gone):
                for other in [entry for entry in self._entries.values() if entry.key.slug == key.slug]:
                    self._put(self._lifetimes.after(other, other.key, outcome, moment))
            if change is not None:
                before = before or Entry(key, used_at=moment.now)
                return self._put(self._lifetimes.before_change(before, change, outcome, moment))
            entry = self._lifetimes.after(before, key, outcome, moment)
            if isinstance(outcome, Fetched) and entry.error is None and self.tombstone(key.slug) is not None:
                del self._marks[key.slug]  # it was published again
            return self._put(entry)

    def mark_unpublished(self, key: Key, outcome: Gone) -> Mark | None:
        """Mark an FAQ that has a record as unpublished, and return the mark. `apply` removes the record."""
        with self._lock.own():
            entry = self._entries.get(key)
            if entry is None or entry.faq is None:
                return None
            # No cache in front of the source can have an older record if the 410 is direct.
            digest = "" if outcome.is_direct else digest_of(entry.faq.to_json())
            return self._set_mark(key.slug, Mark(self.wall_clock(), outcome.date, digest))

    def tombstone(self, slug: str | None) -> Mark | None:
        """Return the mark of an FAQ that was cached here when it was unpublished, or None."""
        mark = self._marks.get(slug)
        return mark if mark is not None and mark.is_gone else None

    def _set_mark(self, slug: str | None, mark: Mark) -> Mark:
        self._marks.pop(slug, None)  # so that it is inserted as the newest
        self._marks[slug] = mark
        if len(self._marks) > self._max_entries:
            del self._marks[next(iter(self._marks))]
        return mark

    def entry_after(self, key: Key, outcome: Outcome) -> Entry:
        """Return the entry for the outcome of a fetch without storing it, for an FAQ that was forgotten."""
        return self._lifetimes.after(None, key, outcome, self.moment())

    def seed(self, key: Key, faq: FAQ | None) -> Entry | None:
        """Show a file of the folder until the source has responded: it is stale, and never expires.

        It replaces the record of the file before an edit. None removes it, because the file was deleted.
        """
        with self._lock.own():
            before = self._entries.get(key)
            entry = before or Entry(key, used_at=self.clock())
            if entry.is_known or entry.faq is faq:
                return before
            is_file = faq is not None
            return self._put(
                replace(entry, faq=faq, is_file=is_file, keep_until=float("inf"), source="store")
            )

    def to_store(self, entry: Entry) -> StoredFAQ | None:
        """Return the part of an entry that a store keeps, if it has a record."""
        if entry.faq is None or entry.updated_at is None:
            return None
        fresh_for = max(0.0, entry.fresh_until - self.clock())
        return StoredFAQ(entry.faq, entry.updated_at, fresh_for, entry.validators, entry.cache_control)

    def expire(self) -> None:
        """Make all records stale: they are shown, and refreshed at their next use."""
        with self._lock.own():
            now = self.clock()
            for key, entry in self._entries.items():
                if entry.fresh_until > now:
                    self._entries[key] = expired(replace(entry, retry_at=now), now)

    def announce(self, change: FAQChange) -> list[Key]:
        """Let the entries of a slug wait for a change; return their keys."""
        with self._lock.own():
            now = self.clock()
            entries = [entry for entry in self._entries.values() if entry.key.slug == change.slug]
            for entry in entries:
                self._entries[entry.key] = awaiting(entry, change, now)
            return [entry.key for entry in entries]

    def lag(self) -> float:
        """Return the seconds since the oldest announced change that has not arrived; 0 if there is none."""
        now = self.clock()
        waiting = (entry.announced for entry in self.entries())
        return max((now - one.at for one in waiting if one is not None and one.is_awaited(now)), default=0.0)

    def forget(self, slug: str | None = None) -> Mark:
        """Remove the entries of `slug` in all languages, or all entries; return a mark with the time."""
        with self._lock.own():
            for key in [key for key in self._entries if slug is None or key.slug == slug]:
                self._size -= self._entries.pop(key).size
            mark = Mark(self.wall_clock())
            if self.tombstone(slug) is None:  # a tombstone rejects more
                self._set_mark(slug, mark)
            return mark

    def is_forgotten(self, slug: str) -> bool:
        """Return whether `slug` was forgotten so recently that an HTTP cache may have its old record."""
        since = self.wall_clock() - FORGOTTEN_FOR
        return any(mark is not None and mark.at > since for mark in map(self._marks.get, (slug, None)))

    def may_be_old(self, slug: str) -> bool:
        """Return whether an HTTP cache may have an old record, so that requests have to bypass it."""
        return self.tombstone(slug) is not None or self.is_forgotten(slug)

    def slugs(self) -> list[str]:
        """Return the slugs of all records, the last used first, then of `MAX_MISSING` missing FAQs."""
        entries = sorted(self.entries(), key=lambda entry: entry.used_at, reverse=True)
        missing = [entry for entry in entries if entry.is_missing]
        found = [entry for entry in entries if entry.faq is not None] + missing[:MAX_MISSING]
        return list(dict.fromkeys(entry.key.slug for entry in found))

    def entries(self) -> list[Entry]:
        """Return all entries, in no order."""
        with self._lock.own():
            return list(self._entries.values())

    def moment(self) -> Moment:
        """Return the time in both clocks."""
        return Moment(self.clock(), self.wall_clock(), self.random())

    def _put(self, entry: Entry) -> Entry:
        before = self._entries.get(entry.key)
        if entry.faq is None:
            entry.size, entry.fresh_state = 0, None
        else:
            is_same = before is not None and before.faq is entry.faq
            entry.size = entry.size if is_same else size_of(entry.faq)
            entry.fresh_state = state_of(entry, entry.key, float("-inf"))  # at a time when it is fresh
        self._size += entry.size - (before.size if before is not None else 0)
        self._entries[entry.key] = entry
        if len(self._entries) > self._max_entries or self._size > MAX_TOTAL_BYTES:
            self._evict(entry.key)
        return entry

    def _evict(self, newest: Key) -> None:
        """Free 5 % more than needed, so that many new slugs cause few evictions."""
        others = [entry for key, entry in self._entries.items() if key != newest]
        others.sort(key=lambda entry: (entry.faq is not None, entry.used_at))
        for entry in others:
            has_room = len(self._entries) <= self._max_entries - self._max_entries // 20
            if has_room and self._size <= MAX_TOTAL_BYTES - MAX_TOTAL_BYTES // 20:
                break
            del self._entries[entry.key]
            self._size -= entry.size


def size_of(faq: FAQ) -> int:
    """Return about how many bytes of memory a record takes."""
    size = 500
    parts: list[object] = [faq.title, faq.website_name, faq.cta]
    for item in faq.items:
        size += 50
        parts += (item.question, item.answer)
    while parts:
        part = parts.pop()
        size += getsizeof(part)
        if isinstance(part, list):
            parts += part
        elif isinstance(part, dict):
            parts += part
            parts += part.values()
    return size
