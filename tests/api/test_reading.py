"""The REST contract: what is asked, and what every kind of reply means."""

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed import (
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    RateLimited,
)
from faqsvc_embed.api.reading import (
    LONGEST_LIFETIME,
    LONGEST_RETRY_AFTER,
    CachePolicy,
    Failed,
    Found,
    Missing,
    NotModified,
    Outcome,
    Reply,
    Validators,
    cache_policy,
    is_slug,
    not_a_slug,
    read_request,
    redirect_target,
    retry_after,
    understand,
)
from faqsvc_embed.languages import LANGUAGES
from tests.support import samples
from tests.support.clock import EPOCH as NOW
from tests.support.strategies import any_text, odd_values

BASE = "https://faq.example.com/sub"

header_values = st.one_of(
    any_text,
    st.text("max-ge=s0123456789,; \t\"'\\-", max_size=60),
    st.from_regex(r"(max-age|s-maxage|no-store|private|no-cache)(=\"?[0-9]{0,20}\"?)?(, ?)?", fullmatch=True),
)


def reply(status: int = 200, body: object = None, **headers: str) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def failure(outcome: Outcome) -> FAQError:
    assert isinstance(outcome, Failed)
    return outcome.error


# Slugs


@pytest.mark.parametrize(
    "slug",
    [
        "pricing",
        "a",
        "a b",
        "%2e%2e",
        "...",
        "..a",
        "a?b",
        "a#b",
        "요금",
        "é",
        "👩\u200d👩",
        "a\u200bb",
        "a;b",
        "a:b",
        "a@b",
        "<b>",
        "'\"",
        " ",
        "-",
        "~",
        "a+b",
        "a&b=c",
    ],
)
def test_almost_any_text_can_be_a_slug(slug: str) -> None:
    assert is_slug(slug)
    assert is_slug(slug * (200 // len(slug)))


@pytest.mark.parametrize(
    "slug",
    [
        "",
        "a" * 201,
        ".",
        "..",
        "a/b",
        "/",
        "a\\b",
        "a\nb",
        "a\r\nX: y",
        "a\x00",
        "a\x7f",
        "a\x85",
        "\ud800",
        "a\udfff",
    ],
)
def test_what_could_leave_its_segment_is_no_slug(slug: str) -> None:  # K16, K18
    assert not is_slug(slug)
    assert isinstance(not_a_slug(slug), FAQNotFound)


@pytest.mark.parametrize("slug", [None, 5, b"pricing", ["pricing"], {}, 1.5, object()])
def test_what_is_no_text_is_no_slug(slug: object) -> None:
    assert not is_slug(slug)


@given(any_text)
def test_the_error_for_a_bad_slug_is_one_short_line(slug: str) -> None:  # D6
    message = str(not_a_slug(slug * 50))
    assert message.isprintable()
    assert len(message) < 250


@given(any_text)
@example("..")
@example("%2e%2e")
@example("a?lang=ko#x")
@example("@evil.example")
@example("//evil.example/")
@example(":80")
def test_a_slug_is_one_segment_of_the_path_and_changes_nothing_else(slug: str) -> None:  # K18
    assert is_slug(slug) == (
        0 < len(slug) <= 200
        and slug not in (".", "..")
        and not any(c in "/\\" or unicodedata.category(c) in ("Cc", "Cs") for c in slug)
    )
    if not is_slug(slug):
        return
    request = read_request(BASE, slug, None)
    parts = urlsplit(request.url)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", "faq.example.com", "", "")
    prefix, _, segment = parts.path.rpartition("/")
    assert prefix == "/sub/api/v1/faq"
    assert unquote(segment) == slug
    assert segment not in (".", "..")
    assert request.url.isascii()
    assert request.url.isprintable()
    assert " " not in request.url


# Requests


def test_a_read_is_a_get_without_key_or_cookie() -> None:  # D5
    request = read_request(BASE, "pricing", None)
    assert request.method == "GET"
    assert request.url == f"{BASE}/api/v1/faq/pricing"
    assert set(request.headers) == {"accept", "accept-encoding"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_language_is_sent_as_a_parameter_of_the_query(lang: str) -> None:
    assert read_request(BASE, "p", lang).url == f"{BASE}/api/v1/faq/p?lang={lang}"


@pytest.mark.parametrize(
    ("held", "headers"),
    [
        (None, {}),
        (Validators(), {}),
        (Validators('"a"', None), {"if-none-match": '"a"'}),
        (Validators('W/"a"', "Sat, 21 Nov 2026 08:00:00 GMT"), {"if-none-match": 'W/"a"'}),
        (
            Validators(None, "Sat, 21 Nov 2026 08:00:00 GMT"),
            {"if-modified-since": "Sat, 21 Nov 2026 08:00:00 GMT"},
        ),
    ],
)
def test_a_request_is_conditional_where_a_validator_is_held(
    held: Validators | None, headers: dict[str, str]
) -> None:  # K5
    sent = read_request(BASE, "p", None, held).headers
    assert {name: value for name, value in sent.items() if name.startswith("if-")} == headers


# Redirects

HERE = "http://faq.example.com:8700/api/v1/faq/pricing"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/moved", "http://faq.example.com:8700/moved"),
        ("other", "http://faq.example.com:8700/api/v1/faq/other"),
        ("?lang=ko", f"{HERE}?lang=ko"),
        ("http://faq.example.com:8700/x", "http://faq.example.com:8700/x"),
        ("//faq.example.com:8700/x", "http://faq.example.com:8700/x"),
    ],
)
def test_a_redirect_on_the_origin_is_followed(location: str, target: str) -> None:  # D5
    assert redirect_target(HERE, location) == target


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("http://h/a", "http://h:80/b"),
        ("http://h:80/a", "http://h/b"),
        ("https://h/a", "https://h:443/b"),
        ("https://h/a", "https://H/b"),
    ],
)
def test_a_default_port_and_the_case_of_a_host_make_no_other_origin(url: str, location: str) -> None:
    assert redirect_target(url, location) == location


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "http://evil.example/",
        "//evil.example/",
        "http://faq.example.com/",  # another port
        "http://faq.example.com:8701/",
        "https://faq.example.com:8700/",
        "http://faq.example.com.evil.example:8700/",
        "http://evil.example\\@faq.example.com:8700/",
        "http://faq.example.com:8700\\@evil.example/",
        "http://faq.example.com:8700@evil.example/",
        "http://user@faq.example.com:8700/",
        "http://:@faq.example.com:8700/",
        "http://faq.example.com:x/",
        "http://faq.example.com:99999/",
        "http://[::1/",
        "http://[evil]/",
        "file:///etc/passwd",
        "file://faq.example.com:8700/etc/passwd",
        "ftp://faq.example.com:8700/",
        "javascript:alert(1)",
        "data:application/json,{}",
        "\t//evil.example/",
        "/\t/evil.example/",
        "ht\ntp://evil.example/",
        " http://evil.example/",
    ],
)
def test_a_redirect_off_the_origin_is_refused(location: str | None) -> None:  # K19, D5
    assert redirect_target(HERE, location) is None


