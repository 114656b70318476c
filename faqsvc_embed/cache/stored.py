"""The values in a store: the record of an FAQ, and when it was forgotten or unpublished."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.api.responses import NO_CACHE_CONTROL, CacheControl, Fetched
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


class Mark(msgspec.Struct, frozen=True):
    """When an FAQ was forgotten or unpublished, so that no older response or stored record is shown again."""

    at: datetime
    """By the clock of the machine that marked it."""
    date: datetime | None = None
    """When it was unpublished, by the clock of the service."""
    digest: str = ""
    """The digest of its last record if it was unpublished, else empty."""

    @property
    def is_gone(self) -> bool:
        """Whether it was unpublished, and no later record has been seen."""
        return bool(self.digest)

    def rejects(self, response: Fetched, now: datetime) -> bool:
        """Return whether a response is from before the FAQ was unpublished.

        It is if it was made earlier, or if it has the last record while a cache may still have that record.
        """
        if not self.is_gone:
            return False
        stated = response.cache_control
        if stated.age and now - timedelta(seconds=stated.age) < self.at:
            return True
        if self.date is not None and response.date is not None and response.date < self.date:
            return True
        lifetime = timedelta(seconds=max(stated.lifetime or 0.0, MIN_STORED_FOR))
        return now < self.at + lifetime and digest_of(response.faq.to_json()) == self.digest

    def hides(self, stored: StoredFAQ) -> bool:
        """Return whether a stored record is too old.

        If the clocks of two machines differ, a record may be fetched again needlessly.
        """
        return stored.updated_at <= self.at


def read_mark(value: bytes) -> Mark:
    """Read a mark from a store. An invalid one, or one without a time zone, hides every record."""
    try:
        mark = _marks.decode(value)
    except (msgspec.DecodeError, UnicodeError):
        return UNREADABLE
    return mark if mark.at.tzinfo is not None else UNREADABLE


UNREADABLE: Final = Mark(datetime.max.replace(tzinfo=UTC))  # later than every record
_marks: Final = msgspec.json.Decoder(Mark)  # at import, as in `wire`
