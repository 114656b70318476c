"""Blocking calls in worker threads."""

import threading

import anyio
import pytest

from faqsvc_embed.service.http import threads
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable


def test_a_call_that_does_not_end_in_time_fails_and_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CALL_TIMEOUT", 0.05)
    may_end = threading.Event()

    async def main() -> str:
        limiter = anyio.CapacityLimiter(1)
        with pytest.raises(StorageUnavailable):
            await run_blocking(may_end.wait, 10.0, limiter=limiter)
        return await run_blocking(str.upper, "done", limiter=limiter)

    assert anyio.run(main) == "DONE"
    may_end.set()
