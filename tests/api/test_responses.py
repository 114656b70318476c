"""What every kind of response means, and how long it may be reused (RFC 9110, RFC 9111)."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, FAQError, FAQNotFound, FAQUnavailable, InvalidFAQ, RateLimited
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators, read_request
from faqsvc_embed.api.responses import (
    MAX_LIFETIME,
    MAX_RETRY_AFTER,
    CacheControl,
    Failed,
    Fetched,
    Gone,
    NotFound,
    Outcome,
    Response,
    parse_cache_control,
    parse_response,
    parse_retry_after,
)
from tests.support import samples
from tests.support.clock import EPOCH as NOW
from tests.support.strategies import any_text, odd_values

CACHED = Fetched(
    FAQ.from_dict(samples.pricing()), CacheControl(60.0, 50.0, no_store=True, private=True), Validators('"1"')
)
JSON = {"content-type": "application/json"}
PROBLEM = {"content-type": "application/problem+json; charset=utf-8"}


def meaning(
    status: int,
    body: object = None,
    headers: dict[str, str] | None = None,
    *,
    cached: Fetched | None = None,
    is_complete: bool = True,
) -> Outcome:
    """Return what a response to a request for `pricing` means."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = read_request(
        "https://faq.example.com", "pricing", None, cached.validators if cached else NO_VALIDATORS
    )
    response = Response(status, headers or {}, content, is_complete)
    return parse_response(response, request, "pricing", NOW, cached)


def failure(outcome: Outcome) -> FAQError:
    assert isinstance(outcome, Failed)
    return outcome.error


# 200


def test_a_record_comes_with_its_lifetime_and_its_validators() -> None:
    headers = {"cache-control": "max-age=60", "etag": '"x"', "last-modified": "yesterday"}
    outcome = meaning(200, samples.pricing(), headers)
    assert isinstance(outcome, Fetched)
    assert outcome.faq.to_dict() == samples.pricing()
    assert (outcome.cache_control.fresh_for, outcome.validators) == (60.0, Validators('"x"', "yesterday"))


@pytest.mark.parametrize("cta", [None, {}, {"label": "Ask us", "href": "/ask"}])
def test_unknown_fields_and_any_call_to_action_are_accepted(cta: object) -> None:
    outcome = meaning(200, {**samples.pricing(), "cta": cta, "extra": {"deep": [1]}})
    assert isinstance(outcome, Fetched)
    assert outcome.faq.cta == cta


@pytest.mark.parametrize("etag", ["", '"ä"', '"a\r\nX: y"', '"' + "a" * 1001 + '"', '"\x7f"'])
def test_a_validator_that_could_not_be_sent_back_is_dropped(etag: str) -> None:
    outcome = meaning(200, samples.pricing(), {"etag": etag})
    assert isinstance(outcome, Fetched)
    assert not outcome.validators


@pytest.mark.parametrize("other", ["another", "Pricing", "pricing ", "", "pri\u200bcing", "x" * 100_000])
def test_a_record_of_another_slug_is_a_failure(other: str) -> None:
    outcome = meaning(200, samples.record(other))
    error = failure(outcome)
    assert isinstance(error, InvalidFAQ)
    assert error.path == "slug"
    assert len(str(error)) < 1_000
    assert isinstance(outcome, Failed)


def test_what_is_not_json_is_named_by_its_address_its_type_and_its_encoding() -> None:
    headers = {"content-type": "text/html", "content-encoding": "br"}
    message = str(failure(meaning(200, b"<!doctype html><title>Sign in</title>", headers)))
    for part in ("https://faq.example.com/api/v1/faq/pricing", "'text/html'", "'br'"):
        assert part in message


@pytest.mark.parametrize("body", [b"", b"<!doctype html>", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000])
def test_a_200_that_is_not_a_record_is_a_failure_that_keeps_its_body(body: bytes) -> None:
    error = failure(meaning(200, body))
    assert isinstance(error, InvalidFAQ)
    assert (error.status, error.body) == (200, body[:500].decode("utf-8", "replace"))


# 304


