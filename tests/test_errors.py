"""Errors say what happened, keep what helps, and can be raised again and again."""

import copy
import pickle
import traceback

import pytest

from faqsvc_embed.errors import (
    MAX_BODY,
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQNotFound,
    FAQTimeout,
    FAQUnavailable,
    InvalidFAQ,
    OutcomeUnknown,
    PublishRejected,
    RateLimited,
    masked,
    quoted,
)
from tests.support.growth import grows_linearly

CASES = [
    FAQError("m", status=418, body="b", retry_after=1.5),
    ConfigurationError("m"),
    FAQNotFound("m", status=404),
    FAQUnavailable("m", status=503, retry_after=30.0),
    FAQTimeout("m"),
    OutcomeUnknown("m", status=502),
    RateLimited("m", status=429, retry_after=7.0),
    InvalidFAQ("m", path="items[2].answer", status=200, body="<html>"),
    AuthenticationError("m", status=403),
    PublishRejected("m", problems=["item 1: no answer", "item 2: no question"], status=422),
]


def names(error: BaseException) -> str:
    return type(error).__name__


def test_errors_belong_to_the_families_of_python_and_of_one_another() -> None:
    assert issubclass(ConfigurationError, ValueError)
    assert issubclass(FAQNotFound, LookupError)
    assert issubclass(InvalidFAQ, ValueError)
    assert issubclass(PublishRejected, ValueError)
    assert all(issubclass(kind, FAQUnavailable) for kind in (RateLimited, FAQTimeout, OutcomeUnknown))
    assert not issubclass(FAQNotFound, FAQUnavailable)  # a 404 is a response


def test_an_error_keeps_the_beginning_of_a_body() -> None:
    assert FAQUnavailable("m", body="x" * 10_000).body == "x" * MAX_BODY
    assert FAQUnavailable("m").body == ""


def raised(error: FAQError) -> FAQError:
    try:
        raise error from KeyError("a cause")
    except FAQError as caught:
        return caught


@pytest.mark.parametrize("error", CASES, ids=names)
def test_a_copy_without_traceback_has_everything_else(error: FAQError) -> None:
    copied = raised(error).without_traceback()
    assert type(copied) is type(error)
    assert (str(copied), vars(copied)) == (str(error), vars(error))
    assert (copied.__traceback__, copied.__cause__, copied.__context__) == (None, None, None)


def test_a_cached_error_that_is_raised_often_does_not_grow() -> None:
    cached = FAQUnavailable("down")
    for _ in range(50):
        with pytest.raises(FAQUnavailable) as caught:
            raise cached.without_traceback()
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 1
    assert cached.__traceback__ is None


@pytest.mark.parametrize("error", CASES, ids=names)
def test_errors_can_be_pickled_and_copied(error: FAQError) -> None:
    pickled = [pickle.dumps(error, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in (*map(pickle.loads, pickled), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))


def test_the_problems_of_an_error_do_not_change_later() -> None:
    problems = ["item 1: no answer"]
    error = PublishRejected("m", problems=problems)
    problems.append("another")
    assert error.problems == ("item 1: no answer",)


class Raising:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x" * 200, f"'{'x' * 79}…"),
        (10**5000, "a value of type int"),
        (Raising(), "a value of type Raising"),
        ("a\nb\x1b", r"'a\nb\x1b'"),
        (None, "None"),
    ],
    ids=["long", "huge", "raising", "controls", "None"],
)
def test_a_quoted_value_is_short_and_on_one_line(value: object, expected: str) -> None:
    assert quoted(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://us:s3cret@faq.example.com/a@b", "https://***@faq.example.com/a@b"),
        ("to //s3cret@host and redis://:s3cret@host:1/0", "to //***@host and redis://***@host:1/0"),
        ("https://us:s3cr@et@host", "https://***@host"),
        ("https://host/with spaces user@host", "https://host/with spaces user@host"),
        ("https://[us:s3cret@host", "https://***@host"),
        ("redis://:s3/cr?e#t@host:1/0", "redis://***@host:1/0"),
        ("redis://us:s3/cr@et@host and //us:#s3cret@host", "redis://***@host and //***@host"),
        ("redis://:123/s3cret@host", "redis://***@host"),
        ("https://us:s3cret@host/a//s3cret@host", "https://***@host/a//***@host"),
        ("https://host:8700/a,https://us:s3cret@host,b", "https://host:8700/a,https://***@host,b"),
        ("the key fs_live_a-B_9 of old", "the key fs_live_*** of old"),
        ("fs_live_a+B/9== or fs_live_abc...xyz.", "fs_live_*** or fs_live_***."),
        ('{"key": "fs_live_abc"} more', '{"key": "fs_live_***"} more'),
        ("?key=fs_live_abc&b=fs_live_", "?key=fs_live_***&b=fs_live_***"),
    ],
)
def test_no_message_shows_a_password_or_a_key(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert quoted(text) == repr(expected)


@pytest.mark.parametrize(
    "text",
    [
        "https://host?mail=a@b.example",
        "https://host#@x",
        "https://host/@bob/1@2",
        "https://host/a:b@c",
        "https://host:8700/@bob",
        "https://host:8700?mail=a@b.example",
        "https://[::1]:8700/a@b",
        "git@host://x",
        "see //cdn.example/x: or mail me@host",
    ],
)
def test_other_text_is_not_masked(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("part", ["//a", "/", "a", "//a:", "//a:/", "//:1/", "fs_live_", "@", "//@"])
@pytest.mark.parametrize("text", ["{}", "//{}@"])
def test_masking_a_text_costs_no_more_than_its_length(part: str, text: str) -> None:
    assert grows_linearly(masked, lambda count: text.format(part * count), 2_000)


def test_a_value_with_an_endless_repr_is_quoted() -> None:
    nested: object = "x"
    for _ in range(30):
        nested = [nested] * 9
    assert quoted(nested).startswith("[[[")
    assert quoted({"a": 1, "key": "fs_live_" + "x" * 1_000}) == "{'a': 1, 'key': 'fs_live_***'}"
