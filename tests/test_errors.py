"""Errors say what happened, keep what helps, and can be raised again and again."""

import copy
import pickle
import time
import traceback

import pytest

import faqsvc_embed
from faqsvc_embed.errors import (
    BODY_KEPT,
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    PublishRejected,
    RateLimited,
    masked,
    quoted,
)

CASES = [
    FAQError("m", status=418, body="b", retry_after=1.5),
    ConfigurationError("m"),
    FAQNotFound("m", status=404),
    FAQUnavailable("m", status=503, retry_after=30.0),
    RateLimited("m", status=429, retry_after=7.0),
    InvalidFAQ("m", path="items[2].answer", status=200, body="<html>"),
    AuthenticationError("m", status=403),
    PublishRejected("m", problems=["item 1: no answer", "item 2: no question"], status=422),
]


def names(error: BaseException) -> str:
    return type(error).__name__


@pytest.mark.parametrize("error", CASES, ids=names)
def test_every_error_is_an_faq_error_that_the_package_exports(error: FAQError) -> None:
    assert isinstance(error, FAQError)
    assert getattr(faqsvc_embed, type(error).__name__) is type(error)
    assert type(error).__doc__


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(ConfigurationError, ValueError)
    assert issubclass(FAQNotFound, LookupError)
    assert issubclass(InvalidFAQ, ValueError)
    assert issubclass(RateLimited, FAQUnavailable)
    assert not issubclass(FAQNotFound, FAQUnavailable)  # an answer is no outage


def test_an_error_keeps_the_beginning_of_a_body_and_no_more() -> None:
    assert FAQUnavailable("m", body="x" * 10_000).body == "x" * BODY_KEPT
    assert FAQUnavailable("m").body == ""


@pytest.mark.parametrize("error", CASES, ids=names)
def test_a_fresh_error_equals_the_held_one_and_has_no_past(error: FAQError) -> None:
    def raised() -> FAQError:
        try:
            raise error from KeyError("a cause")
        except FAQError as caught:
            return caught

    fresh = raised().fresh()
    assert type(fresh) is type(error)
    assert str(fresh) == str(error)
    assert vars(fresh) == vars(error)
    assert fresh.__traceback__ is None
    assert fresh.__cause__ is None
    assert fresh.__context__ is None


def test_raising_fresh_errors_does_not_lengthen_the_held_ones_traceback() -> None:
    held = FAQUnavailable("down")
    for _ in range(50):
        with pytest.raises(FAQUnavailable) as caught:
            raise held.fresh()
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 1
    assert held.__traceback__ is None


@pytest.mark.parametrize("error", CASES, ids=names)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_errors_survive_pickling_and_copying(error: FAQError, protocol: int) -> None:
    for other in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))


def test_problems_are_a_tuple_that_nobody_changes_later() -> None:
    problems = ["item 1: no answer"]
    error = PublishRejected("m", problems=problems)
    problems.append("another")
    assert error.problems == ("item 1: no answer",)


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
def test_no_message_shows_a_password_or_a_key(text: str, expected: str) -> None:  # W1, D6
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
def test_what_is_no_password_stays(text: str) -> None:
    assert masked(text) == text


def test_masking_a_long_text_takes_no_time() -> None:  # D13
    for part in ("//a", "/", "a", "//a:", "//a:/", "//:1/", "fs_live_", "@", "//@"):
        for text in (part * (900_000 // len(part)), "//" + part * (900_000 // len(part)) + "@"):
            start = time.process_time()
            masked(text)
            assert time.process_time() - start < 0.2


def test_quoting_a_value_of_a_long_repr_takes_no_time() -> None:  # D13
    nested: object = "x"
    for _ in range(30):
        nested = [nested] * 9
    start = time.process_time()
    assert quoted(nested).startswith("[[[")
    assert quoted({"a": 1, "key": "fs_live_" + "x" * 1_000}) == "{'a': 1, 'key': 'fs_live_***'}"
    assert time.process_time() - start < 1
