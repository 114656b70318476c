"""Pages of lists. Each page has a cursor, after which the next one begins, whatever was written meanwhile.

A cursor that no list returned raises `InvalidCursor`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ScalarSelect, select

from faqsvc_embed.service.storage.errors import InvalidCursor
from faqsvc_embed.service.storage.values import storable

T = TypeVar("T")


def number_after(cursor: str | None) -> int | None:
    """Return the number in the cursor of a list that is ordered by numbers. Raises InvalidCursor."""
    if cursor is not None and re.fullmatch("[0-9]{1,16}", cursor) is None:
        raise InvalidCursor
    return None if cursor is None else int(cursor)


def place_of(cursor: str, *order: Column[Any]) -> ScalarSelect[Any]:
    """Return the values of some columns in the row with an id, which is the cursor; NULL if there is none."""
    row = order[0].table.alias()
    columns = (row.c[column.name] for column in order)
    return select(*columns).where(row.c.id == storable(cursor)).scalar_subquery()


def paged(found: Sequence[T], limit: int, cursor: Callable[[T], object]) -> tuple[list[T], str | None]:
    """Return the first `limit` rows, and the cursor after them; None if there are no others."""
    page = list(found[:limit])
    return page, str(cursor(page[-1])) if len(found) > len(page) else None
