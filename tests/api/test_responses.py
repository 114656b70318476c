"""What every kind of response means."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQError, FAQNotFound, FAQUnavailable, InvalidFAQ, RateLimited
from faqsvc_embed.api.cache_control import CacheControl
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators, read_request
from faqsvc_embed.api.responses import (
    Failed,
    Fetched,
    Gone,
    NotFound,
    NotModified,
    Outcome,
    Response,
    parse_response,
)
from tests.support import samples
from tests.support.clock import EPOCH as NOW
from tests.support.strategies import any_text, odd_values

JSON = {"content-type": "application/json"}
PROBLEM = {"content-type": "application/problem+json; charset=utf-8"}


def meaning(
    status: int,
    body: object = None,
    headers: dict[str, str] | None = None,
    *,
    validators: Validators = NO_VALIDATORS,
    is_complete: bool = True,
) -> Outcome:
    """Return what a response to a request for `pricing` means."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = read_request("https://faq.example.com", "pricing", None, validators)
    return parse_response(Response(status, headers or {}, content, is_complete), request, "pricing", NOW)


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
    assert outcome.is_misdirected


@pytest.mark.parametrize("body", [b"", b"<!doctype html>", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000])
def test_a_200_that_is_not_a_record_is_a_failure_that_keeps_its_body(body: bytes) -> None:
    error = failure(meaning(200, body))
    assert isinstance(error, InvalidFAQ)
    assert (error.status, error.body) == (200, body[:500].decode("utf-8", "replace"))


# 304


def test_not_modified_has_the_headers_that_changed() -> None:
    validators = Validators('"1"')
    headers = {"cache-control": "max-age=5", "age": "2"}
    assert meaning(304, b"", headers, validators=validators) == NotModified(CacheControl(5.0, 2.0), 2.0)
    headers = {"last-modified": "today", "age": "7"}
    assert meaning(304, b"", headers, validators=validators) == NotModified(
        None, 7.0, Validators(None, "today")
    )


@pytest.mark.parametrize("etag", ['"1"', 'W/"1"', ""])
def test_not_modified_confirms_the_requested_record(etag: str) -> None:  # RFC 9111, 4.3.4
    assert isinstance(meaning(304, b"", {"etag": etag}, validators=Validators('"1"')), NotModified)


def test_not_modified_of_another_record_is_a_failure() -> None:  # RFC 9111, 4.3.4; K24
    outcome = meaning(304, b"", {"etag": '"2"'}, validators=Validators('"1"'))
    assert isinstance(outcome, Failed)
    assert outcome.is_misdirected


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
    st.sampled_from([NO_VALIDATORS, Validators('"1"')]),
    st.booleans(),
)
def test_every_response_has_a_meaning(
    status: int, body: bytes, headers: dict[str, str], validators: Validators, is_complete: bool
) -> None:
    outcome = meaning(status, body, headers, validators=validators, is_complete=is_complete)
    assert isinstance(outcome, Fetched | NotModified | NotFound | Gone | Failed)
