"""Worker threads for blocking calls, the outages of the database that these calls find, and open files."""

import logging
import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread

from faqsvc_embed.service.storage import StorageUnavailable

QUIET: Final = 2.0
"""Seconds without a failure after which a success ends an outage. A busy database fails now and then."""
PERIOD: Final = 60.0
"""Seconds between two lines about the same outage."""

logger: Final = logging.getLogger("faqsvc_embed.service")


class OutageLog:
    """Logs the outages of one dependency, which is called `name` in the log."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._since: float | None = None
        """When the present outage began; None if there is none."""
        self._last = self._next_line = 0.0
        self._failures = 0  # in this outage
        self.report: Callable[[bool], object] = lambda is_working: None
        """Gets whether the dependency works, after each call."""

    def failed(self, error: Exception) -> None:
        """Record a failure, and log it if it is the first of an outage or a minute has passed."""
        self.report(False)
        with self._lock:
            self._last = now = self._clock()
            if self._since is None:
                self._since, self._failures, self._next_line = now, 0, now
            self._failures += 1
            if now < self._next_line:
                return
            self._next_line = now + PERIOD
            seconds, count = now - self._since, self._failures
        if count == 1:
            logger.error("%s does not respond: %s", self._name, error)
        else:
            logger.error(
                "%s has not responded for %.0f s, %d calls have failed: %s", self._name, seconds, count, error
            )

    def succeeded(self) -> None:
        """Record a success, which ends an outage."""
        if self._since is None:  # checked without the lock: nearly always, there is no outage
            self.report(True)
            return
        with self._lock:
            now = self._clock()
            if self._since is None or now - self._last < QUIET:
                return
            seconds, count = now - self._since, self._failures
            self._since = None
        self.report(True)
        logger.warning("%s responds again after %.0f s, %d calls had failed", self._name, seconds, count)


database_outages: Final = OutageLog("the database")
"""The outages of the database for reads, as this process sees them."""
write_outages: Final = OutageLog("the database, for writes,")
"""The outages for writes: only writes fail if the disk is full, or while another program has the lock."""
editor_outages: Final = OutageLog("the database, for editors,")
"""The outages for lists and searches of editors: only these fail if they take too long."""


WRITER_THREADS: Final = 4
"""Maximum number of threads that write at once, so that readers always find a free one."""
CALL_TIMEOUT: Final = 10.0
"""Maximum seconds of a call, including its wait for a thread; the time-outs of databases are shorter."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def run_blocking(
    function: Callable[[*Ts], T],
    *args: *Ts,
    limiter: anyio.CapacityLimiter | None = None,
    outages: OutageLog | None = None,
) -> T:
    """Call a function in a worker thread and return its result.

    `limiter` bounds the threads of calls that write, and of editors; other reads use the one that anyio
    shares between all calls. `outages` gets the failures, by default that of writes or of reads.

    Raises:
        StorageUnavailable: the call did not end in time; its thread continues in the background.
    """
    outages = outages or (database_outages if limiter is None else write_outages)
    try:
        with anyio.move_on_after(CALL_TIMEOUT):
            result = await anyio.to_thread.run_sync(function, *args, limiter=limiter, abandon_on_cancel=True)
            outages.succeeded()
            return result
        raise StorageUnavailable(f"a call did not end within {CALL_TIMEOUT:g} s")
    except StorageUnavailable as error:
        outages.failed(error)
        raise


MAX_OPEN_FILES: Final = 8192
"""The maximum, even if the system allows more."""


def open_file_limit() -> int:
    """Return how many files this process may have open, at most `MAX_OPEN_FILES`."""
    if sys.platform == "win32":  # Windows has no such limit
        return MAX_OPEN_FILES
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_OPEN_FILES if limit == resource.RLIM_INFINITY else min(limit, MAX_OPEN_FILES)
