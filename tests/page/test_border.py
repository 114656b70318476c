"""An exception of the package ends at the border, and is logged while it is news."""

import asyncio
import logging

import pytest

from faqsvc_embed.page.border import MAX_LINES, aguarded, guarded
from faqsvc_embed.runtime.threads import at_once


def fail(error: BaseException | None = None) -> str:
    if error is not None:
        raise error
    return "well"


async def afail(error: BaseException | None = None) -> str:
    await asyncio.sleep(0)
    return fail(error)


async def afail_at_once(error: BaseException | None = None) -> str:
    return fail(error)


def errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    found = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert all(record.exc_info for record in found), "without a traceback"
    return found


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, RecursionError])
def test_a_guarded_call_returns_its_result_or_what_the_page_has_otherwise(kind: type[Exception]) -> None:
    assert guarded(fail, None, otherwise="page") == "well"
    assert guarded(fail, kind(), otherwise="page") == "page"
    assert asyncio.run(aguarded(afail, None, otherwise="page")) == "well"
    assert asyncio.run(aguarded(afail, kind(), otherwise="page")) == "page"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_ends_a_process_or_a_task_passes(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        guarded(fail, kind(), otherwise="page")
    with pytest.raises(kind):
        asyncio.run(aguarded(afail, kind(), otherwise="page"))


def test_a_failure_is_logged_once_until_the_call_has_succeeded(caplog: pytest.LogCaptureFixture) -> None:
    def fail_here() -> None:
        guarded(fail, ValueError("flaky"), otherwise=None, about="pricing")

    for _ in range(20):
        fail_here()
    assert len(errors(caplog)) == 1
    guarded(fail, None, otherwise=None, about="another")
    fail_here()
    assert len(errors(caplog)) == 1
    guarded(fail, None, otherwise=None, about="pricing")
    fail_here()
    assert len(errors(caplog)) == 2


def test_a_failure_is_the_same_before_and_after_python_specialises_the_code(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After some runs, Python replaces instructions, so the traceback has another position."""

    def run(error: BaseException | None) -> None:
        at_once(afail_at_once(error))

    for _ in range(50):
        guarded(run, ValueError("flaky"), otherwise=None)
    assert len(errors(caplog)) == 1


def test_each_kind_and_each_place_of_a_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        guarded(fail, KeyError("a kind"), otherwise=None)
        guarded(fail, IndexError("a kind"), otherwise=None)
        guarded(lambda: fail(IndexError("from another line")), otherwise=None)
    assert len(errors(caplog)) == 3


def test_a_failure_that_comes_and_goes_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(10 * MAX_LINES):
        guarded(fail, OSError("comes and goes"), otherwise=None)
        guarded(fail, None, otherwise=None)
    assert len(errors(caplog)) == MAX_LINES


def test_a_log_that_fails_breaks_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: logging.LogRecord) -> bool:
        raise RuntimeError("the host's filter")

    monkeypatch.setattr(logging.getLogger("faqsvc_embed"), "filters", [refuse])
    assert guarded(fail, TypeError("a log that fails"), otherwise="page") == "page"


def test_a_page_can_show_what_went_wrong_and_what_shows_it_is_guarded_too() -> None:
    assert guarded(fail, ValueError("shown"), otherwise="", on_error=str) == "shown"

    def show(error: Exception) -> str:
        raise error

    assert guarded(fail, ValueError("not shown"), otherwise="page", on_error=show) == "page"
