"""The number of log lines is bounded, however often a problem occurs."""

import logging

import pytest

from faqsvc_embed.runtime.bounded_log import MAX_REMEMBERED, LogOnce, LogThrottle
from tests.support.clock import Clock
from tests.support.embeds import warnings_of


def test_the_same_mistake_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    log = LogOnce()
    for key in ("a", "a", "b", "a"):
        log.warning(key, "%s is wrong", key)
    assert warnings_of(caplog) == ["a is wrong", "b is wrong"]


def test_an_error_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    log, error = LogOnce(), KeyError("x")
    for _ in range(2):
        log.error("key", "failed", error=error)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[1] is error


def test_a_flood_of_mistakes_neither_grows_without_end_nor_blinds_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = LogOnce()
    firsts = [log.is_first(str(number)) for number in range(MAX_REMEMBERED + 1)]
    assert all(firsts)
    assert not log.is_first("1")
    assert not log.is_first(str(MAX_REMEMBERED))
    assert log.is_first("0")  # the oldest was forgotten
    log.warning("new", "a new mistake")
    assert warnings_of(caplog) == ["a new mistake"]


def test_many_messages_in_a_period_become_one_line_with_their_number(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log = LogThrottle(60, clock.now)
    for number in range(100):
        log.warning("slug %d", number)
        clock.advance(0.5)
    assert warnings_of(caplog) == ["slug 0"]
    clock.advance(10)
    log.warning("slug %d", 100)
    (line,) = warnings_of(caplog)
    assert "slug 100" in line
    assert "99" in line
    clock.advance(60)
    log.warning("slug %d", 101)
    assert warnings_of(caplog) == ["slug 101"]


def test_the_first_messages_after_a_quiet_time_are_all_logged(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log = LogThrottle(60, clock.now, burst=3)
    for number in range(10):
        log.warning("slug %d", number)
    assert warnings_of(caplog) == ["slug 0", "slug 1", "slug 2"]
    clock.advance(60)
    for number in range(10, 12):
        log.warning("slug %d", number)
    (line,) = warnings_of(caplog)
    assert "slug 10" in line
    assert "7" in line
    clock.advance(600)
    for number in range(20, 30):
        log.warning("slug %d", number)
    assert len(warnings_of(caplog)) == 3