@pytest.mark.parametrize("location", ["http://h/", "http://h:443/", "//h:80/"])
def test_a_redirect_from_https_to_http_is_refused(location: str) -> None:  # K19
    assert redirect_target("https://h/a", location) is None


@given(
    st.one_of(
        any_text, st.text("htps:/\\@.#?[]%evil \t\n012", max_size=40), st.text("/\\@:evil", max_size=12)
    )
)
def test_no_location_leads_off_the_origin_or_raises(location: str) -> None:  # K19
    target = redirect_target(HERE, location)
    if target is not None:
        parts = urlsplit(target)
        assert (parts.scheme, parts.hostname, parts.port) == ("http", "faq.example.com", 8700)
        assert parts.username is None


# Replies


def test_a_record_of_the_slug_asked_for_is_found_with_its_policy_and_validators() -> None:
    headers = {"cache_control": "max-age=60", "etag": '"x"', "last_modified": "yesterday"}
    outcome = understand(reply(200, samples.pricing(), **headers), "pricing", now=NOW)
    assert isinstance(outcome, Found)
    assert outcome.faq.to_dict() == samples.pricing()
    assert outcome.policy == CachePolicy(lifetime=60.0)
    assert outcome.validators == Validators('"x"', "yesterday")


@pytest.mark.parametrize("etag", ["", '"ä"', '"a\r\nX: y"', '"' + "a" * 1001 + '"', '"\x7f"'])
def test_a_validator_that_could_not_be_sent_back_is_not_kept(etag: str) -> None:
    outcome = understand(reply(200, samples.pricing(), etag=etag), "pricing", now=NOW)
    assert isinstance(outcome, Found)
    assert outcome.validators == Validators()


