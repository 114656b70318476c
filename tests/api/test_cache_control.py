"""How long a response may be reused (RFC 9111), and Retry-After (RFC 9110)."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.api.cache_control import (
    MAX_LIFETIME,
    MAX_RETRY_AFTER,
    parse_cache_control,
    parse_retry_after,
)
from tests.support.clock import EPOCH as NOW
from tests.support.strategies import any_text


def date(seconds: float) -> str:
    """Return the HTTP date so many seconds from now."""
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "fresh_for"),
    [
        ({}, None),
        ({"cache-control": "public"}, None),
        ({"age": "600"}, None),
        ({"cache-control": "public, max-age=3600"}, 3600.0),
        ({"cache-control": "max-age=3600", "age": "600"}, 3000.0),
        ({"cache-control": "max-age=60", "age": "600"}, 0.0),
        ({"cache-control": "max-age=60", "age": "-5"}, 60.0),
        ({"cache-control": "max-age=60, s-maxage=10"}, 10.0),
        ({"cache-control": "s-maxage=600, max-age=60"}, 600.0),
        ({"cache-control": "s-maxage=0, max-age=60"}, 0.0),
        ({"cache-control": "s-maxage=x, max-age=60"}, 60.0),
        ({"cache-control": "max-age=x"}, 0.0),
        ({"cache-control": ' MAX-AGE = "60" '}, 60.0),
        ({"cache-control": "max-age=60, max-age=7"}, 60.0),
        ({"cache-control": "max-age=60, no-store"}, 0.0),
        ({"cache-control": "no-cache, max-age=60"}, 0.0),
        ({"cache-control": 'private="x, max-age=1", max-age=60'}, 60.0),
        ({"cache-control": 'ext="no-store", max-age=60'}, 60.0),
        ({"cache-control": "max-age=" + "9" * 4_000}, MAX_LIFETIME),
        ({"expires": date(50)}, 50.0),
        ({"expires": date(-50)}, 0.0),
        ({"expires": "0"}, 0.0),
        ({"expires": date(86_400 * 9_999)}, MAX_LIFETIME),
        ({"expires": date(50), "date": date(20)}, 30.0),
        ({"expires": date(50), "date": "broken"}, 50.0),
        ({"expires": date(50), "cache-control": "max-age=7"}, 7.0),
    ],
)
def test_a_response_is_fresh_for_its_lifetime_less_its_age(
    headers: dict[str, str], fresh_for: float | None
) -> None:
    assert parse_cache_control(headers, NOW).fresh_for == fresh_for


def test_private_and_no_store_are_read() -> None:
    cache_control = parse_cache_control({"cache-control": "Private, NO-STORE,must-revalidate"}, NOW)
    assert (cache_control.private, cache_control.no_store) == (True, True)
    cache_control = parse_cache_control({"cache-control": "public"}, NOW)
    assert (cache_control.private, cache_control.no_store) == (False, False)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("86400", MAX_RETRY_AFTER),
        ("9" * 5_000, MAX_RETRY_AFTER),
        (date(90), 90.0),
        (date(-777_600), 0.0),
        (date(777_600), MAX_RETRY_AFTER),
        ("Saturday, 21-Nov-26 08:01:00 GMT", 60.0),
        ("Sat Nov 21 08:01:00 2026", 60.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", MAX_RETRY_AFTER),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("-5", None),
        ("1.5", None),
        ("٥", None),
        ("soon", None),
        ("Sat, 99 Nov 2026 08:01:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_at_most_an_hour(
    value: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(value, NOW) == seconds


directives = st.sampled_from(["max-age", "s-maxage", "no-store", "private", "no-cache", "=", '"', ",", " "])
header_values = any_text | st.lists(directives | st.integers().map(str), max_size=9).map("".join)
naive = NOW.replace(tzinfo=None)
wall_clocks = st.datetimes(naive.replace(year=1971), naive.replace(year=9998), timezones=st.just(UTC))
words = st.sampled_from(
    ["Mon,", "99", "1", "Jan", "Foo", "9999", "0001", "23:59:59", "25:61", "GMT", "-2359"]
)
dates = any_text | wall_clocks.map(format_datetime) | st.lists(words, max_size=6).map(" ".join)


@given(header_values, any_text, dates, dates, wall_clocks)
def test_no_header_raises_and_every_lifetime_is_bounded(
    cache_control: str, age: str, expires: str, date: str, now: datetime
) -> None:
    headers = {"cache-control": cache_control, "age": age, "expires": expires, "date": date}
    parsed = parse_cache_control(headers, now)
    assert parsed.lifetime is not None
    assert 0.0 <= parsed.lifetime <= MAX_LIFETIME
    assert 0.0 <= parsed.age <= MAX_LIFETIME


@given(dates, wall_clocks)
def test_no_retry_after_raises_and_every_wait_is_bounded(value: str, now: datetime) -> None:
    seconds = parse_retry_after(value, now)
    assert seconds is None or 0.0 <= seconds <= MAX_RETRY_AFTER
