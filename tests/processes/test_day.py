"""A short day of load: whatever is killed, nothing acknowledged is lost, and no page lacks an FAQ."""

import pytest

from tests.benchmarks.day import day

pytestmark = pytest.mark.system


def test_killing_any_process_loses_nothing_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_PUSH", "true")
    report = day(phase=1, count=50)
    assert (report.lost, report.torn, report.missing, report.missed) == ([], 0, 0, 0), report
    assert (report.old_hosts, report.idle) == ([], []), report