@pytest.mark.parametrize("other", ["another", "Pricing", "pricing ", "", "pri\u200bcing", "x" * 100_000])
def test_a_record_of_another_slug_is_a_failure(other: str) -> None:  # D3, K9
    error = failure(understand(reply(200, samples.record(other)), "pricing", now=NOW))
    assert isinstance(error, InvalidFAQ)
    assert error.path == "slug"
    assert "pricing" in str(error)
    assert len(str(error)) < 1_000


@pytest.mark.parametrize(
    "body", [b"", b"<!doctype html>", b"[]", b"null", b"{}", b"\xff", b"{" * 100_000, b"[" * 100_000]
)
def test_an_answer_that_is_no_record_is_a_failure_that_says_what_came(body: bytes) -> None:  # K9
    error = failure(understand(reply(200, body), "pricing", now=NOW))
    assert isinstance(error, InvalidFAQ)
    assert error.status == 200
    assert error.body == body[:500].decode("utf-8", "replace")
    assert "'pricing'" in str(error)


@pytest.mark.parametrize("status", [404, 410])
def test_not_found_and_gone_are_answers(status: int) -> None:  # K6
    outcome = understand(reply(status, b"nope"), "pricing", now=NOW)
    assert isinstance(outcome, Missing)
    assert isinstance(outcome.error, FAQNotFound)
    assert (outcome.error.status, outcome.error.body) == (status, "nope")


@pytest.mark.parametrize(
    "status", [100, 201, 202, 204, 206, 302, 304, 400, 401, 403, 405, 451, 500, 502, 503, 504, 599, 799]
)
def test_any_other_status_is_a_failed_refresh(status: int) -> None:  # K4, K7
    error = failure(understand(reply(status, samples.pricing()), "pricing", now=NOW))
    assert type(error) is FAQUnavailable
    assert error.status == status


def test_too_many_requests_is_a_failure_that_says_when_to_come_back() -> None:  # K8
    error = failure(understand(reply(429, b"", retry_after="7"), "pricing", now=NOW))
    assert isinstance(error, RateLimited)
    assert error.retry_after == 7.0
    assert failure(understand(reply(503, b"", retry_after="9"), "p", now=NOW)).retry_after == 9.0


def test_not_modified_counts_only_where_something_conditional_was_asked() -> None:  # K5
    not_modified = reply(304, b"", cache_control="max-age=5")
    assert understand(not_modified, "p", now=NOW, conditional=True) == NotModified(CachePolicy(5.0))
    bare = reply(304, b"", etag='"2"', age="7")
    assert understand(bare, "p", now=NOW, conditional=True) == NotModified(None, 7.0, Validators('"2"'))
    assert failure(understand(not_modified, "p", now=NOW)).status == 304


@given(
    st.integers(0, 999),
    st.one_of(st.binary(max_size=200), odd_values.map(json.dumps).map(str.encode)),
    st.dictionaries(
        st.sampled_from(["cache-control", "age", "expires", "date", "retry-after", "etag", "last-modified"]),
        header_values,
    ),
    st.booleans(),
)
def test_whatever_comes_has_a_meaning(
    status: int, body: bytes, headers: dict[str, str], conditional: bool
) -> None:  # D4
    outcome = understand(Reply(status, headers, body), "pricing", now=NOW, conditional=conditional)
    assert isinstance(outcome, Found | NotModified | Missing | Failed)


# Retry-After


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("86400", LONGEST_RETRY_AFTER),
        ("9" * 5_000, LONGEST_RETRY_AFTER),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        (format_datetime(NOW + timedelta(days=9), usegmt=True), LONGEST_RETRY_AFTER),
        ("Saturday, 21-Nov-26 08:01:00 GMT", 60.0),
        ("Sat Nov 21 08:01:00 2026", 60.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST_RETRY_AFTER),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("-5", None),
        ("1.5", None),
        ("1e3", None),
        ("٥", None),
        ("soon", None),
        ("Sat, 99 Nov 2026 08:01:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_at_most_an_hour(
    value: str | None, seconds: float | None
) -> None:  # K8
    assert retry_after(value, NOW) == seconds


# Lifetimes


