"""The interface between the cache and a source. `faqsvc_embed.sources` has the sources of the package.

A source declares its abilities by attributes, so that nothing asks which source it is.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from faqsvc_embed.api.responses import Failed, FAQChange, Fetched, Outcome
from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.cache.report import Health
from faqsvc_embed.errors import FAQError
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.settings import Settings


class Read(NamedTuple):
    """One read of an FAQ from a source."""

    key: Key
    cached: Fetched | None
    """The cached response, if it has validators."""
    wall_clock: Callable[[], datetime]
    overdue: Callable[[Failed], None]
    """Give the callers an error now. What `fetch` returns later is still used."""
    skips_caches: bool = False
    """Whether a cache in front of the source may have an older record."""


Refresh = Callable[[FAQChange], None]
"""A method that fetches the cached entries of a slug, which may have changed."""


class Feed(Protocol):
    """Announces the changes of cached FAQs."""

    @property
    def is_connected(self) -> bool:
        """Whether changes arrive."""

    def follow(self, slug: str, *, is_missing: bool = False, may_be_old: bool = False) -> None:
        """Follow the changes of a slug; refresh its record now if it may be old."""


class Files(Protocol):
    """The files of a host, which are shown before the first fetch of an FAQ."""

    def reload(self) -> None:
        """Read the files that have changed."""

    def seed(self, key: Key, *, is_forgotten: bool) -> FAQ | FAQError | None:
        """Return the record that is shown before the first fetch of an FAQ, or the error in its file.

        `is_forgotten` says that the host has recently forgotten the FAQ.
        """

    def note(self, entry: Entry) -> None:
        """Remember the result of a fetch."""


class BaseSource:
    """A source of FAQs. A source without special abilities implements only `fetch`."""

    name: str = ""
    """Identifies the source in stores, which several sources may share."""
    is_local: bool = False
    """Whether `look_up` returns a record at once, on the thread of the page. Then `fetch` is never called."""
    files: Files | None = None
    """Files of the host, which may be edited. They are shown before the first fetch of an FAQ."""
    follows_changes: bool = False
    """Whether `feed` announces changes."""
    has_drafts: bool = False
    """Whether `fetch` returns drafts for keys with a token."""

    async def fetch(self, read: Read) -> Outcome:
        """Return an FAQ, or why there is none, on the background loop and within the setting `timeout`."""
        raise NotImplementedError

    def look_up(self, key: Key) -> FAQState:
        """Return the state of an FAQ that has no fresh record in the cache."""
        raise NotImplementedError

    def health(self) -> list[Health] | None:
        """Return the state of each file; None if the cache knows the state of each FAQ."""
        return None

    def feed(self, cached_slugs: Callable[[], list[str]], refresh: Refresh) -> Feed:
        """Return a feed of the cached slugs; `cached_slugs` lists the most important first."""
        raise NotImplementedError


def source_name(settings: Settings) -> str:
    """Return the name of the source in the settings. Stores keep the records of a source under its name."""
    source = settings.source
    if source is None:
        return settings.base_url
    return str(getattr(source, "name", None) or f"{type(source).__module__}.{type(source).__qualname__}")
