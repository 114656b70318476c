"""What fetching needs of a store. Every call may raise whatever its means raise: see `guarded`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy


class Store(Protocol):
    """Keeps copies beyond the process. Its calls run on the background loop of `fetching`."""

    is_shared: bool
    """Whether other machines read it, so that no `private` answer may be kept in it (RFC 9111, 5.2.2.7)."""

    def prepare(self) -> None:
        """Import what is slow to import; called before each use, and not counted in its time."""

    async def load(self, key: Key) -> Copy | None:
        """Return a copy, or None; raise InvalidFAQ for one that cannot be trusted."""

    async def save(self, key: Key, copy: Copy) -> None:
        """Keep a copy in the place of the one before, whole or not at all."""

    async def drop(self, key: Key) -> None:
        """Remove one copy."""

    async def forget(self, slug: str | None) -> None:
        """Remove the copies of `slug`, or of all FAQs, and tell the other processes."""

    def lease(self, key: Key, patience: float) -> AbstractAsyncContextManager[None]:
        """Be the only one to refresh `key`; after `patience` seconds, or the holder's death, go without."""

    async def watch(self, forget: Callable[[str | None], None], missed: Callable[[], None]) -> None:
        """Tell what other processes forget; call `missed` as soon as nothing goes unheard any more."""

    async def aclose(self) -> None:
        """Close what is open."""

    def forked(self) -> None:
        """In a forked child: let go of what is the parent's, without a word to anybody."""