@pytest.mark.parametrize(
    ("headers", "lifetime"),
    [
        ({}, None),
        ({"cache_control": ""}, None),
        ({"cache_control": "public"}, None),
        ({"cache_control": "public, max-age=3600"}, 3600.0),
        ({"cache_control": "max-age=3600", "age": "600"}, 3000.0),
        ({"cache_control": "max-age=60", "age": "600"}, 0.0),
        ({"cache_control": "max-age=60", "age": "-5"}, 60.0),
        ({"cache_control": "max-age=60", "age": "old"}, 60.0),
        ({"age": "600"}, None),
        ({"cache_control": "max-age=60, s-maxage=10"}, 10.0),
        ({"cache_control": "s-maxage=0, max-age=60"}, 0.0),
        ({"cache_control": "s-maxage=x, max-age=60"}, 60.0),
        ({"cache_control": "MAX-AGE=60"}, 60.0),
        ({"cache_control": " max-age = 60 "}, 60.0),
        ({"cache_control": 'max-age="60"'}, 60.0),
        ({"cache_control": "max-age=60, no-store"}, 0.0),
        ({"cache_control": "no-cache, max-age=60"}, 0.0),
        ({"cache_control": 'private="x, max-age=1", max-age=60'}, 60.0),
        ({"cache_control": 'ext="no-store", max-age=60'}, 60.0),
        ({"cache_control": "max-age=" + "9" * 4_000}, LONGEST_LIFETIME),
        ({"cache_control": "max-age=99999999999999999999"}, LONGEST_LIFETIME),
        ({"expires": format_datetime(NOW + timedelta(seconds=50), usegmt=True)}, 50.0),
        ({"expires": format_datetime(NOW - timedelta(seconds=50), usegmt=True)}, 0.0),
        ({"expires": "0"}, 0.0),
        ({"expires": "-1"}, 0.0),
        ({"expires": format_datetime(NOW + timedelta(days=9_999), usegmt=True)}, LONGEST_LIFETIME),
        (
            {
                "expires": format_datetime(NOW + timedelta(seconds=50), usegmt=True),
                "date": format_datetime(NOW + timedelta(seconds=20), usegmt=True),
            },
            30.0,
        ),
        (
            {"expires": format_datetime(NOW + timedelta(seconds=50), usegmt=True), "date": "broken"},
            50.0,
        ),
        (
            {
                "expires": format_datetime(NOW + timedelta(seconds=50), usegmt=True),
                "cache_control": "max-age=7",
            },
            7.0,
        ),
    ],
)
def test_a_reply_is_fresh_for_what_its_headers_say_less_its_age(
    headers: dict[str, str], lifetime: float | None
) -> None:  # K1, K2
    assert cache_policy(reply(200, None, **headers).headers, NOW).left == lifetime


def test_other_directives_are_read_too() -> None:  # K2, K4
    policy = cache_policy({"cache-control": "Private, NO-STORE,must-revalidate"}, NOW)
    assert (policy.private, policy.no_store, policy.must_revalidate) == (True, True, True)
    assert cache_policy({"cache-control": "public"}, NOW) == CachePolicy()


naive = NOW.replace(tzinfo=None)
wall_clocks = st.datetimes(naive.replace(year=1971), naive.replace(year=9998), timezones=st.just(UTC))
dates = st.one_of(
    header_values,
    wall_clocks.map(format_datetime),
    st.from_regex(
        r"(Mon, )?[0-9]{1,3} (Jan|Foo|[0-9]) [0-9]{1,6} [0-9:]{1,9}( [+-][0-9]{1,6}| GMT)?", fullmatch=True
    ),
)


@given(header_values, header_values, dates, dates, wall_clocks)
def test_no_cache_header_raises_and_every_lifetime_is_bounded(
    cache_control: str, age: str, expires: str, date: str, now: datetime
) -> None:
    headers = {"cache-control": cache_control, "age": age, "expires": expires, "date": date}
    lifetime = cache_policy(headers, now).lifetime
    assert lifetime is not None
    assert 0.0 <= lifetime <= LONGEST_LIFETIME


@given(dates, wall_clocks)
def test_no_retry_after_raises_and_every_wait_is_bounded(value: str, now: datetime) -> None:  # K8
    seconds = retry_after(value, now)
    assert seconds is None or 0.0 <= seconds <= LONGEST_RETRY_AFTER
