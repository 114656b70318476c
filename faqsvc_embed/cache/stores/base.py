"""The interface of a store. Any call may raise; `resilient` handles exceptions."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ

OnInvalidate = Callable[[str | None], None]
OnGap = Callable[[], None]


class Store(Protocol):
    """Keeps records after the process ends. Its methods run on the background loop."""

    is_shared: bool
    """Whether other machines read it, so that no `private` response may be stored (RFC 9111, 5.2.2.7)."""

    def prepare(self) -> None:
        """Do the imports and other slow work of the first call, outside the time limit of calls."""

    async def load(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None; raise InvalidFAQ for one that cannot be trusted."""

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record, as a whole or not at all."""

    async def delete(self, key: Key) -> None:
        """Remove one record."""

    async def invalidate(self, slug: str | None, at: datetime) -> None:
        """Remove the records of `slug` in all languages, or all records, and tell the other processes.

        Records that were confirmed before `at` are neither kept nor returned from then on: a slow process
        may still save one.
        """

    async def bury(self, slug: str, tombstone: str) -> None:
        """Store the document of a tombstone, which says that the FAQ was unpublished."""

    async def tombstone(self, slug: str) -> bytes | None:
        """Return the document of the tombstone of `slug`, if there is one."""

    async def subscribe(self, on_invalidate: OnInvalidate, on_connected: OnGap) -> None:
        """Receive the invalidations of other processes; call `on_connected` once it is connected."""

    def after_fork(self) -> None:
        """Drop the resources of the parent in a forked child, without sending anything on its connections."""
