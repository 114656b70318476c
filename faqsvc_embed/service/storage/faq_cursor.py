"""The cursor of a list of FAQs, the last changed first. FAQs that change during the reading are not missed.

An FAQ that changes between two pages moves to the beginning of the list. So the FAQs that were changed since
the first page follow after the last page; an FAQ may therefore appear twice.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from sqlalchemy import and_, or_

from faqsvc_embed.service.storage.schema import faqs
from faqsvc_embed.service.storage.values import storable

CURSOR: Final = r"^[0-9]{1,16}(-[0-9]{1,16}){2}\.([A-Za-z0-9._~-]|%[0-9A-F]{2})+$"
"""Three times in microseconds since 1970, and a slug."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidCursor(ValueError):
    """A cursor was not returned by a list."""


class FAQCursor(NamedTuple):
    """The place after an FAQ in a list, which has the FAQs that were changed from `floor` to `began`."""

    updated_at: datetime = _EPOCH
    """When the FAQ before the place was changed; 1970 for the beginning of the list."""
    slug: str = "-"
    began: datetime = _EPOCH
    """When the first FAQ of the list was changed; 1970 before the first page."""
    floor: datetime = _EPOCH

    @classmethod
    def decode(cls, cursor: str | None) -> "FAQCursor":
        """Read a cursor; None is the beginning. Raises InvalidCursor."""
        if cursor is None:
            return cls()
        if re.fullmatch(CURSOR, cursor) is None:
            raise InvalidCursor
        times, _, slug = cursor.partition(".")
        updated_at, began, floor = (_EPOCH + timedelta(microseconds=int(time)) for time in times.split("-"))
        return cls(updated_at, storable(unquote(slug)), began, floor)

    def encode(self) -> str:
        """Return the text of the cursor."""
        times = (self.updated_at, self.began, self.floor)
        texts = (str((time - _EPOCH) // timedelta(microseconds=1)) for time in times)
        return f"{'-'.join(texts)}.{quote(self.slug, safe='')}"

    def conditions(self) -> list[Any]:
        """Return the conditions of the FAQs after this place."""
        conditions: list[Any] = []
        if self.floor != _EPOCH:
            conditions.append(faqs.c.updated_at > self.floor)
        if self.updated_at != _EPOCH:
            is_same = and_(faqs.c.updated_at == self.updated_at, faqs.c.slug < self.slug)
            conditions.append(faqs.c.updated_at <= self.updated_at)
            conditions.append(or_(faqs.c.updated_at < self.updated_at, is_same))
        return conditions

    def on_first_page(self, newest: datetime | None) -> "FAQCursor":
        """Return the cursor with the time of the first FAQ of its list."""
        return self._replace(began=newest or self.floor) if self.began == _EPOCH else self

    def behind(self, updated_at: datetime, slug: str) -> "FAQCursor":
        """Return the place after an FAQ of the same list."""
        return self._replace(updated_at=updated_at, slug=slug)

    def again(self) -> "FAQCursor":
        """Return the beginning of the list of FAQs that were changed since this list began."""
        return FAQCursor(floor=self.began)