def test_not_modified_is_the_cached_record_with_the_headers_that_changed() -> None:  # RFC 9111, 4.3.4
    headers = {"cache-control": "max-age=5", "age": "2"}
    assert meaning(304, b"", headers, cached=CACHED) == Fetched(
        CACHED.faq, CacheControl(5.0, 2.0), Validators('"1"')
    )
    headers = {"last-modified": "today", "age": "7"}
    cache_control = CacheControl(60.0, 7.0, no_store=True, private=True)
    assert meaning(304, b"", headers, cached=CACHED) == Fetched(
        CACHED.faq, cache_control, Validators('"1"', "today")
    )


@pytest.mark.parametrize("etag", ['"1"', 'W/"1"', ""])
def test_not_modified_confirms_the_requested_record(etag: str) -> None:  # RFC 9111, 4.3.4
    assert isinstance(meaning(304, b"", {"etag": etag}, cached=CACHED), Fetched)


def test_not_modified_of_another_record_is_a_failure() -> None:  # RFC 9111, 4.3.4; K24
    outcome = meaning(304, b"", {"etag": '"2"'}, cached=CACHED)
    assert isinstance(outcome, Failed)


def test_not_modified_without_a_condition_is_a_failure() -> None:
    assert failure(meaning(304, b"", {"cache-control": "max-age=5"})).status == 304


# Other statuses


@pytest.mark.parametrize("headers", [JSON, PROBLEM])
def test_a_404_in_json_says_that_there_is_no_such_faq(headers: dict[str, str]) -> None:
    outcome = meaning(404, {"status": 404}, headers)
    assert isinstance(outcome, NotFound)
    assert isinstance(outcome.error, FAQNotFound)
    assert (outcome.error.status, outcome.error.body) == (404, '{"status": 404}')


@pytest.mark.parametrize(
    ("body", "headers", "is_complete"),
    [
        (b"404 page not found\n", {"content-type": "text/plain; charset=utf-8"}, True),
        (b"<!doctype html>", {"content-type": "text/html"}, True),
        (b"{}", {}, True),
        (b"{}", {"content-type": "text/html"}, True),
        (b"default backend - 404", JSON, True),
        (b"", JSON, True),
        (b"[" * 100_000, JSON, True),
        (b'{"status"', JSON, False),
        (gzip.compress(b"{}", mtime=0), JSON, True),
    ],
)
def test_any_other_404_is_a_failed_refresh(
    body: bytes, headers: dict[str, str], is_complete: bool
) -> None:  # a proxy says so while the service restarts
    error = failure(meaning(404, body, headers, is_complete=is_complete))
    assert isinstance(error, FAQUnavailable)
    assert error.status == 404


def test_a_410_is_final_whatever_its_body_is() -> None:
    for body, is_complete in ((b"", True), (b"<html>", True), (b"{}", True), (b"<ht", False)):
        outcome = meaning(410, body, is_complete=is_complete)
        assert isinstance(outcome, Gone)
        assert isinstance(outcome.error, FAQNotFound)
        assert outcome.error.status == 410


@pytest.mark.parametrize(
    "status", [100, 201, 204, 206, 302, 304, 400, 401, 403, 405, 451, 500, 502, 503, 504, 599, 799]
)
def test_any_other_status_is_a_failed_refresh(status: int) -> None:
    error = failure(meaning(status, samples.pricing(), JSON))
    assert type(error) is FAQUnavailable
    assert error.status == status


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (503, FAQUnavailable)])
def test_a_failure_says_when_to_try_again(status: int, kind: type[FAQError]) -> None:
    error = failure(meaning(status, b"", {"retry-after": "7"}))
    assert type(error) is kind
    assert error.retry_after == 7.0


@given(
    st.integers(0, 999),
    st.one_of(st.binary(max_size=200), odd_values.map(json.dumps).map(str.encode)),
    st.dictionaries(
        st.sampled_from(
            [
                "cache-control",
                "age",
                "expires",
                "date",
                "retry-after",
                "etag",
                "last-modified",
                "content-type",
            ]
        ),
        any_text | st.sampled_from(["application/json", "max-age=60", '"1"']),
    ),
    st.sampled_from([None, CACHED]),
    st.booleans(),
)
def test_every_response_has_a_meaning(
    status: int, body: bytes, headers: dict[str, str], cached: Fetched | None, is_complete: bool
) -> None:
    outcome = meaning(status, body, headers, cached=cached, is_complete=is_complete)
    assert isinstance(outcome, Fetched | NotFound | Gone | Failed)


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
