"""Stores keep records after the process ends: a directory for one machine, Redis for several."""

from faqsvc_embed.cache.source import source_name
from faqsvc_embed.cache.stores.directory import DirectoryStore
from faqsvc_embed.cache.stores.resilient import ResilientStore
from faqsvc_embed.settings import Settings

__all__ = ["DirectoryStore", "ResilientStore", "open_directory", "open_store"]


def open_store(settings: Settings) -> ResilientStore | None:
    """Return the store that the settings name. Nothing is opened before its first use."""
    if settings.store is None:
        return None
    directory = open_directory(settings)
    if directory is not None:
        return ResilientStore(directory)
    from faqsvc_embed.cache.stores.redis import RedisStore

    return ResilientStore(
        RedisStore(settings.store, source_name(settings), settings.max_bytes, settings.store_secret)
    )


def open_directory(settings: Settings) -> DirectoryStore | None:
    """Return the store of the settings if it is a directory, else None."""
    if settings.store is None or not settings.store.startswith("file:"):
        return None
    path = settings.store.removeprefix("file:").removeprefix("//")
    return DirectoryStore(path, source_name(settings), settings.max_bytes)
