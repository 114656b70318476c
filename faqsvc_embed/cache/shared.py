"""Records that outlive the process and are shared with other processes.

A backend keeps values under names, and nothing else. The rules are here, for every backend: which records
are stored, what a value contains, and what happens when an FAQ is forgotten or unpublished.
"""

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final
from weakref import WeakMethod

import msgspec

from faqsvc_embed.api.requests import Validators
from faqsvc_embed.api.responses import CacheControl
from faqsvc_embed.cache.backend import Backend, ResilientBackend
from faqsvc_embed.cache.entry import Key, StoredFAQ, translations
from faqsvc_embed.cache.memory import Mark, read_mark
from faqsvc_embed.cache.source import source_name
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.background_loop import finished
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.settings import Settings
from faqsvc_embed.text import clean_text

OnForgotten = Callable[[str | None], object]
OnGap = Callable[[], None]

MAX_PENDING: Final = 1000
MARKS_FOR: Final = 60 * 86_400.0
"""Seconds for which a store knows when an FAQ was forgotten: longer than any fetch may take."""
FOR_EVER: Final = float("inf")
PREFIX: Final = "faqsvc:4:"
"""The beginning of all names. Its number changes with the format of the values."""


class SharedStore:
    """The records of one source in a backend. No call raises or takes long: see `ResilientBackend`."""

    def __init__(
        self,
        settings: Settings,
        open_backend: Callable[[], Backend] | None,
        *,
        serves_machines: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `open_backend`, there is no store: reads find nothing, and writes are ignored."""
        self.exists: bool = open_backend is not None
        self.serves_machines = serves_machines
        """Whether other machines read it, so that no `private` response may be stored (RFC 9111, 5.2.2.7)."""
        # In a cluster, the braces put all names of a source into one slot, because a call may use several.
        self._prefix = f"{PREFIX}{{{source_name(settings)}}}"
        self._max_size = max_size(settings)
        self._keep_for = FOR_EVER if settings.keep_for is None else settings.keep_for
        self._backend = ResilientBackend(open_backend, clock)
        self._process = secrets.token_hex(8)
        self._pending: dict[str | None, Mark] = {}
        """The FAQs that were forgotten, which the backend does not know yet; None means all FAQs."""
        self._log = LogOnce()
        self._watch: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None

    # Records

    async def load(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None if there is none that can be used."""
        await self._send_pending()
        if key.slug in self._pending or None in self._pending:
            return None
        return await self._backend.call("read", partial(self._load, key))

    async def _load(self, key: Key, backend: Backend) -> StoredFAQ | None:
        name = self._record_name(key)
        record, *marks = await backend.get(name, self._mark_name(key.slug), self._mark_name(None))
        if record is None:
            return None
        try:
            stored = self._unseal(name, record)
        except InvalidFAQ as error:
            self._log.warning(repr(key), "FAQ %r: its stored record is ignored: %s", key.slug, error)
            return None
        return None if _is_hidden(stored, marks) else stored

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record; if it may not be stored, remove the earlier one, which must not come back."""
        cache_control = stored.cache_control
        if cache_control.no_store or (cache_control.private and self.serves_machines):
            await self.delete(key)
        else:
            await finished(self._backend.call("written", partial(self._save, key, stored)))

    async def _save(self, key: Key, stored: StoredFAQ, backend: Backend) -> None:
        name, tombstone_name = self._record_name(key), self._tombstone_name(key.slug)
        await backend.put(name, _seal(name, stored), stored.fresh_for + self._keep_for)
        names = (tombstone_name, self._mark_name(key.slug), self._mark_name(None))
        tombstone, *marks = await backend.get(*names)
        if _is_hidden(stored, marks):  # by a process that removed the earlier record meanwhile
            await backend.delete(name)
        elif tombstone is not None and not _is_hidden(stored, [tombstone]):
            await backend.delete(tombstone_name)  # the FAQ was published again

    async def delete(self, *keys: Key) -> None:
        names = map(self._record_name, keys)
        await finished(self._backend.call("written", lambda backend: backend.delete(*names)))

    async def tombstone(self, slug: str) -> Mark | None:
        """Return the mark of an FAQ that was unpublished; None if there is none, or it is invalid."""
        found = await self._backend.call("read", lambda backend: backend.get(self._tombstone_name(slug)))
        mark = read_mark(found[0]) if found and found[0] is not None else None
        return mark if mark is not None and mark.is_gone else None

    # Forgetting

    def mark_invalid(self, slug: str | None, mark: Mark) -> None:
        """Hide the records of `slug`, or all records, until `invalidate` succeeds.

        The `mark` still hides older records after that, because a slow process may save one.
        """
        if not self.exists:
            return
        if len(self._pending) >= MAX_PENDING:
            self._pending, slug = {}, None
        self._pending[slug] = mark

    async def invalidate(self) -> bool:
        """Remove the records that are marked invalid, and tell the other processes, even during backoff.

        Returns whether the backend has removed them.
        """
        await self._send_pending(now=True)
        return not self._pending

    async def _send_pending(self, *, now: bool = False) -> None:
        for slug in list(self._pending):
            removed = self._backend.call("written", partial(self._invalidate, slug), now=now)
            is_removed = await finished(removed)
            if is_removed is None:
                break
            if is_removed:  # the user of a Redis may be allowed to write, but not to publish
                await finished(self._backend.call("watched", partial(self._publish, slug), now=True))

    async def _invalidate(self, slug: str | None, backend: Backend) -> bool:
        """Remove what is marked invalid; return False if another call did."""
        if (mark := self._pending.get(slug)) is None:
            return False
        try:
            await backend.put(self._mark_name(slug), msgspec.json.encode(mark), MARKS_FOR)
            if slug is not None and mark.is_gone:
                await backend.put(self._tombstone_name(slug), msgspec.json.encode(mark), FOR_EVER)
        finally:  # what is forgotten goes, even if the disk has no room for its mark
            if slug is None:
                await backend.clear(self._name("record:"))
            else:
                await backend.delete(*map(self._record_name, translations(slug)))
        if self._pending.get(slug) is mark:  # it was not forgotten again meanwhile
            del self._pending[slug]
        return True

    async def _publish(self, slug: str | None, backend: Backend) -> None:
        message = json.dumps({"from": self._process, "slug": slug})
        await backend.publish(self._name("messages"), message.encode())

    def watch(self, on_forgotten: OnForgotten, on_gap: OnGap) -> None:
        """Receive what other processes forget, in a task of the running loop.

        Both are methods; this does not keep their objects alive. `on_gap` is called if messages may have been
        missed.
        """
        loop = asyncio.get_running_loop()
        if self._watch is None or self._watch[0] is not loop:
            # Nothing can be missed before the first connection.
            work = self._receive(WeakMethod(on_forgotten), WeakMethod(on_gap), is_first=self._watch is None)
            self._watch = loop, loop.create_task(work)

    async def _receive(
        self, on_forgotten: WeakMethod[OnForgotten], on_gap: WeakMethod[OnGap], *, is_first: bool
    ) -> None:
        async for message in self._backend.messages(self._name("messages"), is_first=is_first):
            if not message and (expire := on_gap()) is not None:
                expire()
            for slug in self._forgotten(message):
                if (forget := on_forgotten()) is not None:
                    forget(slug)

    def _forgotten(self, message: bytes) -> list[str | None]:
        """Return the slug in a message of another process, None for all; nothing for any other message."""
        try:
            found = json.loads(message)
            process, slug = found["from"], found["slug"]
        except (ValueError, TypeError, KeyError):
            return []
        return [slug] if process != self._process and (slug is None or isinstance(slug, str)) else []

    def after_fork(self) -> None:
        """In a forked child, drop what belongs to the parent, without using its connections."""
        self._backend.after_fork()
        self._watch = None
        self._process = secrets.token_hex(8)

    # Names and values

    def _name(self, name: str) -> str:
        return f"{self._prefix}:{name}"

    def _record_name(self, key: Key) -> str:
        return self._name(f"record:{key.lang or '-'}:{key.slug}")

    def _tombstone_name(self, slug: str) -> str:
        return self._name(f"gone:{slug}")

    def _mark_name(self, slug: str | None) -> str:
        """Return the name of the time when `slug`, or everything, was last forgotten."""
        return self._name("forgotten" if slug is None else f"forgotten:{slug}")

    def _unseal(self, name: str, value: bytes) -> StoredFAQ:
        """Read the value of a record; raise InvalidFAQ if it is damaged, or belongs to another FAQ."""
        digest, _, text = value.partition(b"\n")
        if len(value) > self._max_size or digest != _digest(name, text):
            raise InvalidFAQ("it is damaged or too large")
        facts, _, faq = text.partition(b"\n")
        try:
            return StoredFAQ(FAQ.from_json(faq), *_facts.decode(facts))
        except msgspec.DecodeError as error:
            raise InvalidFAQ(f"it is not a record: {error}") from None


# At import: a child that is forked during its first use would crash.
_facts: Final = msgspec.json.Decoder(tuple[datetime, float, Validators, CacheControl])


def _seal(name: str, stored: StoredFAQ) -> bytes:
    """Return the value of a record, in three lines: a digest, facts about the record, and the record."""
    faq, *facts = stored
    text = msgspec.json.encode(facts) + b"\n" + clean_text(faq.to_json()).encode()
    return _digest(name, text) + b"\n" + text


def _digest(name: str, text: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + text).hexdigest().encode()


def _is_hidden(stored: StoredFAQ, marks: list[bytes | None]) -> bool:
    """Return whether a record was confirmed before its FAQ was forgotten or unpublished."""
    return any(mark is not None and read_mark(mark).hides(stored) for mark in marks)


def max_size(settings: Settings) -> int:
    """Return how many bytes the value of a record may have."""
    return 4 * settings.max_bytes + 65_536


def open_store(settings: Settings, *, is_used: bool = True) -> SharedStore:
    """Return the store that the settings name, if it `is_used`. Nothing is opened before its first use."""
    if settings.store is None or not is_used:
        return SharedStore(settings, None, serves_machines=False)
    if settings.store.startswith("file:"):
        from faqsvc_embed.cache.sqlite import SQLiteBackend

        path = settings.store.removeprefix("file:").removeprefix("//")
        return SharedStore(settings, partial(SQLiteBackend, path), serves_machines=False)
    from faqsvc_embed.cache.redis import RedisBackend

    return SharedStore(
        settings, partial(RedisBackend, settings.store, max_size(settings)), serves_machines=True
    )
