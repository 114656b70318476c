"""A change that the feed has announced, until a response contains it."""

from typing import Final

import msgspec

from faqsvc_embed.api.event_stream import Change
from faqsvc_embed.models import FAQ

AWAITED_FOR: Final = 60.0
"""Seconds after which a response without an announced change is believed, because a feed may be wrong."""


class Announcement(msgspec.Struct, frozen=True):
    """A change of the FAQ of one cache entry. Until it arrives, requests bypass stores and HTTP caches."""

    change: Change
    at: float
    """When the first change that has not arrived was announced."""
    before: FAQ | None
    """The record that was cached then."""

    @property
    def is_published(self) -> bool:
        """Whether there is a new record."""
        return self.change.state == "published"

    def is_awaited(self, now: float) -> bool:
        """Return whether responses without the change are not believed yet."""
        return self.change.state is not None and now < self.at + AWAITED_FOR

    def is_missing_in(self, faq: FAQ, revision: int | None, now: float) -> bool:
        """Return whether a response with this record is older than the change."""
        change = self.change
        if not self.is_awaited(now):
            return False
        # Revisions of two translations cannot be compared.
        is_comparable = change.state == "published" and change.lang in (None, faq.lang)
        if is_comparable and revision is not None and change.revision is not None:
            return revision < change.revision
        return faq == self.before
