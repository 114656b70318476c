"""Pages of lists. Each page has a cursor, after which the next one begins, whatever was written meanwhile."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from faqsvc_embed.errors import FAQError

T = TypeVar("T")


class InvalidCursor(FAQError):
    """A cursor was not returned by a list."""

    def __init__(self) -> None:
        super().__init__("after is not a cursor that a list returned")


def number_after(cursor: str | None) -> int | None:
    """Return the number in the cursor of a list that is ordered by numbers. Raises InvalidCursor."""
    if cursor is not None and re.fullmatch("[0-9]{1,16}", cursor) is None:
        raise InvalidCursor
    return None if cursor is None else int(cursor)


def cursor_of(*parts: str) -> str:
    """Return a cursor that has some texts; only the last one may have spaces."""
    return urlsafe_b64encode(" ".join(parts).encode()).decode()


def parts_of(cursor: str, count: int) -> list[str]:
    """Return the texts in a cursor. Raises InvalidCursor."""
    try:
        parts = urlsafe_b64decode(cursor.encode()).decode().split(" ", count - 1)
    except ValueError:
        raise InvalidCursor from None
    if len(parts) != count:
        raise InvalidCursor
    return parts


def time_of(text: str) -> datetime:
    """Return the time in a part of a cursor. Raises InvalidCursor."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidCursor from None


def paged(found: Sequence[T], limit: int, cursor: Callable[[T], object]) -> tuple[list[T], str | None]:
    """Return the first `limit` rows, and the cursor after them; None if there are no others."""
    page = list(found[:limit])
    return page, str(cursor(page[-1])) if len(found) > len(page) else None
