"""The mark of an FAQ that was unpublished. With it, no old response from a cache brings the FAQ back."""

import hashlib
from datetime import datetime, timedelta
from typing import Final

import msgspec

from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.models import FAQ

MIN_LIFETIME: Final = 3600.0
"""Seconds for which a cache in front of the service may have a record, even if the response states less."""


class Tombstone(msgspec.Struct, frozen=True):
    """When an FAQ was unpublished, and its last record."""

    at: datetime
    """When this host learned of it, by its own clock."""
    date: datetime | None = None
    """When the service said so, by the service's clock."""
    digest: str = ""
    """The digest of the last record."""

    def covers(self, response: Fetched, now: datetime) -> bool:
        """Return whether a response is from before the FAQ was unpublished.

        It is if it was made earlier, or if it has the last record while a cache may still have that record.
        """
        stated = response.cache_control
        if stated.age and now - timedelta(seconds=stated.age) < self.at:
            return True
        if self.date is not None and response.date is not None and response.date < self.date:
            return True
        lifetime = timedelta(seconds=max(stated.lifetime or 0.0, MIN_LIFETIME))
        return now < self.at + lifetime and digest_of(response.faq) == self.digest

    def to_json(self) -> str:
        """Return the document that a store keeps."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: bytes) -> "Tombstone | None":
        """Read the document of a store; return None if it is invalid, or if its time has no time zone."""
        try:
            found = msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeError):  # development versions wrote empty files
            return None
        return found if found.at.tzinfo is not None else None


def digest_of(faq: FAQ) -> str:
    """Return the digest of a record."""
    return hashlib.sha256(faq.to_json().encode()).hexdigest()
