"""A directory of copies that is all there is: shipped with a deploy, read where the network is not asked."""

import logging

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.cache.stores import open_directory
from faqsvc_embed.errors import FAQUnavailable, InvalidFAQ
from faqsvc_embed.settings import Settings

logger = logging.getLogger("faqsvc_embed")


class Bundle:
    """The copies that an offline embed has."""

    def __init__(self, settings: Settings) -> None:
        self._directory = open_directory(settings)
        self._settings = settings
        self._refused = set[Key]()
        """The copies that cannot be used, and of which that was said."""

    def lacks(self, key: Key) -> FAQUnavailable:
        """Return the error for an FAQ of which there is no copy."""
        store, service = self._settings.store, self._settings.base_url
        where = (
            f"in {store} of {service}" if self._directory is not None else 'without store="file:DIRECTORY"'
        )
        return FAQUnavailable(f"offline, and no copy of {key.slug!r} is held {where}")

    def find(self, key: Key) -> Copy | None:
        """Return the copy in a language or, as the service would, in the FAQ's own; None if there is none."""
        for lang in dict.fromkeys((key.lang, None)):
            try:
                copy = None if self._directory is None else self._directory.read(Key(key.slug, lang))
            except (OSError, InvalidFAQ) as error:
                if key not in self._refused:
                    self._refused.add(key)
                    logger.warning("FAQ %r: its stored copy is not used: %s", key.slug, error)
                continue
            if copy is not None:
                return copy
        return None
