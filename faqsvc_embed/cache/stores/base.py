"""What the fetcher needs of a store. Any call may raise; `resilient` handles it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ

OnInvalidate = Callable[[str | None], None]
OnGap = Callable[[], None]


class Store(Protocol):
    """Keeps records beyond the process. Its methods run on the background loop."""

    is_shared: bool
    """Other machines read it, so that no `private` response may be stored in it (RFC 9111, 5.2.2.7)."""

    def prepare(self) -> None:
        """Import and make what a first call needs. This does not count in the time of a call."""

    async def load(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None; raise InvalidFAQ for one that cannot be trusted."""

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record, as a whole or not at all."""

    async def delete(self, key: Key) -> None:
        """Remove one record."""

    async def invalidate(self, slug: str | None) -> None:
        """Remove the records of `slug` in all languages, or all records, and tell the other processes."""

    async def bury(self, slug: str) -> None:
        """Leave a tombstone: `load` returns no record of `slug` that was confirmed before now."""

    async def is_buried(self, slug: str) -> bool:
        """Return whether there is a tombstone of `slug`, and so no older record may be shown."""

    def lock(self, key: Key, timeout: float) -> AbstractAsyncContextManager[None]:
        """Be the only process to refresh `key`; go without after `timeout` seconds."""

    async def subscribe(self, on_invalidate: OnInvalidate, on_connected: OnGap) -> None:
        """Pass on what other processes invalidate; call `on_connected` once it receives all."""

    async def aclose(self) -> None:
        """Close what is open."""

    def after_fork(self) -> None:
        """In a forked child: let go of what belongs to the parent, without a word to its peers."""
