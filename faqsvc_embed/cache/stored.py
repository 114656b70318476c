"""What a store keeps of an FAQ: its record, or when it was unpublished."""

import hashlib
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from faqsvc_embed.api.cache_control import NO_CACHE_CONTROL, CacheControl
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.models import FAQ

MIN_STORED_FOR: Final = 3600.0
"""Seconds for which a cache in front of the service may have a record, even if the response states less."""


class StoredFAQ(NamedTuple):
    """The part of an entry that outlives the process, in a store."""

    faq: FAQ
    updated_at: datetime
    """When the source last confirmed the record, in UTC, by the clock of the machine that fetched it."""
    fresh_for: float
    """Seconds after `updated_at` during which the record is fresh."""
    validators: Validators = NO_VALIDATORS
    cache_control: CacheControl = NO_CACHE_CONTROL


class Tombstone(msgspec.Struct, frozen=True):
    """When an FAQ was unpublished, and its last record: no old response from a cache brings it back."""

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
        lifetime = timedelta(seconds=max(stated.lifetime or 0.0, MIN_STORED_FOR))
        return now < self.at + lifetime and digest_of(response.faq) == self.digest

    @classmethod
    def from_json(cls, value: bytes) -> "Tombstone | None":
        """Read the value of a store; return None if it is invalid, or if its time has no time zone."""
        try:
            found = _tombstones.decode(value)
        except (msgspec.DecodeError, UnicodeError):
            return None
        return found if found.at.tzinfo is not None else None


_tombstones: Final = msgspec.json.Decoder(Tombstone)  # at import, as in `wire`


def digest_of(faq: FAQ) -> str:
    """Return the digest of a record."""
    return hashlib.sha256(faq.to_json().encode()).hexdigest()
