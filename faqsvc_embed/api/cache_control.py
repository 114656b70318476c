"""How long a response may be reused: Cache-Control, Expires, Age and Retry-After (RFC 9111, RFC 9110)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

MAX_RETRY_AFTER: Final = 3600.0
"""Seconds."""
MAX_LIFETIME: Final = 31_536_000.0
"""Seconds."""
MAX_HEADER: Final = 4096
"""Characters of a Cache-Control header that are read."""

_LIST_MEMBER: Final = r'(?:[^,"]|"[^"]*"?)+'  # a comma within quotes does not separate directives


class CacheControl(msgspec.Struct, frozen=True):
    """The freshness of a response in seconds (RFC 9111, 4.2); `lifetime` is None if it states none."""

    lifetime: float | None = None
    """Counted from when the service made the response."""
    age: float = 0.0
    """Seconds since the service made the response."""
    no_store: bool = False
    private: bool = False

    @property
    def fresh_for(self) -> float | None:
        """Seconds for which the response stays fresh from now on, or None if it states no lifetime."""
        return None if self.lifetime is None else max(0.0, self.lifetime - self.age)


NO_CACHE_CONTROL: Final = CacheControl()


def parse_cache_control(headers: Mapping[str, str], now: datetime) -> CacheControl:
    """Return what Cache-Control, Expires and Age state; `now` is used for an Expires without a Date."""
    directives = _directives(headers.get("cache-control", ""))
    lifetime = None
    stated = [directives[name] for name in ("s-maxage", "max-age") if name in directives]
    if stated:
        readable = (seconds for value in stated if (seconds := _seconds(value)) is not None)
        lifetime = next(readable, 0.0)  # a value that is no number counts as stale (RFC 9111, 4.2.1)
    if lifetime is None and (expires := headers.get("expires")) is not None:
        lifetime = _expires_in(expires, headers.get("date"), now)
    if "no-cache" in directives or "no-store" in directives:
        lifetime = 0.0
    return CacheControl(
        lifetime=lifetime,
        age=_seconds(headers.get("age")) or 0.0,
        no_store="no-store" in directives,
        private="private" in directives,
    )


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, at most an hour; None without one (RFC 9110, 10.2.3)."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return min(float(value), MAX_RETRY_AFTER)
    date = parse_date(value)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), MAX_RETRY_AFTER)


def _directives(header: str) -> dict[str, str]:
    """Return the directives of a Cache-Control header by name; of a repeated one, the first counts."""
    directives = dict[str, str]()
    for member in re.findall(_LIST_MEMBER, header[:MAX_HEADER]):
        name, _, value = member.partition("=")
        directives.setdefault(name.strip().lower(), value.strip().strip('"'))
    return directives


def _seconds(value: str | None) -> float | None:
    value = (value or "").strip()
    return min(float(value), MAX_LIFETIME) if value.isascii() and value.isdecimal() else None


def _expires_in(expires: str, date: str | None, now: datetime) -> float:
    """Return the lifetime of an Expires header; an invalid date, such as `0`, is in the past (5.3)."""
    end = parse_date(expires)
    if end is None:
        return 0.0
    start = parse_date(date) or now
    return min(max((end - start).total_seconds(), 0.0), MAX_LIFETIME)


def parse_date(value: str | None) -> datetime | None:
    """Return a date in a header (RFC 9110, 5.6.7), or None."""
    if value is None:
        return None
    try:
        date = parsedate_to_datetime(value[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
