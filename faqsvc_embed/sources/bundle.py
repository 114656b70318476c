"""Records that are deployed with an application, for hosts that make no network request."""

import msgspec

from faqsvc_embed.cache.entries import Key, state_of
from faqsvc_embed.cache.memory import MemoryCache
from faqsvc_embed.cache.source import BaseSource, source_name
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.cache.stores import open_directory
from faqsvc_embed.cache.stores.directory import DirectoryStore
from faqsvc_embed.errors import FAQUnavailable, InvalidFAQ
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQState
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.settings import Settings


class Bundle(BaseSource):
    """The records of an offline embed."""

    is_local = True

    def __init__(self, settings: Settings) -> None:
        self.name: str = source_name(settings)
        self._directory = open_directory(settings)
        self._settings = settings
        self._log = LogOnce()

    def look_up(self, key: Key, cache: MemoryCache) -> FAQState:
        is_loaded, now = cache.get(key) is not None, cache.clock()
        if not is_loaded:
            stored = self._find(key)
            if stored is None:
                return FAQState(error=self._missing(key), lang_requested=key.lang)
            cache.adopt(key, stored)
        return state_of(cache.get(key), key, now, source="memory" if is_loaded else "store")

    def _find(self, key: Key) -> StoredFAQ | None:
        """Return the record in the requested language or, as the service would, in the FAQ's own.

        Without these, return a translation, which is stale.
        """
        for lang in dict.fromkeys((key.lang, None, self._settings.lang, *LANGUAGES)):
            try:
                stored = None if self._directory is None else self._directory.read(Key(key.slug, lang))
            except (OSError, InvalidFAQ) as error:
                self._log.warning(repr(key), "FAQ %r: its stored record is ignored: %s", key.slug, error)
                continue
            if stored is not None:
                return stored if lang in (key.lang, None) else msgspec.structs.replace(stored, fresh_for=0.0)
        return None

    def _missing(self, key: Key) -> FAQUnavailable:
        """Return the error for an FAQ that the bundle does not contain."""
        if self._directory is None:
            sources = "store='file:DIRECTORY', written by `faqsvc pull`, or directory='FOLDER' with FAQ files"
            return FAQUnavailable(f"FAQ {key.slug!r}: offline=True needs {sources}")
        names = {path.name for path in self._directory.directory.glob(f"{key.slug}.*.json")}
        others = sorted(
            names - {self._directory.path(Key(key.slug, lang)).name for lang in (None, *LANGUAGES)}
        )
        hint = f"; there is {others[0]}, of another source" if others else ""
        place = f"{self._settings.store} of {self.name}"
        return FAQUnavailable(f"FAQ {key.slug!r}: offline, and there is no record in {place}{hint}")


def bundle_text(store: DirectoryStore, key: Key, stored: StoredFAQ, base_url: str) -> str | None:
    """Return the text of a file for `offline=True`, or None if the file has the same record.

    Such a file is not written again, so that version control shows only changes of content.
    """
    try:
        present = store.read(key)
    except (OSError, InvalidFAQ):
        present = None
    return None if present is not None and present.faq == stored.faq else stored.to_json(base_url)
